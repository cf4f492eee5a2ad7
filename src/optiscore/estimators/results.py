"""Fitted attributes are results: arrays that cannot be written to, set by fit and by methods that return a copy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..documented import Documented
from ..numerics.arrays import to_host_always


# scikit-learn has no types: its classes are Any to the type checker.
class Results(Documented, BaseEstimator):  # type: ignore[misc]
    """An estimator with results. Subclasses say what computes with them; it is made of them whenever they are new."""

    def _build(self) -> Any:
        """Return what computes with the results: it is kept as `_model` and in no file."""
        return None

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a parameter; results are refused."""
        if name.endswith("_") and name in self.__dict__:
            raise AttributeError(
                f"{name} is a result of fit and cannot be set: fit again, or take a copy where a method makes one."
            )
        super().__setattr__(name, value)

    @contextmanager
    def _learning(self) -> Iterator[None]:
        """Forget the results within; after an error, or an interruption, they are what they were."""
        before = dict(self.__dict__)
        for name in [name for name in before if name.endswith("_") or name in ("_model", "_sums")]:
            del self.__dict__[name]
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _keep(self, **results: Any) -> Self:
        """Take over results, all at once."""
        if "feature_names_in_" in self.__dict__:
            freeze(self.feature_names_in_)
        self.__dict__.update({name: value if name == "_model" else frozen(value) for name, value in results.items()})
        if "_model" not in results:
            self.__dict__["_model"] = self._build()
        return self

    def _copy_with(self, **results: Any) -> Self:
        """Return a fitted copy with other results."""
        copied = object.__new__(type(self))
        # What a stream sums knows nothing of the other results: the copy does not go on with it.
        copied.__dict__.update({name: value for name, value in self.__dict__.items() if name != "_sums"})
        return copied._keep(**results)

    def __getstate__(self) -> dict[str, Any]:
        """Return parameters and results as NumPy's arrays; after partial_fit also the sums."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_model", None)
        return {name: to_host_always(value) if name.endswith("_") else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a state, whose arrays become read-only."""
        self.__dict__.pop("_model", None)
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            kept = [name for name in self.__dict__ if name.endswith("_") or name == "_model"]
            self._keep(**{name: self.__dict__[name] for name in kept})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    def _check_fitted(self) -> None:
        check_is_fitted(self)


def frozen(value: Any) -> Any:
    """Return a result whose arrays cannot be written to: copies, unless they are such already, or parts of objects."""
    if isinstance(value, dict):
        return {name: frozen(part) for name, part in value.items()}
    if not isinstance(value, np.ndarray):
        freeze(value)
        return value
    if not (value.flags.writeable or value.base is not None):
        return value
    copied = value.copy()
    copied.flags.writeable = False
    return copied


def freeze(value: Any) -> None:
    """Make arrays unwriteable wherever they are in records, lists and the package's own objects."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, (tuple, list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            freeze(part)
    elif type(value).__module__.startswith("optiscore.") and not isinstance(value, BaseEstimator):
        freeze(getattr(value, "__dict__", {}))

"""Public attributes that are the truth: what predicts is derived from them, and anew when one of them is replaced."""

from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..numerics.arrays import read_only, to_host_always
from .documented import Documented


# scikit-learn has no types: its classes are Any to the type checker.
class PublicState(Documented, BaseEstimator):  # type: ignore[misc]
    """An estimator whose fitted attributes can be replaced, but not changed in place.

    Subclasses name the attributes that predictions depend on, those that are read-only besides, and the function that
    makes a model of the former.
    """

    _attributes: ClassVar[tuple[str, ...]]
    _other_arrays: ClassVar[tuple[str, ...]] = ()

    def _derive(self, *values: Any) -> Any:
        """The model of the attributes' values on the host; what cannot be is refused by name."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        """Parameters and public attributes as NumPy's arrays; after partial_fit also the sums."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_derived", None)
        return {name: to_host_always(value) if name.endswith("_") else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays are read-only again."""
        super().__setstate__(state)
        self._freeze()

    def _drop_fitted(self) -> None:
        """Let go of everything that was learned: a fit that fails leaves nothing that is half the old model."""
        learned = {*self._attributes, *self._other_arrays, "_sums", "_derived"} - {"n_features_in_"}
        for name in learned & vars(self).keys():
            del self.__dict__[name]

    @property
    def _model(self) -> Any:
        """The model behind the public attributes."""
        state = tuple(vars(self).get(name) for name in self._attributes)
        known = vars(self).get("_derived")
        if known is None or any(new is not old for new, old in zip(state, known[0], strict=True)):
            model = self._derive(*map(to_host_always, state))
            known = self._derived = self._freeze(), model
        return known[1]

    def _freeze(self) -> tuple[Any, ...]:
        """Make the arrays read-only, so that a change of one of them is noticed or raises; those of the model."""
        for name in (*self._attributes, *self._other_arrays):
            if name in vars(self):
                self.__dict__[name] = read_only(self.__dict__[name])
        return tuple(vars(self).get(name) for name in self._attributes)

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _stored(self, name: str) -> Any:
        """An attribute that a property of the same name guards."""
        if name not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return vars(self)[name]

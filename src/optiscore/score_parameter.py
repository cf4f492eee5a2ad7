"""A constructor parameter called ``score`` beside scikit-learn's method of that name."""

from collections.abc import Callable
from types import MethodType
from typing import Any

from sklearn.base import ClassifierMixin


class ScoreAttribute:
    """One attribute for both: what is written is the parameter, what is read is the method."""

    def __init__(self, method: Callable[..., float]) -> None:
        self._method = method

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._method if instance is None else MethodType(self._method, instance)

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)["score"] = value


class ScoreParameter:
    """Mixin, to stand before `ClassifierMixin` and `BaseEstimator`: ``get_params()["score"]`` is the kind of score."""

    score = ScoreAttribute(ClassifierMixin.score)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator, by name."""
        # The next class in line is BaseEstimator, which a mixin cannot tell the type checker.
        return super().get_params(deep) | {"score": vars(self)["score"]}  # type: ignore[misc]

"""Dates as numbers: days, months and weekdays."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

_DAY = 86_400.0


# scikit-learn has no types: its classes are Any to the type checker.
class DateParts(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer from seconds since 1970 to days since then, month and weekday."""

    def fit(self, X: Any, y: Any = None) -> "DateParts":
        """Learn nothing."""
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the parts of each column, one kind after the other."""
        seconds = np.asarray(X, dtype=np.float64)
        days = np.floor(seconds / _DAY)
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12 + 1
        return np.concatenate([seconds / _DAY, months, (days + 3) % 7], axis=1).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the parts."""
        return np.array(
            [f"{name} {part}" for part in ("days", "month", "weekday") for name in input_features], dtype=object
        )

    def __sklearn_is_fitted__(self) -> bool:
        return True

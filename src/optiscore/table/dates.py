"""Columns of dates: recognised and read as seconds since 1970, encoded as days, months and weekdays."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import BaseEstimator, TransformerMixin

_DAY = 86_400.0


def seconds(column: pa.ChunkedArray) -> np.ndarray | None:
    """Seconds since 1970 of dates and times, as 2020-01-31, 2020/01/31 or 31.01.2020; None if some cell is none."""
    if pa.types.is_string(column.type):
        column = pc.replace_substring_regex(column, r"^(\d{4})/(\d{2})/(\d{2})", r"\1-\2-\3")
        column = pc.replace_substring_regex(column, r"^(\d{2})\.(\d{2})\.(\d{4})", r"\3-\2-\1")
    for kind in (pa.timestamp("us"), pa.date32()):
        try:
            stamps = column.cast(kind, safe=False).cast(pa.timestamp("us"))
        # Values that are no dates, or a type that is never one.
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        return stamps.cast(pa.int64()).to_pandas().to_numpy(dtype=np.float64) / 1e6
    return None


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

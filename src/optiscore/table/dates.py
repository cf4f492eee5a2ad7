"""Dates as numbers, for pipelines that are kept in model files."""

from typing import Any

import numpy as np

_DAY = 86_400.0


def expand_dates(seconds: Any) -> np.ndarray:
    """Days since 1970, month and weekday of seconds since 1970."""
    days = np.floor(np.asarray(seconds, dtype=np.float64) / _DAY)
    months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12 + 1
    weekdays = (days + 3) % 7
    return np.concatenate([np.asarray(seconds) / _DAY, months, weekdays], axis=1).astype(np.float64)


def name_dates(_: Any, names: Any) -> list[str]:
    """Names of what `expand_dates` returns."""
    return [f"{name} {part}" for part in ("days", "month", "weekday") for name in names]

"""Probabilities: normalised from logarithms, and checked where users give them."""

from typing import Any

import numpy as np

from ..numerics.arrays import Array, namespace_of
from ..numerics.types import FloatArray


def normalise(columns: Array) -> Array:
    """Subtract the logarithm of the sum of exponentials, per sample."""
    xp = namespace_of(columns)
    shifted = columns - xp.max(columns, axis=0)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=0))


def check_probability(value: Any, name: str) -> FloatArray:
    """Probabilities strictly between 0 and 1."""
    try:
        probability = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number strictly between 0 and 1, got {value!r}.") from None
    if not ((probability > 0) & (probability < 1)).all():
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")
    return probability

"""Probabilities: normalised from logarithms, and checked where users give them."""

from typing import Any

import numpy as np

from ..numerics.types import FloatArray

# Logarithms of probabilities closer than this are equal but for rounding.
_ROUNDING = {np.float64: 1e-9, np.float32: 1e-5}


def normalise(columns: FloatArray) -> FloatArray:
    """Subtract the logarithm of the sum of exponentials, per sample: columns are of shape (n_classes, n_samples)."""
    shifted = columns - columns.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))


def most_probable(log_proba: FloatArray) -> np.ndarray:
    """Return the index of the largest log probability of each column; of ties, but for rounding, the first."""
    ties = log_proba >= log_proba.max(axis=0) - _ROUNDING[log_proba.dtype.type]
    return ties.argmax(axis=0)


def other_classes(decided: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the classes other than that of each sample, in order; of shape (n_classes - 1, n_samples)."""
    places = np.arange(n_classes - 1)[:, None]
    return places + (places >= decided)


def check_probability(value: Any, name: str) -> FloatArray:
    """Return probabilities strictly between 0 and 1."""
    try:
        probability = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number strictly between 0 and 1, got {value!r}.") from None
    if not ((probability > 0) & (probability < 1)).all():
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.")
    return probability


def check_level(value: Any, name: str) -> float:
    """Return one probability strictly between 0 and 1."""
    probability = check_probability(value, name)
    if probability.ndim:
        raise ValueError(f"{name} must be one number strictly between 0 and 1, got {value!r}.")
    return float(probability)

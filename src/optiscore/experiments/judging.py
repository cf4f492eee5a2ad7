"""How good a fitted classifier is on test rows, in numbers that a cell can hold: accuracy, abstention, log loss."""

from typing import Any

import numpy as np

from ..metrics import area_under_risk_coverage, mean_log_loss
from ..numerics.types import FloatArray

# A probability of 0 for the truth would make all others irrelevant.
_SMALLEST = 1e-6


def judge(model: Any, X: FloatArray, y: np.ndarray) -> dict[str, float]:
    """Accuracy, area under risk-coverage by the largest probability, and log loss."""
    right = model.predict(X) == y
    proba = model.predict_proba(X)
    return {
        "accuracy": float(right.mean()),
        "area": area_under_risk_coverage(right, proba.max(axis=1)),
        "log loss": mean_log_loss(np.maximum(proba.T, _SMALLEST), np.searchsorted(model.classes_, y)),
    }

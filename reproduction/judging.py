"""How good a fitted classifier is on test rows, in numbers that a cell can hold, and their means over splits."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from optiscore.metrics import area_under_risk_coverage, mean_log_loss
from optiscore.numerics.types import FloatArray

#: What each method has on each split of a data set.
Splits: TypeAlias = Mapping[tuple[str, str], Sequence[Mapping[str, float]]]

# A probability of 0 for the truth would make all others irrelevant.
_SMALLEST = 1e-6


def judge(model: Any, X: FloatArray, y: np.ndarray) -> dict[str, float]:
    """Accuracy, area under risk-coverage by the largest probability, and log loss."""
    right = model.predict(X) == y
    proba = model.predict_proba(X)
    return {
        "accuracy": float(right.mean()),
        "area": area_under_risk_coverage(right, proba.max(axis=1)),
        "log loss": mean_log_loss(np.maximum(proba, _SMALLEST), np.searchsorted(model.classes_, y)),
    }


def complete_sets(
    found: Iterable[tuple[str, str, Mapping[str, float]]], methods: Sequence[str]
) -> tuple[list[str], Splits]:
    """Data sets on which every method has results, and all results by data set and method."""
    splits: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for name, method, values in found:
        splits.setdefault((name, method), []).append(values)
    names = dict.fromkeys(name for name, _ in splits)
    return [name for name in names if all((name, method) in splits for method in methods)], splits


def mean_over_splits(splits: Splits, names: Sequence[str], methods: Sequence[str], measure: str) -> FloatArray:
    """Means of shape (n_datasets, n_methods)."""
    return np.array(
        [[np.mean([each[measure] for each in splits[name, method]]) for method in methods] for name in names]
    )

"""Sets of labels worth naming, from probabilities."""

from typing import Literal, TypeAlias

import numpy as np

from ..numerics.types import BoolArray, FloatArray

Utility: TypeAlias = Literal["u65", "u80"]

# Expected utility a x - b x^2 of naming a set of 1/x labels of which one is right (Zaffalon, Corani, Maua 2012).
_UTILITIES = {"u65": (1.6, 0.6), "u80": (2.2, 1.2)}

_ROUNDING = 1e-12


def best_sets(proba: FloatArray, utility: Utility) -> BoolArray:
    """The most probable labels, as many as have the largest expected utility."""
    a, b = _UTILITIES[utility]
    order = np.argsort(-proba, axis=0, kind="stable")
    found = np.cumsum(np.take_along_axis(proba, order, axis=0), axis=0)
    size = np.arange(1, len(proba) + 1)[:, None]
    best = (found * (a / size - b / size**2)).argmax(axis=0)
    chosen = np.empty(proba.shape, dtype=bool)
    np.put_along_axis(chosen, order, np.arange(len(proba))[:, None] <= best, axis=0)
    return chosen


def sets_at_level(
    proba: FloatArray, left_out: FloatArray, codes: np.ndarray, weights: FloatArray, level: float, *, by_class: bool
) -> BoolArray:
    """Return sets of labels that hold the true one with a probability; arrays are (n_classes, n_samples).

    They are named that have at least 1 - q, q the quantile of 1 - p of the true classes of weighted rows, each left
    out; a quantile for each class where each shall be covered alike. The most probable label is always named.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.trust.sets import sets_at_level
    >>> left_out, codes = np.array([[0.9, 0.8, 0.7, 0.4], [0.1, 0.2, 0.3, 0.6]]), np.array([0, 0, 0, 1])
    >>> sets_at_level(np.array([[0.65, 0.9], [0.35, 0.1]]), left_out, codes, np.ones(4), 0.5, by_class=False).T
    array([[ True, False],
           [ True, False]])
    """
    scores = 1 - left_out[codes, np.arange(len(codes))]
    groups = [codes == k for k in range(len(proba))] if by_class else [np.full(len(codes), True)]
    limits = np.array([_quantile(scores[group], weights[group], level) for group in groups])
    named = proba >= 1 - limits[:, None] - _ROUNDING
    return named | (proba == proba.max(axis=0))


def _quantile(scores: FloatArray, weights: FloatArray, level: float) -> float:
    """Return the smallest score up to which so much of the weight lies, where one more row lies beyond; or else 1."""
    if not len(scores) or not weights.sum():
        return 1.0
    order = np.argsort(scores, kind="stable")
    reached = np.cumsum(weights[order]) / (weights.sum() * (1 + 1 / len(scores)))
    place = int(np.searchsorted(reached, level - _ROUNDING))
    return float(scores[order][place]) if place < len(scores) else 1.0

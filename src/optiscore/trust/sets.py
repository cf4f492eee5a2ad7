"""Sets of labels worth naming, from probabilities."""

from typing import Literal, TypeAlias

import numpy as np

from ..numerics.types import BoolArray, FloatArray

Utility: TypeAlias = Literal["u65", "u80"]

# Expected utility a x - b x^2 of naming a set of 1/x labels of which one is right (Zaffalon, Corani, Maua 2012).
_UTILITIES = {"u65": (1.6, 0.6), "u80": (2.2, 1.2)}


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

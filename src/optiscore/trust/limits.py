"""Limits below which a row goes to a person, from what is known of rows that were left out."""

import numpy as np

from ..numerics.types import BoolArray, FloatArray

#: One row of a hundred like those of training is less typical than the limit.
UNTYPICAL = 0.01

_ROUNDING = 1e-12


def least_probability(proba: FloatArray, right: BoolArray, weights: FloatArray, target: float) -> float:
    """Return the lowest limit on probabilities of labels at and above which so large a part of weighted rows is right.

    Their mean probability must be as large: a limit that is chosen for its luck is too low.

    It is 0 where that holds for all rows, and infinity where it holds for none, or for so few that an error among them
    would not be expected.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.trust.limits import least_probability
    >>> least_probability(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]), np.ones(4), 0.5)
    0.0
    >>> least_probability(np.array([0.9] * 8 + [0.6] * 2), np.repeat([True, False], [8, 2]), np.ones(10), 0.85)
    0.9
    """
    values, group = np.unique(-proba, return_inverse=True)
    decided, found, expected = (np.cumsum(np.bincount(group, weights * each)) for each in (1.0, right, proba))
    reached = np.minimum(found, expected) >= (target - _ROUNDING) * decided
    enough = np.flatnonzero(reached & (decided * (1 - target) >= 1 - _ROUNDING))
    if not len(enough):
        return float("inf")
    return float(-values[enough[-1]]) if enough[-1] < len(values) - 1 else 0.0


def lower_quantile(values: FloatArray, weights: FloatArray, level: float) -> float:
    """Return a value below which at most this part of the weight lies; of few values the least."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - weights[order]
    return float(values[order][np.flatnonzero(below <= level * weights.sum() + _ROUNDING)[-1]])

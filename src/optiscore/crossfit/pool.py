"""Weights of a linear pool of classifiers, those of the least log loss of left-out rows."""

import numpy as np

from ..numerics.types import FloatArray
from .calibration import is_gain

_ROUNDS, _TOLERANCE = 500, 1e-7


def pool_weights(p: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weights, by EM, of members whose probabilities of the true classes are p (n_members, n_rows).

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.crossfit.pool import pool_weights
    >>> pool_weights(np.array([[0.9, 0.9, 0.1], [0.5, 0.5, 0.5]]), np.ones(3)).round(2)
    array([0.42, 0.58])
    """
    shares = np.full(len(p), 1 / len(p))
    for _ in range(_ROUNDS):
        before = shares
        shares = shares * ((p / (shares @ p)) @ weights) / weights.sum()
        if np.abs(shares - before).max() < _TOLERANCE:
            break
    return shares / shares.sum()


def earned_weights(p: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weights of those members without which the log loss is larger by more than chance; 0 for the others.

    The member of the smallest weight is asked first; the best one stays.
    """
    kept = list(range(len(p)))
    shares = pool_weights(p, weights)
    while len(kept) > 1:
        for i in np.argsort(shares, kind="stable").tolist():
            others = [k for j, k in enumerate(kept) if j != i]
            without = pool_weights(p[others], weights)
            if not is_gain(np.log(shares @ p[kept]) - np.log(without @ p[others]), weights):
                kept, shares = others, without
                break
        else:
            break
    earned = np.zeros(len(p))
    earned[kept] = shares
    return earned

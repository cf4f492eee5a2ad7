"""Log odds with sampling variances: how stable a label is, and intervals of a probability."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtr

from ..numerics.types import FloatArray

#: Added to probabilities before logarithms are taken of them.
HARDLY = 0.0001


class LogOdds(NamedTuple):
    """Log odds of the most probable class against rivals, and their sampling variances; of shape (n_rivals, n_rows)."""

    best: np.ndarray
    rivals: np.ndarray
    log_odds: FloatArray
    variances: FloatArray
    #: Degrees of freedom of the variances.
    freedom: float = float("inf")

    def stability(self, n_classes: int) -> FloatArray:
        """Return one less the sum of the doubts, which are those that a rival is as good, and at least 1/n_classes."""
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.nan_to_num(self.log_odds / np.sqrt(self.variances), nan=0.0, posinf=1e3)
        doubts = ndtr(-t) if np.isinf(self.freedom) else stdtr(self.freedom, -t)
        return np.maximum(1 - doubts.sum(axis=0), 1 / n_classes)


def interval_around(proba: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the ends of intervals whose log odds are those of a probability, minus and plus so much.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.trust.sampling import interval_around
    >>> low, high = interval_around(np.array([0.5, 1.0]), np.array([1.0, 1.0]))
    >>> low.round(3), high.round(3)
    (array([0.269, 1.   ]), array([0.731, 1.   ]))
    """
    middle = np.log(proba + HARDLY) - np.log(1 - proba + HARDLY)
    ends = (1 / (1 + np.exp(-(middle + sign * reach).clip(-700, 700))) for sign in (-1, 1))
    low, high = (((1 + 2 * HARDLY) * end - HARDLY).clip(0, 1) for end in ends)
    return np.minimum(low, proba), np.maximum(high, proba)

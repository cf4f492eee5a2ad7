"""One number that calibrates probabilities: by how much logits are to be multiplied for the least log loss."""

import numpy as np

from ..numerics.root_finding import find_root
from ..numerics.types import FloatArray
from .probabilities import normalise

# Samples that are taken to be wrong besides: where all are right, certainty grows with their number and stays finite.
_WRONG = 0.5


def best_sharpness(
    logits: FloatArray, codes: np.ndarray, lowest: float, highest: float, weights: FloatArray | None = None
) -> float:
    """Return the s for which softmax(s logits) has the least log loss, between two bounds.

    To the loss of all samples comes that of half a sample which has the second most probable class instead of the most
    probable one, in the mean over all samples. The sum is convex in s: its derivative is the mean of E[a] - a_y with a
    the logits (n_classes, n_samples) under their softmax, and the derivative of that their mean variance. Weights are
    those of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.trust.calibration import best_sharpness
    >>> codes = np.repeat([0, 1], [2999, 1000])  # with the half, about three of four are right
    >>> logits = np.repeat([[1.0], [0.0]], 3999, axis=1)
    >>> round(best_sharpness(logits, codes, 0.1, 10), 2), round(float(np.log(3)), 2)
    (1.1, 1.1)
    """
    n = len(codes)
    ordered = np.sort(logits, axis=0)
    w = np.ones(n) if weights is None else weights
    given, second = logits[codes, np.arange(n)], ordered[-2]
    extra = _WRONG / w.sum()
    expected = float(w @ given + extra * (w @ second))

    def slope(log_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = float(np.exp(log_s[0]))
        p = np.exp(normalise(s * ordered))
        mean = np.einsum("ij,ij->j", p, ordered)
        variance = np.einsum("ij,ij->j", p, np.square(ordered - mean))
        return np.array([(1 + extra) * (w @ mean) - expected]), np.array([s * (1 + extra) * (w @ variance)])

    low, high = np.log([lowest]), np.log([highest])
    if slope(low)[0] >= 0:
        return lowest
    if slope(high)[0] <= 0:
        return highest
    return float(np.exp(find_root(slope, low, high, step_tolerance=1e-6).root[0]))

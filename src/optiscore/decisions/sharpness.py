"""One number that calibrates probabilities: by how much logits are to be multiplied for the least log loss."""

import numpy as np

from ..numerics.root_finding import find_root
from ..numerics.types import FloatArray
from .posteriors import normalise


def best_sharpness(logits: FloatArray, codes: np.ndarray, lowest: float, highest: float) -> float:
    """The s for which softmax(s logits) has the least mean log loss, between two bounds.

    The loss is convex in s: its derivative is the mean of E[a] - a_y with a the logits under their softmax, and the
    derivative of that their mean variance.

    Parameters
    ----------
    logits : ndarray of shape (n_classes, n_samples)
        Logits.
    codes : ndarray of shape (n_samples,)
        True classes.
    lowest, highest : float
        Where to look.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.decisions.sharpness import best_sharpness
    >>> codes = np.array([0, 0, 0, 1])  # three of four are right: the best probability is 3/4
    >>> logits = np.array([[1.0, 1, 1, 1], [0, 0, 0, 0]])
    >>> bool(np.isclose(best_sharpness(logits, codes, 0.1, 10), np.log(3)))
    True
    """
    centred = logits - logits[codes, np.arange(len(codes))]

    def slope(log_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        s = float(np.exp(log_s[0]))
        p = np.exp(normalise(s * centred))
        mean = np.einsum("ij,ij->j", p, centred)
        variance = np.einsum("ij,ij,ij->j", p, centred, centred) - mean**2
        return np.array([mean.mean()]), np.array([s * variance.mean()])

    low, high = np.log([lowest]), np.log([highest])
    if slope(low)[0] >= 0:
        return lowest
    if slope(high)[0] <= 0:
        return highest
    return float(np.exp(find_root(slope, low, high, step_tolerance=1e-6).root[0]))

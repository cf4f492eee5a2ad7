"""The tuned threshold: offsets per class that classify the most training samples right (paper, equation for tau*)."""

import numpy as np

from ._typing import BoolArray, FloatArray

# Ratios closer than this, relative to their size and absolute below 1, are equal but for rounding.
_ROUNDING = {np.float64: 1e-9, np.float32: 1e-6}

# Stands for a weight of 0 in a logarithm.
_TINY = 1e-100


def tuned_offsets(
    optimistic: FloatArray, codes: np.ndarray, priors: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Offsets per class under which the largest log score plus offset is right for the most weight of the samples.

    Two classes: the paper's tau*, exactly, with one sort. More: one class after the other takes its best offset given
    the others', from the better of no offsets and log priors, until no class gains.

    Parameters
    ----------
    optimistic : ndarray of shape (n_classes, n_samples)
        Optimistic log scores of the training samples.
    codes : ndarray of shape (n_samples,)
        Classes of the samples, 0 to n_classes - 1.
    priors : ndarray of shape (n_classes,)
        Class probabilities.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples.
    """
    if len(optimistic) == 2:
        threshold, _ = best_threshold(optimistic[1] - optimistic[0], codes == 1, sample_weight)
        return np.array([0.0, -threshold])

    def right(offsets: FloatArray) -> float:
        return float(np.average((optimistic + offsets[:, None]).argmax(axis=0) == codes, weights=sample_weight))

    offsets = max((np.zeros(len(priors)), np.log(priors)), key=right)
    total = codes.size if sample_weight is None else sample_weight.sum()
    reached, before = right(offsets) * total, -np.inf
    contenders = _Contenders(optimistic, offsets)
    while reached > before:
        before = reached
        for c in range(len(priors)):
            lead, rival = contenders.lead_of(c)
            # Samples of a third class are wrong whichever of the two wins.
            counts = (codes == c) | (codes == rival)
            weight = None if sample_weight is None else sample_weight[counts]
            threshold, value = best_threshold(lead[counts], codes[counts] == c, weight)
            if value > reached * (1 + 1e-12):
                offsets[c], reached = -threshold, value
                contenders = _Contenders(optimistic, offsets)
    return offsets


class _Contenders:
    """The two classes with the largest log score plus offset for each sample."""

    def __init__(self, optimistic: FloatArray, offsets: FloatArray) -> None:
        columns, samples = optimistic + offsets[:, None], np.arange(optimistic.shape[1])
        self._optimistic = optimistic
        self._first = columns.argmax(axis=0)
        self._highest = columns[self._first, samples]
        columns[self._first, samples] = -np.inf
        self._second = columns.argmax(axis=0)
        self._next = columns[self._second, samples]

    def lead_of(self, c: int) -> tuple[FloatArray, np.ndarray]:
        """Lead of class c, without an offset, over the best of the others, and which one that is."""
        mine = self._first == c
        return self._optimistic[c] - np.where(mine, self._next, self._highest), np.where(
            mine, self._second, self._first
        )


def best_threshold(
    ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None = None
) -> tuple[float, float]:
    """The t for which "positive iff ratio >= t" is right for the most weight of the samples, and that weight.

    Ratios that differ by rounding only count as equal: t never parts copies of one sample. Every t between two
    neighbouring ratios is as good: the middle is taken. Of several best places, the one nearest to where the classes
    balance (t = log of negative over positive weight) is taken.
    """
    above: FloatArray
    below: FloatArray
    if sample_weight is None:
        above, below = np.sort(ratio[positive]).astype(np.float64), np.sort(ratio[~positive]).astype(np.float64)
        kept, passed = np.arange(above.size, -1, -1), np.arange(below.size + 1)
    else:
        above, above_weight = _sort_with(ratio[positive], sample_weight[positive])
        below, below_weight = _sort_with(ratio[~positive], sample_weight[~positive])
        kept = np.append(np.cumsum(above_weight[::-1])[::-1], 0.0)
        passed = np.append(0.0, np.cumsum(below_weight))
    # The best t lies above a negative ratio and at most at the next positive one that differs from it; or above all.
    rounding = np.abs(above)
    np.maximum(rounding, 1, out=rounding)
    rounding *= _ROUNDING[ratio.dtype.type]
    n_below = np.append(np.searchsorted(below, np.subtract(above, rounding, out=rounding)), below.size)
    right = kept + passed[n_below]
    best = np.flatnonzero(right >= right.max() * (1 - 1e-12))
    low = np.append(-np.inf, below)[n_below[best]]
    high = np.append(above, np.inf)[best]
    middle = np.where(np.isinf(low), high - 1, np.where(np.isinf(high), low + 1, low / 2 + high / 2))
    balance = np.log(max(passed[-1], _TINY) / max(kept[0], _TINY))
    return float(middle[np.argmin(np.abs(middle - balance))]), float(right.max())


def _sort_with(values: FloatArray, companions: FloatArray) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(values)
    return values[order].astype(np.float64), companions[order]

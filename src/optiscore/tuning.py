"""The tuned threshold: offsets per class that classify the most training samples right (paper, equation for tau*)."""

import math

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

    Ratios that differ by rounding only, relative to their size, count as equal, as copies of one sample do. Every t
    between two neighbouring ratios is as good: the middle is taken. Of several best places, the one nearest to where
    the classes balance (t = log of negative over positive weight) is taken.
    """
    rounding = _ROUNDING[ratio.dtype.type]
    values, right = _sort(ratio.astype(np.float64, copy=False), positive, sample_weight)
    cuts = _highest(right)
    parts = _parts(values, cuts, rounding)
    if not parts.any():
        cuts = np.flatnonzero(_parts(values, np.arange(right.size), rounding))
        cuts = cuts[_highest(right[cuts])]
        parts = _parts(values, cuts, rounding)
    best = cuts[parts]
    middle = 0.5 * values[best] + 0.5 * values[best + 1]
    balance = math.log(max(right[-1], _TINY) / max(right[0], _TINY))
    return float(middle[np.abs(middle - balance).argmin()]), float(right[best[0]])


def _highest(right: np.ndarray) -> np.ndarray:
    """Where the number of right decisions is largest, or their weight but for rounding."""
    top = right.max()
    return np.flatnonzero(right >= (top if right.dtype.kind == "i" else top * (1 - 1e-12)))


def _parts(values: FloatArray, cuts: np.ndarray, rounding: float) -> BoolArray:
    """Whether the values on both sides of cuts differ by more than rounding."""
    low, high = values[cuts], values[cuts + 1]
    size = np.minimum(np.abs(low), np.abs(high))
    return high - low > rounding * np.maximum(size, 1)


def _sort(ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None) -> tuple[FloatArray, np.ndarray]:
    """Sorted values with one more below and above, and the weight of right decisions for a cut between all neighbours.

    Right are the negatives before the cut and the positives from there on. Without weights, the label travels in the
    last bit of its value: sorting values is several times faster than sorting an index.
    """
    values = np.empty(ratio.size + 2)
    inner = values[1:-1]
    if sample_weight is None:
        bits = inner.view(np.int64)
        np.bitwise_and(ratio.view(np.int64), -2, out=bits)
        bits |= positive
        inner.sort()
        steps = 1 - 2 * (bits & 1)
        above = np.count_nonzero(positive)
    else:
        order = np.argsort(ratio)
        np.take(ratio, order, out=inner)
        steps = np.where(positive, -sample_weight, sample_weight)[order]
        above = sample_weight[positive].sum()
    # A cut at either end lies 1 outside, or enough to differ by more than rounding.
    values[0] = inner[0] - max(2.0, 1e-3 * abs(inner[0]))
    values[-1] = inner[-1] + max(2.0, 1e-3 * abs(inner[-1]))
    right = np.empty(ratio.size + 1, dtype=steps.dtype)
    right[0], right[1:] = above, steps
    return values, np.cumsum(right, out=right)

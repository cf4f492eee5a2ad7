"""Tuned offsets: those under which the most training samples are classified right (paper, equation for tau*)."""

import math
from itertools import product
from typing import Any

import numpy as np

from ..numerics.arrays import first_true_row
from ..numerics.types import BoolArray, FloatArray

# Ratios closer than this, relative to their size and absolute below 1, are equal but for rounding.
_ROUNDING = {np.float64: 1e-9, np.float32: 1e-6}

# Offsets of several classes are tuned to so many samples at least, where there are more to choose from, and to so many
# of each class. Fewer give a start, and rounds over all go on while they gain this fraction.
_ENOUGH, _ENOUGH_OF_CLASS = 80_000, 500
_MANY, _START, _LEAST_GAIN = 40_000, 20_000, 1e-3

# Of samples that are no more than this the classes are tuned in either order, and of fewer from several starts.
_FEW, _VERY_FEW = 5_000, 500

# Scores that are ranked at a time.
_RANKED = 8_192

# Stands for a weight of 0 in a logarithm.
_TINY = 1e-100


def tuned_offsets(
    optimistic: FloatArray, codes: np.ndarray, priors: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Return offsets under which the largest log score plus offset is right for the most weight of the samples.

    Of two classes exactly (0 and minus the threshold on their difference); of more by coordinate ascent, one class
    after the other, from the logarithms of the priors or no offsets. The result depends on the classes' samples and not
    on their names: they come in the order of their sizes, those of one size in that of their scores. Optimistic log
    scores are of shape (n_classes, n_samples).
    """
    if len(priors) == 2:
        return np.array([0.0, -best_threshold(optimistic[1] - optimistic[0], codes == 1, sample_weight)[0]])
    weights = np.bincount(codes, weights=sample_weight, minlength=len(priors))
    order = np.lexsort((optimistic.sum(axis=1, dtype=np.float64), -weights))
    n, starts = len(codes), [np.zeros(len(priors)), np.log(priors)]
    if n > _MANY:
        step = n // _START
        weight, few = (
            None if sample_weight is None else sample_weight[::step],
            np.ascontiguousarray(optimistic[:, ::step]),
        )
        start = _ascend(few, codes[::step], weight, _best_start(starts, few, codes[::step]), order)[0]
        return _ascend(optimistic, codes, sample_weight, start, order, _LEAST_GAIN)[0]
    if n <= _FEW:
        # Under the first of these no class is ahead of the others in the mean over its own samples.
        lead = _Rivals(optimistic, codes, starts[0])
        balanced = -np.bincount(codes, weights=lead.own - lead.first_value) / np.bincount(codes)
        starts += [balanced, 0.5 * balanced, 1.5 * balanced, 2 * balanced]
    if n > _VERY_FEW:
        starts = [_best_start(starts, optimistic, codes)]
    orders = [order, order[::-1]] if n <= _FEW else [order]
    found = [_ascend(optimistic, codes, sample_weight, *each) for each in product(starts, orders)]
    return max(found, key=lambda pair: pair[1])[0]


def _best_start(starts: list[FloatArray], optimistic: FloatArray, codes: np.ndarray) -> FloatArray:
    """Return the offsets under which the most samples are right."""
    right = [np.count_nonzero(_Rivals(optimistic, codes, each).are_right()) for each in starts]
    return starts[int(np.argmax(right))]


def _ascend(
    optimistic: FloatArray,
    codes: np.ndarray,
    sample_weight: FloatArray | None,
    start: FloatArray,
    order: np.ndarray,
    least_gain: float = 0.0,
) -> tuple[FloatArray, float]:
    """Return offsets, and the weight that is right: the best of each class in turn, while that gains."""
    offsets, rivals = start.copy(), _Rivals(optimistic, codes, start)
    hits = rivals.are_right()
    reached, before = float(np.count_nonzero(hits) if sample_weight is None else sample_weight[hits].sum()), -np.inf
    while reached > before * (1 + least_gain):
        before = reached
        for c in order:
            best_other, is_own = rivals.without(c), codes == c
            # Where neither this class nor its best rival is right, no offset helps.
            counts = np.flatnonzero(is_own | rivals.are_right(best_other))
            lead = optimistic[c, counts] - np.maximum(best_other, rivals.own)[counts]
            lead[is_own[counts]] = (optimistic[c] - rivals.first_value)[is_own]
            weight = None if sample_weight is None else sample_weight[counts]
            threshold, value = best_threshold(lead, is_own[counts], weight)
            if value > reached * (1 + 1e-12):
                offsets[c], reached = -threshold, value
                rivals.move(c, offsets[c])
    return offsets, reached


class _Rivals:
    """Scores of the true class of each sample, and the best two of all others with their classes, under offsets."""

    def __init__(self, optimistic: FloatArray, codes: np.ndarray, offsets: FloatArray) -> None:
        self._columns, self._codes = optimistic + offsets.astype(optimistic.dtype)[:, None], codes
        self._optimistic, n = optimistic, len(codes)
        self._rounding = _ROUNDING[optimistic.dtype.type]
        self.own = self._columns[codes, np.arange(n)]
        self.first_value, self._second_value = np.empty((2, n), dtype=optimistic.dtype)
        self._first, self._second = np.empty((2, n), dtype=np.intp)
        self._rank()

    def without(self, c: int) -> FloatArray:
        """Return the best score of all classes but the true one and c."""
        return np.where(self._first == c, self._second_value, self.first_value)

    def are_right(self, rival: FloatArray | None = None) -> BoolArray:
        """Return where the true class, and no rival, has the highest score: ties are nobody's, whatever the names."""
        ahead: BoolArray = self.own - (self.first_value if rival is None else rival) > self._rounding * np.maximum(
            np.abs(self.own), 1
        )
        return ahead

    def move(self, c: int, offset: float) -> None:
        """Take another offset of a class; where it was among the best two, all classes are ranked anew."""
        moved = self._columns[c] = self._optimistic[c] + self._optimistic.dtype.type(offset)
        is_own = self._codes == c
        self.own[is_own] = moved[is_own]
        is_ranked = (self._first == c) | (self._second == c)
        wins = ~(is_own | is_ranked) & (moved > self.first_value)
        places = ~(is_own | is_ranked | wins) & (moved > self._second_value)
        self._second_value[wins], self._second[wins] = self.first_value[wins], self._first[wins]
        self.first_value[wins], self._first[wins] = moved[wins], c
        self._second_value[places], self._second[places] = moved[places], c
        self._rank(np.flatnonzero(is_ranked))

    def _rank(self, samples: np.ndarray | None = None) -> None:
        n = len(self.own) if samples is None else len(samples)
        for start in range(0, n, _RANKED):
            some = slice(start, min(start + _RANKED, n))
            block = some if samples is None else samples[some]
            columns, each = self._columns[:, block].copy(), np.arange(some.stop - start)
            columns[self._codes[block], each] = -np.inf
            for classes, values in ((self._first, self.first_value), (self._second, self._second_value)):
                values[block] = largest = columns.max(axis=0)
                classes[block] = top = first_true_row(columns == largest).astype(np.intp)
                columns[top, each] = -np.inf


def representatives(
    codes: np.ndarray, n_classes: int, sample_weight: FloatArray | None = None
) -> tuple[np.ndarray, FloatArray | None]:
    """Return the samples that offsets of more than two classes are tuned to, and their weights.

    Every so many-th sample of each class, of rare classes all; the weights make up for that.
    """
    steps = thinning(np.bincount(codes, minlength=n_classes))
    if (steps == 1).all():
        return np.arange(len(codes)), sample_weight
    rows = np.sort(np.concatenate([np.flatnonzero(codes == c)[:: steps[c]] for c in range(n_classes)]))
    weight = None if sample_weight is None else sample_weight[rows]
    if (steps < steps.max()).any():
        weight = steps[codes[rows]] * (1.0 if weight is None else weight)
    return rows, weight


def thinning(class_count: np.ndarray) -> np.ndarray:
    """Return every how many-th sample of each class offsets are tuned to."""
    step = max(int(class_count.sum()) // _ENOUGH, 1)
    return np.clip(class_count // _ENOUGH_OF_CLASS, 1, step)


def best_threshold(
    ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None = None
) -> tuple[float, float]:
    """Return the t for which "positive iff ratio >= t" is right for the most weight of the samples, and that weight.

    Ratios that differ by rounding only, relative to their size, count as equal, as copies of one sample do. Every t
    between two neighbouring ratios is as good: the middle is taken. Of several best places, the one nearest to where
    the classes balance (t = log of negative over positive weight) is taken.
    """
    rounding = _ROUNDING[ratio.dtype.type]
    values = np.empty(ratio.size + 2)
    values[1:-1] = ratio
    steps = _sort_with_steps(values[1:-1], positive, sample_weight)
    # A cut before or behind all values lies 1 outside, or enough to differ by more than rounding.
    lowest, highest = float(values[1]), float(values[-2])
    values[0], values[-1] = lowest - max(2.0, 1e-3 * abs(lowest)), highest + max(2.0, 1e-3 * abs(highest))
    right: Any = np.empty(steps.size + 1, dtype=np.float64 if sample_weight is not None else np.int32)
    right[0] = np.count_nonzero(positive) if sample_weight is None else sample_weight[positive].sum()
    np.cumsum(steps, out=right[1:])
    right[1:] += right[0]
    balance = math.log(max(float(right[-1]), _TINY) / max(float(right[0]), _TINY))
    # Few cuts are best: whether values part is asked of these first.
    cuts = _highest(right)
    if not (apart := _are_apart(values[cuts], values[cuts + 1], rounding)).any():
        cuts = np.flatnonzero(_are_apart(values[:-1], values[1:], rounding))
        cuts = cuts[_highest(right[cuts])]
    else:
        cuts = cuts[apart]
    middle = 0.5 * values[cuts] + 0.5 * values[cuts + 1]
    return float(middle[np.abs(middle - balance).argmin()]), float(right[cuts[0]])


def _highest(right: np.ndarray) -> np.ndarray:
    """Return where the number of right decisions is largest, or their weight but for rounding."""
    top = right.max()
    return np.flatnonzero(right >= (top if right.dtype.kind == "i" else top * (1 - 1e-12)))


def _are_apart(low: FloatArray, high: FloatArray, rounding: float) -> BoolArray:
    """Return whether neighbouring values differ by more than rounding."""
    size = np.minimum(np.abs(low), np.abs(high))
    return high - low > rounding * np.maximum(size, 1)


def _sort_with_steps(values: FloatArray, positive: BoolArray, sample_weight: FloatArray | None) -> np.ndarray:
    """Sort doubles in place; return what a cut gains in passing each: a negative's weight, minus a positive's.

    Without weights, a flag takes the place of the last bit of its value, and travels with it: sorting doubles is
    several times faster than sorting an index. The values change by a rounding error, which `_are_apart` ignores.
    """
    if sample_weight is not None:
        order = np.argsort(values)
        values[:] = values[order]
        return np.where(positive, -sample_weight, sample_weight)[order]
    bits = values.view(np.int64)
    bits &= -2
    bits |= positive
    values.sort()
    flags = np.bitwise_and(bits, 1, out=np.empty(bits.size, dtype=np.int8), casting="unsafe")
    return 1 - 2 * flags

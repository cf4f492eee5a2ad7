"""Tuned offsets: those under which the most training samples are classified right (paper, equation for tau*)."""

import math
from typing import Protocol

import numpy as np

from ..numerics.arrays import first_true_row
from ..numerics.types import BoolArray, FloatArray

#: Ratios closer than this, relative to their size and absolute below 1, are equal but for rounding.
ROUNDING = {np.float64: 1e-9, np.float32: 1e-6}

# Offsets of several classes are tuned to so many samples at least, where there are more to choose from, and to so many
# of each class. Fewer give a start, and rounds over all go on while they gain this fraction.
_ENOUGH, _ENOUGH_OF_CLASS = 80_000, 500
_MANY, _START, _LEAST_GAIN = 40_000, 20_000, 1e-3

# Scores that are ranked at a time.
_RANKED = 32_768

# From this many values on, those that cannot be next to the best cut are not sorted: so many bins tell which.
_BINNED, _N_BINS = 8_192, 1_024

# Stands for a weight of 0 in a logarithm.
_TINY = 1e-100


def tuned_offsets(
    optimistic: FloatArray, codes: np.ndarray, priors: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Offsets per class under which the largest log score plus offset is right for the most weight of the samples.

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
    scores, n = _RankedScores(optimistic, codes, sample_weight), len(codes)
    if len(priors) == 2 or n <= _MANY:
        return ascend(scores, priors)
    start = ascend(scores.every(n // _START), priors)
    return ascend(scores, priors, start=start, least_gain=_LEAST_GAIN)


def tuned_offsets_of_two(
    ratio: FloatArray, codes: np.ndarray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Offsets of two classes, from the log score ratios of the second to the first; see `tuned_offsets`."""
    return np.array([0.0, -best_threshold(ratio, codes == 1, sample_weight)[0]])


def representatives(
    codes: np.ndarray, n_classes: int, sample_weight: FloatArray | None
) -> tuple[np.ndarray | None, FloatArray | None]:
    """The samples that offsets are tuned to, None for all, and their weights.

    With two classes all samples count, and the offsets are the best there are. More classes are tuned to 80,000 evenly
    spaced samples or somewhat more; a rare class keeps more of its own, which weigh less.
    """
    step = len(codes) // _ENOUGH
    if n_classes == 2 or step < 2:
        return None, sample_weight
    steps = np.clip(np.bincount(codes, minlength=n_classes) // _ENOUGH_OF_CLASS, 1, step)
    rows = np.sort(np.concatenate([np.flatnonzero(codes == c)[:: steps[c]] for c in range(n_classes)]))
    weight = None if sample_weight is None else sample_weight[rows]
    if (steps < step).any():
        weight = steps[codes[rows]] * (1.0 if weight is None else weight)
    return rows, weight


class TrainingScores(Protocol):
    """The log scores of all training samples, wherever they are."""

    def right(self, offsets: FloatArray) -> float:
        """Weight of the samples that are right under offsets."""

    def best_offset(self, c: int, offsets: FloatArray) -> tuple[float, float]:
        """The offset of class c that is right for the most weight given those of the others, and that weight."""


def ascend(
    scores: TrainingScores, priors: FloatArray, *, start: FloatArray | None = None, least_gain: float = 0.0
) -> FloatArray:
    """Tuned offsets.

    Two classes: the paper's tau*, exactly. More: one class after the other takes its best offset given the others',
    from a start, or else the better of no offsets and log priors, until a round gains no more than a fraction.
    """
    if len(priors) == 2:
        return np.array([0.0, scores.best_offset(1, np.zeros(2))[0]])
    offsets = max((np.zeros(len(priors)), np.log(priors)), key=scores.right) if start is None else start
    reached, before = scores.right(offsets), -np.inf
    while reached > before * (1 + least_gain):
        before = reached
        for c in range(len(priors)):
            offset, value = scores.best_offset(c, offsets)
            if value > reached * (1 + 1e-12):
                offsets, reached = np.where(np.arange(len(priors)) == c, offset, offsets), value
    return offsets


class LabelledScores:
    """Log scores (n_classes, n_samples) of samples in memory, with their classes and weights."""

    def __init__(self, optimistic: FloatArray, codes: np.ndarray, sample_weight: FloatArray | None) -> None:
        self.optimistic, self.codes, self.weight = optimistic, codes, sample_weight

    def right(self, offsets: FloatArray) -> float:
        """Weight of the samples that are right under offsets."""
        hits = self._contenders(offsets).first == self.codes
        return float(np.count_nonzero(hits) if self.weight is None else self.weight[hits].sum())

    def best_offset(self, c: int, offsets: FloatArray) -> tuple[float, float]:
        """The offset of class c that is right for the most weight given those of the others, and that weight."""
        threshold, value = best_threshold(*self.leads(c, offsets))
        return -threshold, value

    def leads(self, c: int, offsets: FloatArray) -> tuple[FloatArray, BoolArray, FloatArray | None]:
        """Lead of class c, without its offset, over the best of the others; whether it is right; and weights.

        Samples of a third class are left out: they are wrong whichever of the two wins.
        """
        if len(self.optimistic) == 2:
            rival = self.optimistic[1 - c] + self.optimistic.dtype.type(offsets[1 - c])
            return self.optimistic[c] - rival, self.codes == c, self.weight
        contenders = self._contenders(offsets)
        rivals_first = contenders.first == self.codes
        rivals_second = (contenders.first == c) & (contenders.second == self.codes)
        counts = np.flatnonzero((self.codes == c) | rivals_first | rivals_second)
        weight = None if self.weight is None else self.weight[counts]
        return contenders.lead_of(c, counts), self.codes[counts] == c, weight

    def _contenders(self, offsets: FloatArray) -> "_Contenders":
        return _Contenders(self.optimistic, offsets)


class _RankedScores(LabelledScores):
    """Log scores that remember the contenders under the latest offsets, at the price of memory."""

    _ranked: "tuple[FloatArray, _Contenders] | None" = None

    def every(self, step: int) -> "_RankedScores":
        """The scores of some samples, evenly spaced."""
        weight = None if self.weight is None else self.weight[::step]
        return _RankedScores(np.ascontiguousarray(self.optimistic[:, ::step]), self.codes[::step], weight)

    def _contenders(self, offsets: FloatArray) -> "_Contenders":
        changed = None if self._ranked is None else np.flatnonzero(self._ranked[0] != offsets)
        if self._ranked is None or changed is None or changed.size > 1:
            self._ranked = offsets, super()._contenders(offsets)
        elif changed.size:
            self._ranked[1].change(int(changed[0]), offsets)
            self._ranked = offsets, self._ranked[1]
        return self._ranked[1]


class _Contenders:
    """The two classes with the largest log score plus offset for each sample; equal but for rounding, the first."""

    def __init__(self, optimistic: FloatArray, offsets: FloatArray) -> None:
        self._optimistic, n = optimistic, optimistic.shape[1]
        self.first, self.second = np.empty((2, n), dtype=np.int16)
        self._highest, self._next = np.empty((2, n), dtype=np.result_type(optimistic, offsets))
        self._rank(slice(None), offsets)

    def change(self, c: int, offsets: FloatArray) -> None:
        """Take another offset of one class. Only where it falls behind an unknown third, or ties, is all ranked anew."""
        mine = self._optimistic[c] + offsets[c]
        slack = ROUNDING[self._optimistic.dtype.type] * np.maximum(np.abs(mine), 1)
        is_first, is_second = self.first == c, self.second == c
        others = ~(is_first | is_second)
        wins, beaten = mine > self._highest + slack, mine < self._highest - slack
        stays = is_first & (mine > self._next + slack)
        third_rises = others & beaten & (mine > self._next + slack)
        second_rises = is_second & beaten & (mine >= self._next)
        overtakes = (others | is_second) & wins
        unclear = (is_first & ~stays) | (is_second & ~(second_rises | overtakes))
        unclear |= others & ~(overtakes | third_rises) & (mine >= self._next - slack)
        self.second[overtakes], self._next[overtakes] = self.first[overtakes], self._highest[overtakes]
        self.second[third_rises] = c
        rises = third_rises | second_rises
        self._next[rises] = mine[rises]
        tops = stays | overtakes
        self.first[tops], self._highest[tops] = c, mine[tops]
        self._rank(np.flatnonzero(unclear), offsets)

    def lead_of(self, c: int, samples: np.ndarray) -> FloatArray:
        """Lead of class c, without an offset, over the best of the others."""
        best = np.where(self.first[samples] == c, self._next[samples], self._highest[samples])
        return self._optimistic[c, samples] - best

    def _rank(self, samples: np.ndarray | slice, offsets: FloatArray) -> None:
        """Rank the classes of some samples anew, so many at a time that they stay in the cache."""
        n_classes, n = self._optimistic.shape
        if isinstance(samples, np.ndarray):
            n = len(samples)
        step = max(1, _RANKED // n_classes)
        for start in range(0, n, step):
            block = slice(start, start + step) if isinstance(samples, slice) else samples[start : start + step]
            columns = self._optimistic[:, block] + offsets[:, None]
            each, rounding = np.arange(columns.shape[1]), ROUNDING[self._optimistic.dtype.type]
            first = _first_of_highest(columns, rounding)
            self.first[block], self._highest[block] = first, columns[first, each]
            columns[first, each] = -np.inf
            second = _first_of_highest(columns, rounding)
            self.second[block], self._next[block] = second, columns[second, each]


def _first_of_highest(columns: FloatArray, rounding: float) -> np.ndarray:
    highest = columns.max(axis=0)
    slack = rounding * np.maximum(np.abs(highest), 1)
    return first_true_row(columns >= highest - slack)


def best_threshold(
    ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None = None
) -> tuple[float, float]:
    """The t for which "positive iff ratio >= t" is right for the most weight of the samples, and that weight.

    Ratios that differ by rounding only, relative to their size, count as equal, as copies of one sample do. Every t
    between two neighbouring ratios is as good: the middle is taken. Of several best places, the one nearest to where
    the classes balance (t = log of negative over positive weight) is taken.
    """
    rounding = ROUNDING[ratio.dtype.type]
    if ratio.size >= _BINNED and (cuts := _cuts_in_bins(ratio, positive, sample_weight, rounding)) is not None:
        return best_cut(*cuts, rounding)
    values = np.empty(ratio.size + 2)
    values[1:-1] = ratio
    steps = sort_with_steps(values[1:-1], positive, sample_weight)
    values[0], values[-1] = below(values[1]), above(values[-2])
    right = np.empty(steps.size + 1, dtype=np.float64 if sample_weight is not None else np.int32)
    right[0] = np.count_nonzero(positive) if sample_weight is None else sample_weight[positive].sum()
    np.cumsum(steps, out=right[1:])
    right[1:] += right[0]
    # Few cuts are best: whether values part is asked of these first.
    cuts = _highest(right)
    if not are_apart(values[cuts], values[cuts + 1], rounding).any():
        cuts = np.arange(right.size)
    return best_cut(values[cuts], values[cuts + 1], right[cuts], balance(right[0], right[-1]), rounding)


def _cuts_in_bins(
    ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None, rounding: float
) -> tuple[FloatArray, FloatArray, np.ndarray, float] | None:
    """The best cuts, for `best_cut`, without sorting the ratios in bins that cannot hold one; None where that fails.

    A cut in a bin is right for at most what a cut before it is right for, plus the negatives in the bin.
    """
    lowest, highest = np.quantile(ratio[:: ratio.size // 256], (0.02, 0.98)).astype(ratio.dtype)
    if not lowest < highest:
        return None
    bins = np.clip((ratio - lowest) * ((_N_BINS - 2) / (highest - lowest)), -1, _N_BINS - 2).astype(np.int32)
    bins += 1
    weights = np.bincount(2 * bins + positive, sample_weight, minlength=2 * _N_BINS).reshape(_N_BINS, 2)
    gains = weights[:, 0] - weights[:, 1]
    right = weights[:, 1].sum() + np.cumsum(np.append(0, gains))
    reached = _top(right)
    filled = np.flatnonzero(weights.any(axis=1))
    holds = (right[:-1] + weights[:, 0])[filled] >= reached
    # The first and the last cut of a bin reach to its neighbours.
    wanted = holds.copy()
    wanted[1:] |= holds[:-1]
    wanted[:-1] |= holds[1:]
    is_skipped = np.ones(_N_BINS, dtype=bool)
    is_skipped[filled[wanted]] = False
    chosen = np.flatnonzero(~is_skipped[bins])
    if 2 * chosen.size > ratio.size:
        return None
    values = ratio[chosen].astype(np.float64)
    steps = sort_with_steps(values, positive[chosen], None if sample_weight is None else sample_weight[chosen])
    place = np.repeat(np.arange(_N_BINS), np.bincount(bins[chosen], minlength=_N_BINS))
    behind = right[0] + np.cumsum(steps) + np.cumsum(np.where(is_skipped, gains, 0))[place]
    # Nothing lies between neighbours that have equally many of the skipped bins before them.
    passed = np.cumsum(is_skipped & weights.any(axis=1))[place]
    low, high = np.append(below(values[0]), values), np.append(values, above(values[-1]))
    value = np.append(behind[0] - steps[0], behind)
    is_cut = np.append(passed, passed[-1]) == np.append(passed[0], passed)
    is_cut[0], is_cut[-1] = wanted[0], wanted[-1]
    is_cut &= value >= reached
    low, high, value = low[is_cut], high[is_cut], value[is_cut]
    if not are_apart(low, high, rounding).any():
        return None
    return low, high, value, balance(right[0], right[-1])


def best_cut(
    low: FloatArray, high: FloatArray, right: np.ndarray, where_balanced: float, rounding: float
) -> tuple[float, float]:
    """The best of some cuts between neighbouring values: its middle, and the weight that is right there."""
    apart = are_apart(low, high, rounding)
    low, high, right = low[apart], high[apart], right[apart]
    best = _highest(right)
    middle = 0.5 * low[best] + 0.5 * high[best]
    return float(middle[np.abs(middle - where_balanced).argmin()]), float(right[best[0]])


def balance(positive: float, negative: float) -> float:
    """Logarithm of the ratio of the weights of negatives and positives."""
    return math.log(max(float(negative), _TINY) / max(float(positive), _TINY))


def below(value: float) -> float:
    """Where a cut before all values ends: the cut lies 1 outside, or enough to differ by more than rounding."""
    return float(value) - max(2.0, 1e-3 * abs(float(value)))


def above(value: float) -> float:
    """Where a cut behind all values ends."""
    return -below(-float(value))


def _highest(right: np.ndarray) -> np.ndarray:
    """Where the number of right decisions is largest, or their weight but for rounding."""
    return np.flatnonzero(right >= _top(right))


def _top(right: np.ndarray) -> float:
    """The largest number of right decisions, or their weight less rounding."""
    top = right.max()
    return top if right.dtype.kind == "i" else top * (1 - 1e-12)


def are_apart(low: FloatArray, high: FloatArray, rounding: float) -> BoolArray:
    """Whether neighbouring values differ by more than rounding."""
    size = np.minimum(np.abs(low), np.abs(high))
    return high - low > rounding * np.maximum(size, 1)


def sort_with_steps(values: FloatArray, positive: BoolArray, sample_weight: FloatArray | None) -> np.ndarray:
    """Sort doubles in place; what a cut gains in passing each: the weight of a negative, or minus that of a positive.

    Without weights, a flag takes the place of the last bit of its value, and travels with it: sorting doubles is
    several times faster than sorting an index. The values change by a rounding error, which `are_apart` ignores.
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

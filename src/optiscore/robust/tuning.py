"""Tuned offsets: those under which the most training samples are classified right (paper, equation for tau*)."""

from typing import Protocol

import numpy as np

from ..numerics.arrays import first_true_row
from ..numerics.types import BoolArray, FloatArray
from .thresholds import ROUNDING, best_threshold

# Offsets of several classes are tuned to so many samples at least, where there are more to choose from, and to so many
# of each class. Fewer give a start, and rounds over all go on while they gain this fraction.
_ENOUGH, _ENOUGH_OF_CLASS = 80_000, 500
_MANY, _START, _LEAST_GAIN = 40_000, 20_000, 1e-3

# Scores that are ranked at a time.
_RANKED = 32_768


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
    if len(priors) == 2:
        return tuned_offsets_of_two(optimistic[1] - optimistic[0], codes, sample_weight)
    scores, n = _RankedScores(optimistic, codes, sample_weight), len(codes)
    if n <= _MANY:
        return ascend(scores, priors)
    start = ascend(scores.every(n // _START), priors)
    return ascend(scores, priors, start=start, least_gain=_LEAST_GAIN)


def tuned_offsets_of_two(ratio: FloatArray, codes: np.ndarray, sample_weight: FloatArray | None = None) -> FloatArray:
    """Offsets of two classes, from the log score ratios of the second to the first; see `tuned_offsets`."""
    return np.array([0.0, -best_threshold(ratio, codes == 1, sample_weight)[0]])


def representatives(
    codes: np.ndarray, n_classes: int, sample_weight: FloatArray | None
) -> tuple[np.ndarray | None, FloatArray | None]:
    """The samples that offsets of more than two classes are tuned to, None for all, and their weights.

    These are 80,000 evenly spaced samples or somewhat more; a rare class keeps more of its own, which weigh less.
    """
    step = len(codes) // _ENOUGH
    if step < 2:
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
        self.first, self.second = np.empty((2, n), dtype=np.int32)
        self._highest, self._next = np.empty((2, n), dtype=np.result_type(optimistic, offsets))
        self._rank(slice(None), offsets)

    def change(self, c: int, offsets: FloatArray) -> None:
        """Take another offset of one class; where it ties or may fall behind a third, all classes are ranked anew."""
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

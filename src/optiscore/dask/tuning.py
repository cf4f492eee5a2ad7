"""Tuned offsets without collecting scores: blocks keep theirs, and bins that cannot hold the best cut are left.

The cut sought is that of `optiscore.robust.thresholds.best_threshold`, exactly. All blocks count what lies in a few
thousand bins. A cut inside a bin is right for at most what is right at the bin's lower edge plus the bin's negatives;
bins for which this is less than what some cut between bins reaches are closed. The others are split again, until so
few values are left in them that these can be fetched.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import NamedTuple, Self

import dask
import numpy as np
from dask.delayed import Delayed

from ..numerics.types import BoolArray, FloatArray
from ..robust.thresholds import ROUNDING, above, are_apart, balance, below, best_cut, sort_with_steps
from ..robust.tuning import LabelledScores
from .blocks import map_boxes, reduce_tree

# Values that are fetched at once, values that one block and all blocks together propose as edges of bins.
_FETCH, _PROPOSE_BLOCK, _PROPOSE_ALL = 1 << 18, 128, 2048

# Weights of right decisions closer than this, relative to their size, are equal but for rounding.
_TIE = 1e-11


class SortedLeads(NamedTuple):
    """Leads of one block in increasing order, and what a cut gains in passing each of them."""

    values: FloatArray
    steps: np.ndarray
    rounding: float


@dataclass(frozen=True)
class Bins:
    """What lies between edges: weights of negatives and positives, numbers of values, and their range."""

    negative: FloatArray
    positive: FloatArray
    count: np.ndarray
    lowest: FloatArray
    highest: FloatArray
    rounding: float

    @classmethod
    def of(cls, leads: SortedLeads, edges: FloatArray) -> Self:
        """The bins below, between and above the edges, each of which belongs to the bin above it."""
        values, steps, rounding = leads
        ends = np.searchsorted(values, edges)
        first, last = np.r_[0, ends], np.r_[ends, values.size]
        filled = last > first
        padded = np.r_[values, np.nan]
        return cls(
            _sums_between(np.maximum(steps, 0), first, last),
            _sums_between(np.maximum(-steps, 0), first, last),
            last - first,
            np.where(filled, padded[np.minimum(first, values.size)], np.inf),
            np.where(filled, padded[last - 1], -np.inf),
            rounding,
        )

    def __add__(self, other: Self) -> Self:
        """The bins of both."""
        return type(self)(
            self.negative + other.negative,
            self.positive + other.positive,
            self.count + other.count,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            max(self.rounding, other.rounding),
        )

    @property
    def right(self) -> FloatArray:
        """Weight of right decisions for a cut before each bin, and behind the last."""
        return self.positive.sum() + np.r_[0, np.cumsum(self.negative - self.positive)]

    def sides(self) -> tuple[FloatArray, FloatArray]:
        """The next values below and above each cut between bins; outside all values, as in memory."""
        low = np.maximum.accumulate(np.r_[-np.inf, self.highest])
        high = np.minimum.accumulate(np.r_[self.lowest, np.inf][::-1])[::-1]
        return np.where(np.isfinite(low), low, below(high[0])), np.where(np.isfinite(high), high, above(low[-1]))

    def are_best(self) -> BoolArray:
        """Whether no cut between bins is better than the one before each bin, or behind the last."""
        low, high = self.sides()
        return are_apart(low, high, self.rounding) & (self.right >= self._least())

    def are_open(self) -> BoolArray:
        """Whether the best cut, or one of several, may lie inside each bin."""
        filled = self.count > 1
        low, high = np.where(filled, self.lowest, 0.0), np.where(filled, self.highest, 0.0)
        return are_apart(low, high, self.rounding) & (self.right[:-1] + self.negative >= self._least())

    def _least(self) -> float:
        """What the best cut is right for at least, but for rounding."""
        low, high = self.sides()
        return float(self.right[are_apart(low, high, self.rounding)].max() * (1 - _TIE))


class BlockScores:
    """The log scores of training samples in blocks on a cluster; they stay there.

    Parameters
    ----------
    boxes : sequence of Delayed
        The `LabelledScores` of each block.
    is_used_once : bool
        Whether they are asked one question only, so that they need not be kept.
    """

    def __init__(self, boxes: Sequence[Delayed], *, is_used_once: bool) -> None:
        self._boxes = boxes if is_used_once else dask.persist(*boxes)

    def right(self, offsets: FloatArray) -> float:
        """Weight of the samples that are right under offsets."""
        return float(reduce_tree(map_boxes(LabelledScores.right, self._boxes, offsets), sum))

    def best_offset(self, c: int, offsets: FloatArray) -> tuple[float, float]:
        """The offset of class c that is right for the most weight given those of the others, and that weight."""
        leads = dask.persist(*map_boxes(_sort_leads, self._boxes, c, offsets))
        threshold, value = best_threshold(leads)
        return -threshold, value


def best_threshold(leads: Sequence[Delayed]) -> tuple[float, float]:
    """As `optiscore.robust.thresholds.best_threshold`, for leads that are sorted within blocks."""
    edges, may_open = np.empty(0), np.array([True])
    while True:
        bins: Bins = reduce_tree(map_boxes(Bins.of, leads, edges), _sum_bins)
        opened = bins.are_open() & may_open
        if bins.count[opened].sum() <= _FETCH:
            break
        proposed = reduce_tree(map_boxes(_propose, leads, edges, opened), partial(_thin, limit=_PROPOSE_ALL))
        # An edge above each value sets its copies apart, so that every round makes progress.
        finer = np.unique(np.r_[edges[_are_needed(bins, opened)], proposed, np.nextafter(proposed, np.inf)])
        # Bins that were closed are now parts of wider ones, which stay closed.
        may_open = opened[np.searchsorted(edges, np.r_[-np.inf, finer], side="right")]
        edges = finer
    low, high = bins.sides()
    cuts = [(low, high, bins.right)]
    if opened.any():
        inside: SortedLeads = reduce_tree(map_boxes(_inside, leads, edges, opened), _join)
        cuts += _inner_cuts(inside, edges, opened, bins.right)
    low, high, right = (np.concatenate(parts) for parts in zip(*cuts, strict=True))
    return best_cut(low, high, right, balance(bins.positive.sum(), bins.negative.sum()), bins.rounding)


def _sort_leads(scores: LabelledScores, c: int, offsets: FloatArray) -> SortedLeads:
    ratio, positive, weight = scores.leads(c, offsets)
    values = ratio.astype(np.float64)
    return SortedLeads(values, sort_with_steps(values, positive, weight), ROUNDING[ratio.dtype.type])


def _sum_bins(parts: list[Bins]) -> Bins:
    return reduce(add, parts)


def _sums_between(amounts: FloatArray, first: np.ndarray, last: np.ndarray) -> FloatArray:
    total = np.r_[0.0, np.cumsum(amounts, dtype=np.float64)]
    return total[last] - total[first]


def _inside(leads: SortedLeads, edges: FloatArray, opened: BoolArray) -> SortedLeads:
    """The leads in open bins."""
    chosen = opened[np.searchsorted(edges, leads.values, side="right")]
    return SortedLeads(leads.values[chosen], leads.steps[chosen], leads.rounding)


def _propose(leads: SortedLeads, edges: FloatArray, opened: BoolArray) -> FloatArray:
    """Evenly spread values of open bins, the first and the last among them."""
    return _thin([_inside(leads, edges, opened).values], _PROPOSE_BLOCK)


def _thin(parts: list[FloatArray], limit: int) -> FloatArray:
    values = np.unique(np.concatenate(parts))
    return values[np.linspace(0, values.size - 1, limit).astype(int)] if values.size > limit else values


def _are_needed(bins: Bins, opened: BoolArray) -> BoolArray:
    """Which edges are those of open bins, or the best cuts so far."""
    return opened[1:] | opened[:-1] | bins.are_best()[1:-1]


def _join(parts: list[SortedLeads]) -> SortedLeads:
    values, steps = (np.concatenate(column) for column in list(zip(*parts, strict=True))[:2])
    order = np.argsort(values, kind="stable")
    return SortedLeads(values[order], steps[order], max(part.rounding for part in parts))


def _inner_cuts(
    inside: SortedLeads, edges: FloatArray, opened: BoolArray, right: FloatArray
) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """Cuts between the values of each open bin: the values on both sides, and the weight that is right."""
    # The values are sorted, so that each bin is a slice of them.
    ends = np.searchsorted(inside.values, edges)
    first, last = np.r_[0, ends], np.r_[ends, inside.values.size]
    cuts = []
    for b in np.flatnonzero(opened):
        values, steps = inside.values[first[b] : last[b]], inside.steps[first[b] : last[b]]
        cuts.append((values[:-1], values[1:], right[b] + np.cumsum(steps[:-1])))
    return cuts

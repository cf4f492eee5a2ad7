"""The best threshold on one number per sample: sorted, or by bins where only a part needs sorting."""

import math
from typing import Any

import numpy as np

from ..numerics.types import BoolArray, FloatArray

#: Ratios closer than this, relative to their size and absolute below 1, are equal but for rounding.
ROUNDING = {np.float64: 1e-9, np.float32: 1e-6}

# From this many values on, those that cannot be next to the best cut are not sorted: so many bins tell which.
_BINNED, _N_BINS = 8_192, 1_024

# Stands for a weight of 0 in a logarithm.
_TINY = 1e-100


def best_threshold(
    ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None = None
) -> tuple[float, float]:
    """The t for which "positive iff ratio >= t" is right for the most weight of the samples, and that weight.

    Ratios that differ by rounding only, relative to their size, count as equal, as copies of one sample do. Every t
    between two neighbouring ratios is as good: the middle is taken. Of several best places, the one nearest to where
    the classes balance (t = log of negative over positive weight) is taken.
    """
    rounding = ROUNDING[ratio.dtype.type]
    if ratio.size >= _BINNED:
        in_bins = _cuts_in_bins(ratio, positive, sample_weight, rounding)
        if in_bins is not None:
            return best_cut(*in_bins, rounding)
    values = np.empty(ratio.size + 2)
    values[1:-1] = ratio
    steps = sort_with_steps(values[1:-1], positive, sample_weight)
    values[0], values[-1] = below(values[1]), above(values[-2])
    right: Any = np.empty(steps.size + 1, dtype=np.float64 if sample_weight is not None else np.int32)
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
    some = np.sort(ratio[:: ratio.size // 256])
    lowest, highest = some[5], some[-6]
    # Ratios may be so large, or so near each other, that their differences have no scale.
    with np.errstate(over="ignore", divide="ignore"):
        scale = (_N_BINS - 2) / (highest - lowest)
        if not 0 < scale < np.inf:
            return None
        bins = np.clip((ratio - lowest) * scale, -1, _N_BINS - 2).astype(np.int32)
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

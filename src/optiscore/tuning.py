"""The tuned threshold: offsets per class that classify the most training samples right (paper, equation for tau*)."""

import numpy as np

from ._typing import BoolArray, FloatArray


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
        return np.array([0.0, -best_threshold(optimistic[1] - optimistic[0], codes == 1, sample_weight)])
    weight = np.ones(codes.size) if sample_weight is None else sample_weight

    def right(offsets: FloatArray) -> float:
        return float(weight[(optimistic + offsets[:, None]).argmax(axis=0) == codes].sum())

    offsets = max((np.zeros(len(priors)), np.log(priors)), key=right)
    best, before = right(offsets), -np.inf
    while best > before:
        before = best
        for c in range(len(priors)):
            trial = _with_best_offset_of(c, optimistic, offsets, codes, weight)
            if (reached := right(trial)) > best:
                offsets, best = trial, reached
    return offsets


def best_threshold(ratio: FloatArray, positive: BoolArray, sample_weight: FloatArray | None = None) -> float:
    """The t for which "positive iff ratio >= t" is right for the most weight of the samples.

    Every t between the same two neighbouring ratios is as good: the middle is taken. Of several best places, the one
    nearest to where the classes balance (t = log of negative over positive weight) is taken.
    """
    above: FloatArray = ratio[positive].astype(np.float64)
    below: FloatArray = ratio[~positive].astype(np.float64)
    if sample_weight is None:
        above, below = np.sort(above), np.sort(below)
        kept, passed = np.arange(above.size, -1, -1), np.arange(below.size + 1)
    else:
        above, above_weight = _sort_with(above, sample_weight[positive])
        below, below_weight = _sort_with(below, sample_weight[~positive])
        kept = np.append(np.cumsum(above_weight[::-1])[::-1], 0.0)
        passed = np.append(0.0, np.cumsum(below_weight))
    # The best t lies just above a negative ratio and at most at the next positive one; or above them all.
    n_below = np.append(np.searchsorted(below, above), below.size)
    right = kept + passed[n_below]
    best = np.flatnonzero(right >= right.max() * (1 - 1e-12))
    low = np.where(n_below[best] > 0, below[n_below[best] - 1], -np.inf)
    high = np.append(above, np.inf)[best]
    middle = np.where(np.isinf(low), high - 1, np.where(np.isinf(high), low + 1, low / 2 + high / 2))
    balance = np.log(passed[-1] / kept[0])
    return float(middle[np.argmin(np.abs(middle - balance))])


def _with_best_offset_of(
    c: int, optimistic: FloatArray, offsets: FloatArray, codes: np.ndarray, weight: FloatArray
) -> FloatArray:
    """All offsets, with that of class c at its best given the others."""
    others = optimistic + offsets[:, None]
    others[c] = -np.inf
    rival = others.argmax(axis=0)
    lead = optimistic[c] - others[rival, np.arange(codes.size)]
    # Samples of a third class are wrong whichever of the two wins.
    counts = (codes == c) | (codes == rival)
    result = offsets.copy()
    result[c] = -best_threshold(lead[counts], codes[counts] == c, weight[counts])
    return result


def _sort_with(values: FloatArray, companions: FloatArray) -> tuple[FloatArray, FloatArray]:
    order = np.argsort(values)
    return values[order], companions[order]

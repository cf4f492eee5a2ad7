"""Posteriors from log scores of all classes: bounded over plausible moments, and the classes that remain.

Arrays have the shape (n_classes, n_samples).
"""

import numpy as np

from ..numerics.arrays import argmax_of_rows
from ..numerics.types import BoolArray, FloatArray


def log_expit(odds: FloatArray) -> FloatArray:
    """Return the logarithm of the probability that belongs to log odds."""
    return np.minimum(odds, 0) - np.log1p(np.exp(-np.abs(odds)))


def log_sum_of_others(columns: FloatArray) -> FloatArray:
    """Return for each class the log of the sum of exponentials over all *other* classes."""
    if len(columns) == 2:
        return columns[::-1]
    is_top = np.arange(len(columns))[:, None] == columns.argmax(axis=0)
    others = np.where(is_top, -np.inf, columns)
    highest, second = columns.max(axis=0), others.max(axis=0)
    # Leaving out a class below the top cancels nothing; leaving out the top leaves a sum of its own.
    terms = np.exp(columns - highest)
    rest = terms.sum(axis=0) - terms
    below = highest + np.log(np.where(rest > 1, rest, 1))
    return np.where(is_top, second + np.log(np.exp(others - second).sum(axis=0)), below)


def posterior_bounds(pessimistic: FloatArray, optimistic: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and largest posterior of each class, from log scores plus log priors.

    Exact, since the ambiguity sets of the classes vary independently: the smallest posterior of a class has its own
    score at its worst and all others at their best.
    """
    highest = optimistic.max(axis=0)
    low, high = _scaled_exp(pessimistic, highest), _scaled_exp(optimistic, highest)
    worst_sum, best_sum = _sum_of_others(high), _sum_of_others(low)
    worst_sum += low
    best_sum += high
    # Where all that counts is small, terms may have been lost. Elsewhere quotients of those are smaller still.
    lost = np.minimum(worst_sum.min(axis=0), low.max(axis=0)) < np.cbrt(np.finfo(low.dtype).tiny)
    lower, upper = np.divide(low, worst_sum, out=worst_sum), np.divide(high, best_sum, out=best_sum)
    if lost.any():
        lower[:, lost], upper[:, lost] = _bounds_by_logarithms(pessimistic[:, lost], optimistic[:, lost])
    return lower, upper


def _scaled_exp(columns: FloatArray, highest: FloatArray) -> FloatArray:
    """Return exp(columns - highest), or else the smallest number that is not slow to compute with."""
    scaled = columns - highest
    np.maximum(scaled, np.log(np.finfo(scaled.dtype).tiny) + 1, out=scaled)
    return np.exp(scaled, out=scaled)


def _bounds_by_logarithms(pessimistic: FloatArray, optimistic: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the same where exponentials underflow."""
    lower = np.exp(log_expit(pessimistic - log_sum_of_others(optimistic)))
    return lower, np.exp(log_expit(optimistic - log_sum_of_others(pessimistic)))


def _sum_of_others(terms: FloatArray) -> FloatArray:
    """Return for each class the sum of numbers >= 0 over all *other* classes; without the largest, nothing cancels."""
    if len(terms) == 2:
        return terms[::-1].copy()
    top, columns = argmax_of_rows(terms), np.arange(terms.shape[1])
    largest, sums = terms[top, columns], terms.copy()
    sums[top, columns] = 0
    rest = sums.sum(axis=0)
    np.subtract(rest + largest, sums, out=sums)
    sums[top, columns] = rest
    return sums


def non_dominated(pessimistic: FloatArray, optimistic: FloatArray) -> BoolArray:
    """Return classes whose best score is not below the worst score of another one, from log scores plus log priors."""
    undominated: BoolArray = optimistic >= pessimistic.max(axis=0)
    return undominated

"""Posteriors from log scores of all classes: normalised, bounded over plausible moments, and the classes that remain.

Arrays have the shape (n_classes, n_samples) and may be of any library that follows the array API standard.
"""

import numpy as np

from ..numerics.arrays import Array, argmax_of_rows, is_numpy, like, namespace_of
from ..numerics.types import FloatArray
from ..numerics.workspace import FRESH, Workspace


def log_expit(odds: Array) -> Array:
    """Logarithm of the probability that belongs to log odds."""
    xp = namespace_of(odds)
    return xp.minimum(odds, xp.zeros_like(odds)) - xp.log1p(xp.exp(-xp.abs(odds)))


def log_sum_of_others(columns: Array) -> Array:
    """For each class the log of the sum of exponentials over all *other* classes."""
    xp = namespace_of(columns)
    if columns.shape[0] == 2:
        return xp.flip(columns, axis=0)
    classes = like(np.arange(columns.shape[0]), columns)
    is_top = classes[:, None] == xp.argmax(columns, axis=0)
    others = xp.where(is_top, xp.full_like(columns, -np.inf), columns)
    highest, second = xp.max(columns, axis=0), xp.max(others, axis=0)
    # Leaving out a class below the top cancels nothing; leaving out the top leaves a sum of its own.
    terms = xp.exp(columns - highest)
    rest = xp.sum(terms, axis=0) - terms
    below = highest + xp.log(xp.where(rest > 1, rest, xp.ones_like(rest)))
    return xp.where(is_top, second + xp.log(xp.sum(xp.exp(others - second), axis=0)), below)


def posterior_bounds(pessimistic: Array, optimistic: Array, room: Workspace = FRESH) -> tuple[Array, Array]:
    """Smallest and largest posterior of each class, from log scores plus log priors, in arrays of a workspace.

    Exact, since the ambiguity sets of the classes vary independently: the smallest posterior of a class has its own
    score at its worst and all others at their best.
    """
    if not is_numpy(optimistic):
        return _bounds_by_logarithms(pessimistic, optimistic)
    highest = optimistic.max(axis=0)
    low = _scaled_exp(pessimistic, highest, room.like("scratch 2", pessimistic))
    high = _scaled_exp(optimistic, highest, room.like("scratch 3", optimistic))
    worst_sum = _sum_of_others(high, room.like("lower", high))
    worst_sum += low
    best_sum = _sum_of_others(low, room.like("upper", low))
    best_sum += high
    # Where all that counts is small, terms may have been lost. Elsewhere quotients of those are smaller still.
    lost = np.minimum(worst_sum.min(axis=0), low.max(axis=0)) < np.cbrt(np.finfo(low.dtype).tiny)
    lower, upper = np.divide(low, worst_sum, out=worst_sum), np.divide(high, best_sum, out=best_sum)
    if lost.any():
        lower[:, lost], upper[:, lost] = _bounds_by_logarithms(pessimistic[:, lost], optimistic[:, lost])
    return lower, upper


def _scaled_exp(columns: FloatArray, highest: FloatArray, out: FloatArray) -> FloatArray:
    """exp(columns - highest), or else the smallest number that is not slow to compute with."""
    np.subtract(columns, highest, out=out)
    np.maximum(out, np.log(np.finfo(out.dtype).tiny) + 1, out=out)
    return np.exp(out, out=out)


def _bounds_by_logarithms(pessimistic: Array, optimistic: Array) -> tuple[Array, Array]:
    """The same where exponentials underflow, and in libraries other than NumPy."""
    xp = namespace_of(optimistic)
    lower = xp.exp(log_expit(pessimistic - log_sum_of_others(optimistic)))
    upper = xp.exp(log_expit(optimistic - log_sum_of_others(pessimistic)))
    return lower, upper


def _sum_of_others(terms: FloatArray, out: FloatArray) -> FloatArray:
    """For each class the sum of numbers >= 0 over all *other* classes; without the largest, nothing cancels."""
    if len(terms) == 2:
        out[:] = terms[::-1]
        return out
    top, columns = argmax_of_rows(terms), np.arange(terms.shape[1])
    largest = terms[top, columns]
    out[:] = terms
    out[top, columns] = 0
    rest = out.sum(axis=0)
    np.subtract(rest + largest, out, out=out)
    out[top, columns] = rest
    return out


def non_dominated(pessimistic: Array, optimistic: Array) -> Array:
    """Classes whose best score is not below the worst score of another one, from log scores plus log priors."""
    return optimistic >= namespace_of(pessimistic).max(pessimistic, axis=0)

"""Posteriors from log scores of all classes: normalised, bounded over plausible moments, and the classes that remain.

Arrays have the shape (n_classes, n_samples) and may be of any library that follows the array API standard.
"""

import numpy as np

from ..numerics.arrays import Array, like, namespace_of


def normalise(columns: Array) -> Array:
    """Subtract the logarithm of the sum of exponentials, per sample."""
    xp = namespace_of(columns)
    shifted = columns - xp.max(columns, axis=0)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=0))


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


def posterior_bounds(pessimistic: Array, optimistic: Array) -> tuple[Array, Array]:
    """Smallest and largest posterior of each class, from log scores plus log priors.

    Exact, since the ambiguity sets of the classes vary independently: the smallest posterior of a class has its own
    score at its worst and all others at their best.
    """
    xp = namespace_of(optimistic)
    lower = xp.exp(log_expit(pessimistic - log_sum_of_others(optimistic)))
    upper = xp.exp(log_expit(optimistic - log_sum_of_others(pessimistic)))
    return lower, upper


def non_dominated(pessimistic: Array, optimistic: Array) -> Array:
    """Classes whose best score is not below the worst score of another one, from log scores plus log priors."""
    return optimistic >= namespace_of(pessimistic).max(pessimistic, axis=0)

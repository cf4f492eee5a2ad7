"""Decision rules: from log scores of all classes to offsets, decisions, probabilities, bounds and sets.

Arrays of scores have the shape (n_classes, n_samples) and may be of any library that follows the array API standard.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np

from ._typing import FloatArray
from .array_api import Array, is_numpy, like, namespace_of


class LogScores(NamedTuple):
    """Log scores per class and sample; the pessimistic ones only where a rule asks for them."""

    optimistic: Array
    pessimistic: Array | None = None


@dataclass(frozen=True)
class OffsetRule:
    """The class with the largest log f_c^max + offset_c (paper, Algorithm 1: offset_1 - offset_0 = -log tau)."""

    offsets: FloatArray
    needs_pessimistic: ClassVar[bool] = False

    def columns(self, scores: LogScores) -> Array:
        """Log f_c^max + offset_c."""
        return scores.optimistic + _column(self.offsets, scores)

    def margin(self, scores: LogScores) -> Array:
        """Log R - log tau."""
        log_tau = float(self.offsets[0] - self.offsets[1])
        return scores.optimistic[1, :] - scores.optimistic[0, :] - log_tau

    def log_proba(self, scores: LogScores) -> Array:
        """Normalised scores."""
        return normalise(self.columns(scores))


@dataclass(frozen=True)
class MinimaxRule:
    """The class whose smallest plausible posterior is largest; offsets are log priors.

    For two classes: class 1 iff the mean of log f_1^max and log f_1^min plus log pi_1 is at least that of class 0 (the
    paper's Proposition 1.1, whose threshold tau(x) needs the pessimistic scores).
    """

    offsets: FloatArray
    needs_pessimistic: ClassVar[bool] = True

    def columns(self, scores: LogScores) -> Array:
        """Log odds of the smallest plausible posterior of each class."""
        low, high = self._weighted(scores)
        return low - log_sum_of_others(high)

    def margin(self, scores: LogScores) -> Array:
        """Half the difference of the two log odds."""
        low, high = self._weighted(scores)
        return 0.5 * (low[1, :] - low[0, :] + high[1, :] - high[0, :])

    def log_proba(self, scores: LogScores) -> Array:
        """Two classes: the logistic function of the margin. More: smallest plausible posteriors, normalised."""
        if scores.optimistic.shape[0] == 2:
            half = 0.5 * self.margin(scores)
            return normalise(namespace_of(half).stack([-half, half]))
        return normalise(log_expit(self.columns(scores)))

    def _weighted(self, scores: LogScores) -> tuple[Array, Array]:
        assert scores.pessimistic is not None
        offsets = _column(self.offsets, scores)
        return scores.pessimistic + offsets, scores.optimistic + offsets


Rule: TypeAlias = OffsetRule | MinimaxRule


def decide(rule: Rule, scores: LogScores) -> Array:
    """The decided class of each sample; ties go to the second of two classes (the paper's R >= tau), else the first."""
    if scores.optimistic.shape[0] > 2:
        columns = rule.columns(scores)
        return namespace_of(columns).argmax(columns, axis=0)
    second = rule.margin(scores) >= 0
    # NumPy's truth values are small integers already: no copy is needed.
    return second.view(np.int8) if is_numpy(second) else namespace_of(second).astype(second, namespace_of(second).int64)


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


def _column(values: FloatArray, scores: LogScores) -> Array:
    """One number per class as a column that goes with scores."""
    return like(values, scores.optimistic, scores.optimistic.dtype)[:, None]

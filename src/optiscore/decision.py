"""Decision rules: from log scores of all classes to offsets, decisions, probabilities, bounds and sets.

Arrays of scores have the shape (n_classes, n_samples).
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.special import log_expit

from ._typing import BoolArray, FloatArray


class LogScores(NamedTuple):
    """Log scores per class and sample; the pessimistic ones only where a rule asks for them."""

    optimistic: FloatArray
    pessimistic: FloatArray | None = None


@dataclass(frozen=True)
class OffsetRule:
    """The class with the largest log f_c^max + offset_c (paper, Algorithm 1: offset_1 - offset_0 = -log tau)."""

    offsets: FloatArray
    needs_pessimistic: ClassVar[bool] = False

    def columns(self, scores: LogScores) -> FloatArray:
        """Log f_c^max + offset_c."""
        return scores.optimistic + self.offsets.astype(scores.optimistic.dtype)[:, None]

    def margin(self, scores: LogScores) -> FloatArray:
        """Log R - log tau."""
        log_tau = scores.optimistic.dtype.type(self.offsets[0] - self.offsets[1])
        return scores.optimistic[1] - scores.optimistic[0] - log_tau

    def log_proba(self, scores: LogScores) -> FloatArray:
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

    def columns(self, scores: LogScores) -> FloatArray:
        """Log odds of the smallest plausible posterior of each class."""
        low, high = self._weighted(scores)
        return low - log_sum_of_others(high)

    def margin(self, scores: LogScores) -> FloatArray:
        """Half the difference of the two log odds."""
        low, high = self._weighted(scores)
        return 0.5 * (low[1] - low[0] + high[1] - high[0])

    def log_proba(self, scores: LogScores) -> FloatArray:
        """Two classes: the logistic function of the margin. More: smallest plausible posteriors, normalised."""
        if len(scores.optimistic) == 2:
            half = 0.5 * self.margin(scores)
            return normalise(np.stack([-half, half]))
        return normalise(log_expit(self.columns(scores)))

    def _weighted(self, scores: LogScores) -> tuple[FloatArray, FloatArray]:
        assert scores.pessimistic is not None
        offsets = self.offsets.astype(scores.optimistic.dtype)[:, None]
        return scores.pessimistic + offsets, scores.optimistic + offsets


Rule: TypeAlias = OffsetRule | MinimaxRule


def decide(rule: Rule, scores: LogScores) -> np.ndarray:
    """The decided class of each sample; ties go to the second of two classes (the paper's R >= tau), else the first."""
    if len(scores.optimistic) == 2:
        return (rule.margin(scores) >= 0).view(np.int8)
    return rule.columns(scores).argmax(axis=0)


def normalise(columns: FloatArray) -> FloatArray:
    """Subtract the logarithm of the sum of exponentials, per sample."""
    shifted = columns - columns.max(axis=0)
    return shifted - np.log(np.exp(shifted).sum(axis=0))


def log_sum_of_others(columns: FloatArray) -> FloatArray:
    """For each class the log of the sum of exponentials over all *other* classes."""
    if len(columns) == 2:
        return columns[::-1]
    samples = np.arange(columns.shape[1])
    top = columns.argmax(axis=0)
    highest = columns[top, samples]
    others = columns.copy()
    others[top, samples] = -np.inf
    second = others.max(axis=0)
    # Leaving out a class below the top cancels nothing; leaving out the top leaves a sum of its own.
    terms = np.exp(columns - highest)
    result = highest + np.log(np.maximum(terms.sum(axis=0) - terms, 1.0))
    result[top, samples] = second + np.log(np.exp(others - second).sum(axis=0))
    return result


def posterior_bounds(pessimistic: FloatArray, optimistic: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest posterior of each class, from log scores plus log priors.

    Exact, since the ambiguity sets of the classes vary independently: the smallest posterior of a class has its own
    score at its worst and all others at their best.
    """
    lower = np.exp(log_expit(pessimistic - log_sum_of_others(optimistic)))
    upper = np.exp(log_expit(optimistic - log_sum_of_others(pessimistic)))
    return lower, upper


def non_dominated(pessimistic: FloatArray, optimistic: FloatArray) -> BoolArray:
    """Classes whose best score is not below the worst score of another one, from log scores plus log priors."""
    return optimistic >= pessimistic.max(axis=0)

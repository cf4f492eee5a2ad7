"""Decision rules: from log scores of all classes to decisions and probabilities; the parameter `decision_rule`.

Arrays of scores have the shape (n_classes, n_samples).
"""

from collections.abc import Sized
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..numerics.arrays import argmax_of_rows
from ..numerics.types import FloatArray
from ..trust.probabilities import normalise
from .log_scores import LogScores
from .posteriors import log_expit, log_sum_of_others, posterior_bounds

#: Rules whose offsets are the logarithms of the priors.
BY_PRIORS = ("prior", "minimax")


@dataclass(frozen=True)
class OffsetRule:
    """The class with the largest log f_c^max + offset_c (paper, Algorithm 1: offset_1 - offset_0 = -log tau)."""

    offsets: FloatArray
    needs_pessimistic: ClassVar[bool] = False

    def columns(self, scores: LogScores) -> FloatArray:
        """Return log f_c^max + offset_c."""
        return add_per_class(scores.optimistic, self.offsets)

    def choose(self, scores: LogScores) -> np.ndarray:
        """Return the first class with the largest column."""
        return argmax_of_rows(self.columns(scores))

    def margin(self, scores: LogScores) -> FloatArray:
        """Return log R - log tau."""
        log_tau = float(self.offsets[0] - self.offsets[1])
        return scores.optimistic[1] - scores.optimistic[0] - log_tau

    def log_proba(self, scores: LogScores) -> FloatArray:
        """Return normalised scores."""
        return normalise(self.columns(scores))


@dataclass(frozen=True)
class MinimaxRule:
    """The class whose smallest plausible posterior is largest; offsets are log priors."""

    offsets: FloatArray
    needs_pessimistic: ClassVar[bool] = True

    def columns(self, scores: LogScores) -> FloatArray:
        """Return log odds of the smallest plausible posterior of each class."""
        low, high = with_offsets(scores, self.offsets)
        return low - log_sum_of_others(high)

    def choose(self, scores: LogScores) -> np.ndarray:
        """Return the first class with the largest column.

        A class that is best and worst case ahead of all others is decided for without posteriors.
        """
        low, high = with_offsets(scores, self.offsets)
        chosen = argmax_of_rows(high)
        doubtful = np.flatnonzero(chosen != argmax_of_rows(low))
        if doubtful.size:
            lower, _ = posterior_bounds(low.take(doubtful, axis=1), high.take(doubtful, axis=1))
            chosen[doubtful] = lower.argmax(axis=0)
            # Where all of them underflow, their logarithms decide.
            faint = doubtful[lower.max(axis=0) < np.finfo(lower.dtype).tiny]
            chosen[faint] = (low[:, faint] - log_sum_of_others(high[:, faint])).argmax(axis=0)
        return chosen

    def margin(self, scores: LogScores) -> FloatArray:
        """Return half the difference of the two log odds."""
        low, high = with_offsets(scores, self.offsets)
        return 0.5 * (low[1] - low[0] + high[1] - high[0])

    def log_proba(self, scores: LogScores) -> FloatArray:
        """Return, of two classes, the logistic function of the margin; of more, smallest posteriors, normalised."""
        if len(scores.optimistic) == 2:
            half = 0.5 * self.margin(scores)
            return normalise(np.stack([-half, half]))
        return normalise(log_expit(self.columns(scores)))


Rule: TypeAlias = OffsetRule | MinimaxRule


def decide(rule: Rule, scores: LogScores) -> np.ndarray:
    """Return the decided class of each sample; ties go to the second of two (the paper's R >= tau), else the first."""
    if len(scores.optimistic) > 2:
        return rule.choose(scores)
    # NumPy's booleans are small integers already: no copy is needed.
    return (rule.margin(scores) >= 0).view(np.int8)


def given_offsets(decision_rule: Any, priors: FloatArray) -> FloatArray:
    """Return the offsets of a rule that is not tuned: the logarithms of the priors, or of given thresholds."""
    return np.log(priors) if kind_of(decision_rule) in BY_PRIORS else _offsets(decision_rule, len(priors))


def kind_of(decision_rule: Any) -> str:
    """Return the kind of rule that a parameter asks for: "prior", "minimax", or "offsets", which are tuned or given."""
    return decision_rule if isinstance(decision_rule, str) and decision_rule in BY_PRIORS else "offsets"


def make_rule(kind: str, offsets: FloatArray) -> Rule:
    """Return the rule of a kind."""
    if kind not in ("offsets", *BY_PRIORS):
        raise ValueError(f"decision_rule_ must be 'offsets', 'prior' or 'minimax', got {kind!r}.")
    return MinimaxRule(offsets) if kind == "minimax" else OffsetRule(offsets)


def check_decision_rule(decision_rule: Any) -> None:
    """Raise if it is neither the name of a rule nor positive numbers."""
    if not is_tuned(decision_rule) and kind_of(decision_rule) == "offsets":
        _offsets(decision_rule, max(2, len(decision_rule) if isinstance(decision_rule, Sized) else 1))


def is_tuned(decision_rule: Any) -> bool:
    """Return whether the rule depends on the scores of the training samples."""
    return isinstance(decision_rule, str) and decision_rule == "tuned"


def _offsets(decision_rule: Any, n_classes: int) -> FloatArray:
    """Return offsets -log tau_c for thresholds tau given by numbers; one number tau stands for (1, tau)."""
    message = "decision_rule must be 'tuned', 'prior', 'minimax', a positive number for two classes, or one per class"
    try:
        tau = np.asarray(decision_rule, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{message}; got {decision_rule!r}.") from None
    if tau.ndim == 0 and n_classes == 2:
        tau = np.array([1.0, float(tau)])
    if not (np.isfinite(tau).all() and (tau > 0).all()):
        raise ValueError(f"{message}; got {decision_rule!r}.")
    if tau.shape != (n_classes,):
        raise ValueError(f"{message}; got {decision_rule!r} for {n_classes} classes.")
    return -np.log(tau)


def with_offsets(scores: LogScores, offsets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return worst and best log scores plus a number per class."""
    return add_per_class(scores.pessimistic, offsets), add_per_class(scores.optimistic, offsets)


def add_per_class(columns: FloatArray, values: FloatArray) -> FloatArray:
    """Return columns plus a number per class, in the type of the columns."""
    return columns + values.astype(columns.dtype, copy=False)[:, None]

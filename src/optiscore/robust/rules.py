"""Decision rules: from log scores of all classes to decisions and probabilities; the parameter `decision_rule`.

Arrays of scores have the shape (n_classes, n_samples) and may be of any library that follows the array API standard.
"""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ..numerics.arrays import Array, argmax_of_rows, is_numpy, like, namespace_of
from ..numerics.types import FloatArray
from ..numerics.workspace import FRESH, Workspace
from ..trust.probabilities import normalise
from .log_scores import LogScores
from .posteriors import log_expit, log_sum_of_others, posterior_bounds

# Below this many scores, fewer operations are faster than short ones.
_FEW = 1_000

#: Rules whose offsets are the logarithms of the priors.
BY_PRIORS = ("prior", "minimax")


@dataclass(frozen=True)
class OffsetRule:
    """The class with the largest log f_c^max + offset_c (paper, Algorithm 1: offset_1 - offset_0 = -log tau)."""

    offsets: FloatArray
    needs_pessimistic: ClassVar[bool] = False

    def columns(self, scores: LogScores) -> Array:
        """Log f_c^max + offset_c."""
        return add_per_class(scores.optimistic, self.offsets)

    def choose(self, scores: LogScores) -> Array:
        """The first class with the largest column."""
        return argmax_of_rows(add_per_class(scores.optimistic, self.offsets, scores.room, "scratch 0"))

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

    def choose(self, scores: LogScores) -> Array:
        """The first class with the largest column.

        A class other than the one with the best optimistic score can only win if its pessimistic score is not smaller
        than that one's: its own rivals together are the stronger ones. Most samples are decided by that.
        """
        low, high = self._weighted(scores)
        if not is_numpy(high) or high.size < _FEW:
            return argmax_of_rows(low - log_sum_of_others(high))
        chosen = argmax_of_rows(high)
        doubtful = np.flatnonzero(chosen != argmax_of_rows(low))
        if doubtful.size:
            lower, _ = posterior_bounds(low.take(doubtful, axis=1), high.take(doubtful, axis=1), scores.room)
            chosen[doubtful] = argmax_of_rows(lower)
            # Where all of them underflow, their logarithms decide.
            faint = doubtful[lower.max(axis=0) < np.finfo(lower.dtype).tiny]
            chosen[faint] = argmax_of_rows(low[:, faint] - log_sum_of_others(high[:, faint]))
        return chosen

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
        return weigh(scores, self.offsets)


Rule: TypeAlias = OffsetRule | MinimaxRule


def decide(rule: Rule, scores: LogScores) -> Array:
    """The decided class of each sample; ties go to the second of two classes (the paper's R >= tau), else the first."""
    if scores.optimistic.shape[0] > 2:
        return rule.choose(scores)
    second = rule.margin(scores) >= 0
    # NumPy's booleans are small integers already: no copy is needed.
    return second.view(np.int8) if is_numpy(second) else namespace_of(second).astype(second, namespace_of(second).int64)


def choose_offsets(decision_rule: Any, priors: FloatArray, tune: Callable[[], FloatArray] | None) -> FloatArray:
    """Offsets for a parameter `decision_rule`; tuned ones are asked for only if it is tuned."""
    if is_tuned(decision_rule):
        assert tune is not None
        return tune()
    if kind_of(decision_rule) in BY_PRIORS:
        return np.log(priors)
    return _offsets(decision_rule, len(priors))


def kind_of(decision_rule: Any) -> str:
    """The kind of rule that a parameter asks for: "prior", "minimax", or "offsets", which are tuned or given."""
    return decision_rule if isinstance(decision_rule, str) and decision_rule in BY_PRIORS else "offsets"


def make_rule(kind: str, offsets: FloatArray) -> Rule:
    """The rule of a kind."""
    return MinimaxRule(offsets) if kind == "minimax" else OffsetRule(offsets)


def check_decision_rule(decision_rule: Any) -> None:
    """Refuse what is neither the name of a rule nor positive numbers."""
    if not is_tuned(decision_rule) and kind_of(decision_rule) == "offsets":
        _offsets(decision_rule, max(2, len(decision_rule) if isinstance(decision_rule, Sized) else 1))


def is_tuned(decision_rule: Any) -> bool:
    """Whether the rule depends on the scores of the training samples."""
    return isinstance(decision_rule, str) and decision_rule == "tuned"


def _offsets(decision_rule: Any, n_classes: int) -> FloatArray:
    """Offsets -log tau_c for thresholds tau given by numbers; one number tau stands for (1, tau)."""
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


def weigh(scores: LogScores, offsets: FloatArray) -> tuple[Array, Array]:
    """Worst and best log scores plus a number per class, in the scores' workspace."""
    low = add_per_class(scores.pessimistic, offsets, scores.room, "weighed pessimistic")
    return low, add_per_class(scores.optimistic, offsets, scores.room, "weighed optimistic")


def add_per_class(columns: Array, values: FloatArray, room: Workspace = FRESH, name: str = "columns") -> Array:
    """Columns plus a number per class, in a workspace's array where they are NumPy's."""
    column = like(values, columns, columns.dtype)[:, None]
    return np.add(columns, column, out=room.like(name, columns)) if is_numpy(columns) else columns + column

"""Cross-validation of all candidates at once: moments and distances once per fold, every radius a look-up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..estimators.validation import resolve_priors
from ..metrics import mean_log_loss
from ..moments.estimates import own_estimates, shared_estimate
from ..moments.labelled import TrainingSet
from ..numerics.blocks import map_blocks
from ..numerics.distances import ClassDistances
from ..numerics.types import FloatArray
from .candidates import Candidate, Candidates, RadiusGrid
from .log_scores import LogScores, NominalMoments, pool_moments
from .rules import Rule, decide, given_offsets, is_tuned, kind_of, make_rule
from .scores.registry import Likelihood, Side
from .tuning import tuned_offsets


@dataclass(frozen=True)
class Fold:
    """One split of so many samples, with the parameters that all candidates have in common."""

    training: TrainingSet
    test: TrainingSet
    training_rows: np.ndarray
    test_rows: np.ndarray
    n_samples: int
    test_weight: FloatArray | None
    decision_rule: Any
    priors: Any
    covariance_estimator: Any

    @property
    def n_tuned(self) -> int:
        """Number of training samples whose scores decide on the offsets."""
        return len(self.training.X) if is_tuned(self.decision_rule) else 0


class FoldCandidate(NamedTuple):
    """One candidate after training on a fold, and its log scores of the fold's test samples."""

    fold: Fold
    candidate: Candidate
    rule: Rule
    scores: LogScores


#: What a trial is judged by; larger is better.
Criterion: TypeAlias = Callable[[FoldCandidate], float]


def accuracy(trial: FoldCandidate) -> float:
    """Fraction of the test samples that are classified right."""
    right = decide(trial.rule, trial.scores) == trial.fold.test.codes
    weight = trial.fold.test_weight
    return np.count_nonzero(right) / right.size if weight is None else float(np.average(right, weights=weight))


def negative_log_loss(trial: FoldCandidate) -> float:
    """Mean log probability of the true classes, as scikit-learn's scorer has it.

    With two classes that takes the first one's probability as 1 minus the second one's, and so do we.
    """
    proba = np.exp(trial.rule.log_proba(trial.scores))
    if len(proba) == 2:
        proba[0] = 1 - proba[1]
    return -mean_log_loss(proba.T, trial.fold.test.codes, trial.fold.test_weight)


class FoldScores(NamedTuple):
    """The criterion of every candidate on a fold, NaN where a class has no moments, and why."""

    scores: FloatArray
    errors: list[str]


def evaluate_fold(
    fold: Fold, candidates: Candidates, criterion: Criterion, advance: Callable[[int], None]
) -> FoldScores:
    """Return the criterion of every candidate."""
    _check_fold(fold)
    classes = fold.training.by_class()
    class_count = np.array([known.sums.weight_sum for known in classes])
    priors = resolve_priors(fold.priors, fold.training.labels.tolist(), class_count)
    own = own_estimates(classes, fold.covariance_estimator)
    pools = any(candidates.poolings)
    shared = shared_estimate(classes, priors, fold.covariance_estimator) if pools else None
    results = np.full((len(candidates.likelihoods), len(candidates.poolings), len(candidates.grid.vectors)), np.nan)
    errors = []
    for p, pooling in enumerate(candidates.poolings):
        try:
            moments = pool_moments(own, shared if pooling else None, pooling)
        except ValueError as error:
            errors.append(str(error))
            advance(results[:, p].size)
            continue
        alpha = _squared_distances(fold, moments)
        for k, likelihood in enumerate(candidates.likelihoods):
            log_scores = _ScoresByRadii(fold, likelihood, moments, alpha, candidates.grid)
            for v, radii in enumerate(candidates.grid.vectors):
                rule, test_scores = _decide_by(fold, priors, log_scores.at(radii))
                candidate = Candidate(likelihood, pooling, radii)
                results[k, p, v] = criterion(FoldCandidate(fold, candidate, rule, test_scores))
                advance(1)
    return FoldScores(results.ravel(), errors)


def _check_fold(fold: Fold) -> None:
    labels, codes = fold.training.labels, fold.training.codes
    if absent := sorted(set(range(len(labels))) - set(codes.tolist())):
        raise ValueError(
            f"a fold has no training samples of class {str(labels[absent[0]])!r}. Each class needs samples in the "
            f"training part of every fold: gather more of that class, or choose another cv."
        )
    if not len(fold.test_rows) or (fold.test_weight is not None and not fold.test_weight.any()):
        raise ValueError("a fold has no test samples of positive weight. Take fewer folds or another splitter.")


def _squared_distances(fold: Fold, moments: NominalMoments) -> FloatArray:
    """Squared distances (n_classes, n) of the training samples, if the offsets are tuned, and of the test samples."""
    whiteners = np.stack([factor.whitener for factor in moments.factors])
    distances, n_classes = ClassDistances(moments.means, whiteners), len(moments.means)
    parts = [fold.training.X, fold.test.X] if fold.n_tuned else [fold.test.X]
    return np.concatenate([map_blocks(distances, X, width=n_classes) for X in parts], axis=1)


def _decide_by(fold: Fold, priors: FloatArray, scores: LogScores) -> tuple[Rule, LogScores]:
    """The decision rule that the training samples lead to, and the log scores of the test samples."""
    training, n_tuned = fold.training, fold.n_tuned
    if n_tuned:
        offsets = tuned_offsets(scores.optimistic[:, :n_tuned], training.codes, priors, training.weight)
    else:
        offsets = given_offsets(fold.decision_rule, priors)
    test_scores = LogScores(*(part[:, n_tuned:] for part in scores))
    return make_rule(kind_of(fold.decision_rule), offsets), test_scores


class _ScoresByRadii:
    """Log scores of the samples of a fold at one vector of radii after the other.

    A row of scores is a lookup, and is made anew only where the radius of its class changes. Where each class has an
    axis of its own, the last one meets its radii again and again: all of its rows are kept, of the others the latest.
    """

    def __init__(
        self,
        fold: Fold,
        likelihood: Likelihood,
        moments: NominalMoments,
        alpha: FloatArray,
        grid: RadiusGrid,
    ) -> None:
        self._likelihood, self._alpha = likelihood, alpha
        self._n_features = moments.means.shape[1]
        self._volumes = [alpha.dtype.type(likelihood.log_volume(factor.logdet)) for factor in moments.factors]
        self._keeps_last, self._with_worst = grid.is_product, kind_of(fold.decision_rule) == "minimax"
        self._rows: dict[tuple[Side, int], dict[float, FloatArray]] = {}

    def at(self, radii: FloatArray) -> LogScores:
        """Log scores of shape (n_classes, n_samples)."""
        best = self._side("optimistic", radii)
        return LogScores(best, self._side("pessimistic", radii) if self._with_worst else best, self._alpha)

    def _side(self, side: Side, radii: FloatArray) -> FloatArray:
        return np.stack([self._row(side, c, radius) for c, radius in enumerate(radii.tolist())])

    def _row(self, side: Side, c: int, radius: float) -> FloatArray:
        known = self._rows.setdefault((side, c), {})
        if radius not in known:
            if not (self._keeps_last and c == len(self._alpha) - 1):
                known.clear()
            known[radius] = self._compute(side, c, radius)
        return known[radius]

    def _compute(self, side: Side, c: int, radius: float) -> FloatArray:
        alpha = self._alpha[c]
        extreme = self._likelihood.at(side, radius, self._n_features)
        return extreme.tabulate(dtype=alpha.dtype.type)(alpha) + self._volumes[c]

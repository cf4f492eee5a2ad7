"""Cross-validation of all candidates at once: moments and distances once per fold, every radius a lookup."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._typing import FloatArray
from .candidates import Candidate, Candidates, RadiusGrid
from .decision import LogScores, Rule, decide
from .distances import ClassDistances
from .metrics import mean_log_loss
from .model import log_score_curve
from .nominal import NominalMoments, own_moments, pool_moments
from .scores import Score, Side
from .settings import check_priors
from .thresholds import choose_rule, is_minimax, is_tuned
from .training_set import TrainingSet
from .tuning import tuned_offsets


@dataclass(frozen=True)
class Fold:
    """One split of the samples, with the parameters that all candidates share."""

    training: TrainingSet
    test: TrainingSet
    test_rows: np.ndarray
    test_weight: FloatArray | None
    threshold: Any
    priors: ArrayLike | None
    covariance_estimator: Any

    @property
    def n_tuned(self) -> int:
        """Number of training samples whose scores decide on the threshold."""
        return len(self.training.X) if is_tuned(self.threshold) else 0


class Trial(NamedTuple):
    """One candidate after training on a fold, and its log scores of the fold's test samples."""

    fold: Fold
    candidate: Candidate
    priors: FloatArray
    moments: NominalMoments
    rule: Rule
    scores: LogScores


#: What a trial is judged by; larger is better.
Criterion: TypeAlias = Callable[[Trial], float]


def accuracy(trial: Trial) -> float:
    """Share of the test samples that are classified right."""
    right = decide(trial.rule, trial.scores) == trial.fold.test.codes
    weight = trial.fold.test_weight
    return np.count_nonzero(right) / right.size if weight is None else float(np.average(right, weights=weight))


def negative_log_loss(trial: Trial) -> float:
    """Mean log probability of the true classes, as scikit-learn's scorer has it.

    With two classes that takes the first one's probability as 1 minus the second one's, and so do we.
    """
    proba = np.exp(trial.rule.log_proba(trial.scores))
    if len(proba) == 2:
        proba[0] = 1 - proba[1]
    return -mean_log_loss(proba, trial.fold.test.codes, trial.fold.test_weight)


class FoldScores(NamedTuple):
    """The criterion of every candidate on a fold, NaN where a class has no moments, and why."""

    scores: FloatArray
    errors: list[str]


def evaluate_fold(
    fold: Fold, candidates: Candidates, criterion: Criterion, n_uses: int, advance: Callable[[int], None]
) -> FoldScores:
    """The criterion of every candidate; ``n_uses`` tells for how many samples a curve of scores will be used in all."""
    _check_fold(fold)
    classes = fold.training.by_class()
    priors = check_priors(fold.priors, classes)
    own = own_moments(classes, fold.covariance_estimator)
    results = np.full((len(candidates.scores), len(candidates.poolings), len(candidates.grid.vectors)), np.nan)
    errors = []
    for p, pooling in enumerate(candidates.poolings):
        try:
            moments = pool_moments(classes, *own, priors, pooling)
        except ValueError as error:
            errors.append(str(error))
            advance(results[:, p].size)
            continue
        alpha = _squared_distances(fold, moments)
        for s, score in enumerate(candidates.scores):
            for v, scores in enumerate(_walk(fold, score, moments, alpha, candidates.grid, n_uses)):
                rule, test_scores = _decide_by(fold, priors, scores)
                candidate = Candidate(score, pooling, candidates.grid.vectors[v])
                results[s, p, v] = criterion(Trial(fold, candidate, priors, moments, rule, test_scores))
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
    """Squared distances (n_classes, n) of the training samples, if the threshold is tuned, and of the test samples."""
    distances = ClassDistances(moments.means, moments.factors)
    alpha = np.empty((len(moments.means), fold.n_tuned + len(fold.test.X)), dtype=fold.test.X.dtype)
    if fold.n_tuned:
        distances.fill(fold.training.X, alpha[:, : fold.n_tuned])
    distances.fill(fold.test.X, alpha[:, fold.n_tuned :])
    return alpha


def _decide_by(fold: Fold, priors: FloatArray, scores: LogScores) -> tuple[Rule, LogScores]:
    """The decision rule that the training samples lead to, and the log scores of the test samples."""
    training, n_tuned = fold.training, fold.n_tuned

    def tune() -> FloatArray:
        return tuned_offsets(scores.optimistic[:, :n_tuned], training.codes, priors, training.weight)

    rule = choose_rule(fold.threshold, priors, tune)
    low = scores.pessimistic
    return rule, LogScores(scores.optimistic[:, n_tuned:], None if low is None else low[:, n_tuned:])


def _walk(
    fold: Fold, score: Score, moments: NominalMoments, alpha: FloatArray, grid: RadiusGrid, n_uses: int
) -> Iterator[LogScores]:
    """Log scores at one vector of radii after the other, in arrays that the next step overwrites."""
    volumes = np.array([score.log_volume(factor.logdet) for factor in moments.factors], dtype=alpha.dtype)
    n_features = moments.means.shape[1]

    def rows_of(side: Side) -> _Rows:
        def compute(c: int, radius: float) -> FloatArray:
            curve = log_score_curve(score, side, radius, n_features, n_uses, alpha.dtype.type)
            row = curve(alpha[c])
            row += volumes[c]
            return row

        return _Rows(np.empty_like(alpha), compute, keeps_last=grid.is_product)

    best = rows_of("optimistic")
    worst = rows_of("pessimistic") if is_minimax(fold.threshold) else None
    for radii in grid.vectors:
        yield LogScores(best.at(radii), None if worst is None else worst.at(radii))


class _Rows:
    """Log scores (n_classes, n) whose rows are made anew only where the radius of the class changes.

    Where each class has an axis of its own, the last one meets its radii again and again: those rows are kept.
    """

    def __init__(self, values: FloatArray, compute: Callable[[int, float], FloatArray], *, keeps_last: bool) -> None:
        self._values, self._compute = values, compute
        self._radii: FloatArray = np.full(len(values), np.nan)
        self._kept: dict[float, FloatArray] | None = {} if keeps_last else None

    def at(self, radii: FloatArray) -> FloatArray:
        for c in np.flatnonzero(radii != self._radii):
            self._values[c] = self._row(int(c), float(radii[c]))
        self._radii = radii
        return self._values

    def _row(self, c: int, radius: float) -> FloatArray:
        if self._kept is None or c < len(self._values) - 1:
            return self._compute(c, radius)
        if radius not in self._kept:
            self._kept[radius] = self._compute(c, radius)
        return self._kept[radius]

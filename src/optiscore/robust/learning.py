"""From what is known of each class to the model of the paper's classifier: moments, radii, scores, offsets, results."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..estimators.validation import resolve_priors
from ..moments.estimates import own_estimates, shared_estimate
from ..moments.labelled import ClassData, TrainingSet
from ..numerics.arrays import Array, in_place, like, take_rows
from ..numerics.blocks import map_blocks
from ..numerics.types import FloatArray
from .log_scores import LogScores, NominalMoments, ScoreModel, pool_moments
from .radii import choose_radii
from .rules import Rule, decide, kind_of, make_rule
from .scores.registry import Likelihood, LikelihoodName, get_likelihood, name_of
from .tuning import representatives, tuned_offsets


class FittedModel(NamedTuple):
    """Scores, rule and log priors that predict, on the host."""

    scores: ScoreModel
    rule: Rule
    log_priors: FloatArray

    @property
    def cost(self) -> tuple[int, int]:
        """Numbers per sample that predictions work with, and operations."""
        return self.scores.cost

    def log_scores(self, samples: Array, *, both: bool = False) -> LogScores:
        """Return log scores of a block of samples; the worst ones where they are asked for, or the rule needs them."""
        return self.scores(samples, both=both or self.rule.needs_pessimistic)

    def log_proba(self, samples: Array) -> FloatArray:
        """Return log probabilities (n_classes, n_samples)."""
        return self.rule.log_proba(self.log_scores(samples))


class ScoredClasses(NamedTuple):
    """Sizes, probabilities and nominal moments of the classes, and the scores that these and the radii make."""

    class_count: FloatArray
    priors: FloatArray
    moments: NominalMoments
    scores: ScoreModel

    def results(self, labels: np.ndarray, decision_rule: Any, offsets: FloatArray, samples: Array) -> dict[str, Any]:
        """Return fitted attributes by name; arrays go where samples are, or stay on the host where these are None."""
        kind = kind_of(decision_rule)
        arrays = {
            "class_count_": self.class_count,
            "priors_": self.priors,
            "means_": self.moments.means,
            "covariances_": self.moments.covariances,
            "radii_": self.scores.radii,
            "offsets_": offsets,
        }
        if samples is not None:
            arrays = {name: like(values, samples) for name, values in arrays.items()}
        return {
            "classes_": labels,
            **arrays,
            "likelihood_": name_of(self.scores.likelihood),
            "decision_rule_": kind,
            "_model": FittedModel(self.scores, make_rule(kind, offsets), np.log(self.priors)),
        }


def score_classes(
    classes: Sequence[ClassData],
    *,
    likelihood: LikelihoodName | Likelihood,
    radius: Any,
    quantile: float,
    priors: Any,
    covariance_estimator: Any,
    pooling: float,
) -> ScoredClasses:
    """Return scores under all classes; parameters are those of the classifier."""
    class_count = np.array([known.sums.weight_sum for known in classes])
    resolved = resolve_priors(priors, [known.label for known in classes], class_count)
    own = own_estimates(classes, covariance_estimator)
    shared = shared_estimate(classes, resolved, covariance_estimator) if pooling else None
    moments = pool_moments(own, shared, float(pooling))
    radii = choose_radii(radius, quantile, classes, moments)
    return ScoredClasses(class_count, resolved, moments, ScoreModel(get_likelihood(likelihood), moments, radii))


def tune(known: ScoredClasses, training: TrainingSet) -> FloatArray:
    """Return offsets tuned to training samples: of more than two classes, to some of very many."""
    X, codes, weight = training.X, training.codes, training.weight
    if len(known.priors) > 2:
        rows, weight = representatives(codes, len(known.priors), weight)
        if len(rows) < len(codes):
            X, codes = take_rows(X, rows), codes[rows]
    return tuned_offsets(known.scores.of_training(in_place(X)), codes, known.priors, weight)


def warn_if_one_class_wins(model: FittedModel, training: TrainingSet) -> None:
    """Warn if scores that are weighed by the priors let one class win everywhere, as the one of a larger radius may."""
    width, operations = model.cost
    # The means are few: where two classes win at these, there is no need to ask all samples.
    for X in (model.scores.distances.means, training.X):
        decided = map_blocks(
            lambda block: decide(model.rule, model.log_scores(block)), in_place(X), width=width, operations=operations
        )
        if len(won := np.unique(decided)) > 1:
            return
    warnings.warn(
        f"decision_rule='prior' gives all training samples to class {training.labels[int(won[0])].item()!r}, since "
        f"scores grow with the radius of their class. Use decision_rule='minimax' or 'tuned', or a smaller radius.",
        UserWarning,
        stacklevel=3,
    )

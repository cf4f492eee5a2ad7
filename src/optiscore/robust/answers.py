"""Answers of a fitted classifier by scores: labels, probabilities, bounds, certificates."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import __version__ as sklearn_version
from sklearn.utils.validation import validate_data

from ..estimators.answer_table import AnswerTable, label_sets
from ..estimators.answers import Answers
from ..estimators.validation import resolve_priors
from ..moments.factors import factorise
from ..numerics.arrays import (
    Array,
    check_same_namespace,
    float_types,
    has_dispatch,
    in_place,
    like,
    to_host_always,
)
from ..numerics.blocks import map_blocks
from ..numerics.types import BoolArray, FloatArray
from .certified_factor import largest_certified_factor
from .learning import FittedModel
from .log_scores import LogScores, NominalMoments, ScoreModel
from .posteriors import non_dominated, posterior_bounds
from .radii import given_radii
from .rules import BY_PRIORS, decide, make_rule, with_offsets
from .scores.registry import get_likelihood

# Kinds of labels that every library has.
_NUMBERS = "biuf"

# Before 1.7 scikit-learn's checks asked for labels on the samples' device, where text cannot be.
_CHECKS_ARRAY_LIBRARIES = tuple(map(int, sklearn_version.split(".")[:2])) >= (1, 7)


class Assessment(NamedTuple):
    """Indices of the predicted classes, probabilities, their bounds, undominated classes, and certified factors."""

    predicted: np.ndarray
    proba: FloatArray
    lower: FloatArray
    upper: FloatArray
    undominated: BoolArray
    certified_factor: FloatArray


class WorstCaseAnswers(Answers):
    """Answers of a classifier whose moments, radii and offsets are known."""

    classes_: np.ndarray
    class_count_: FloatArray
    priors_: FloatArray
    means_: FloatArray
    covariances_: FloatArray
    radii_: FloatArray
    offsets_: FloatArray
    likelihood_: Any
    decision_rule_: str
    _model: FittedModel

    def _build(self) -> FittedModel:
        means, covariances, radii, offsets, priors = map(
            to_host_always, (self.means_, self.covariances_, self.radii_, self.offsets_, self.priors_)
        )
        factors = [factorise(S, f"covariances_[{c}]") for c, S in enumerate(covariances)]
        scores = ScoreModel(get_likelihood(self.likelihood_), NominalMoments(means, covariances, factors), radii)
        return FittedModel(scores, make_rule(self.decision_rule_, offsets), np.log(priors))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = has_dispatch and _CHECKS_ARRAY_LIBRARIES
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "means_")

    def with_priors(self, priors: Any) -> Self:
        """Return a fitted copy for other class probabilities.

        Parameters
        ----------
        priors : array-like of shape (n_classes,), dict or "equal"
            Class probabilities in the order of `classes_`, by label, or all the same. None takes the fractions of the
            training samples.

        Returns
        -------
        OptimisticScoreClassifier
            Offsets that were tuned or given move by the logarithms of the ratios of new and old probabilities.

        Examples
        --------
        >>> from optiscore import OptimisticScoreClassifier
        >>> model = OptimisticScoreClassifier(decision_rule="prior").fit([[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1])
        >>> model.with_priors({0: 0.9, 1: 0.1}).predict([[1.7]]), model.predict([[1.7]])
        (array([0]), array([1]))
        """
        self._check_fitted()
        count, old, offsets = map(to_host_always, (self.class_count_, self.priors_, self.offsets_))
        new = resolve_priors(priors, self.classes_.tolist(), count)
        offsets = np.log(new) if self.decision_rule_ in BY_PRIORS else offsets + np.log(new / old)
        return self._copy_with(priors_=like(new, self.priors_), offsets_=like(offsets, self.priors_))

    def with_radii(self, radii: Any) -> Self:
        """Return a fitted copy for other radii.

        Parameters
        ----------
        radii : float, array-like of shape (n_classes,) or dict
            One radius for all classes, one for each in the order of `classes_`, or by label. Tuned offsets stay.

        Returns
        -------
        OptimisticScoreClassifier

        Examples
        --------
        >>> from optiscore import OptimisticScoreClassifier
        >>> model = OptimisticScoreClassifier(decision_rule="prior").fit([[0.0], [1.0], [2.0], [3.5]], [0, 0, 1, 1])
        >>> lower, upper = model.with_radii(0).predict_proba_bounds([[1.0]])
        >>> bool((lower == upper).all())
        True
        """
        self._check_fitted()
        checked = given_radii(radii, self.classes_.tolist())
        return self._copy_with(radii_=like(checked, self.radii_))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return what the decisions are taken by: the largest column, or the sign where there are two classes.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: log R - log tau, and for "minimax" half the difference of the log odds below; >= 0 is the
            second class. More: log score plus offset per class, and for "minimax" the log odds of each class's
            smallest plausible posterior.
        """

        def decision(samples: Array) -> FloatArray:
            scores, rule = self._model.log_scores(samples), self._model.rule
            return rule.margin(scores) if len(scores.alpha) == 2 else rule.columns(scores)

        return self._map(X, decision, "decision_function")

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Return probabilities of the classes, the largest being that of the predicted one.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Optimistic scores times the exponential of the offsets, normalised. For "minimax" the logistic function of
            `decision_function` with two classes, and the smallest plausible posteriors, normalised, with more. At
            radius 0 with "prior" or "minimax" these are the posteriors themselves.
        """
        return super().predict_proba(X)

    def log_score_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the worst and the best plausible log score of each sample under each class.

        Returns
        -------
        pessimistic, optimistic : ndarray of shape (n_samples, n_classes)
            Natural logarithms of densities (or of probabilities, for the nonparametric score).
        """

        def bounds(samples: Array) -> tuple[FloatArray, FloatArray]:
            scores = self._model.log_scores(samples, both=True)
            return scores.pessimistic, scores.optimistic

        return self._map(X, bounds, "log_score_bounds")

    def predict_proba_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest posterior of each class over all plausible moments, for `priors_`.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes)
            Both are attained by some moments in the ambiguity sets.
        """

        def bounds(samples: Array) -> tuple[FloatArray, FloatArray]:
            return posterior_bounds(*with_offsets(self._model.log_scores(samples, both=True), self._model.log_priors))

        return self._map(X, bounds, "predict_proba_bounds")

    def undominated(self, X: ArrayLike) -> BoolArray:
        """Return the classes that no other class dominates under all plausible moments, for the priors `priors_`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) of bool
            True for the classes that remain; a row with one True is a certified decision.
        """

        def undominated(samples: Array) -> BoolArray:
            return non_dominated(*with_offsets(self._model.log_scores(samples, both=True), self._model.log_priors))

        return self._map(X, undominated, "undominated")

    def certified_factor(self, X: ArrayLike) -> FloatArray:
        """Return the largest factor on all radii under which the predicted label stays certified.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 1 on, the decision is certified at the fitted radii: no plausible moments change the most probable
            class (for the priors `priors_`). 0 where the nominal posterior already disagrees with `predict`, infinity
            where the label is certified whatever the factor (always so at radius 0).
        """

        def factor(samples: Array) -> FloatArray:
            return _certified_factor(self._model, self._model.log_scores(samples))

        return self._map(X, factor, "certified_factor")

    def assess(self, X: ArrayLike) -> Assessment:
        """Return all answers to samples from one pass over their distances.

        Returns
        -------
        Assessment
            A named tuple: indices into `classes_` of what `predict` says, and what `predict_proba`,
            `predict_proba_bounds` (two arrays), `undominated` and `certified_factor` say.
        """

        def everything(samples: Array) -> tuple[np.ndarray, ...]:
            model = self._model
            scores = model.log_scores(samples, both=True)
            weighted = with_offsets(scores, model.log_priors)
            return (
                decide(model.rule, scores).astype(np.intp),
                np.exp(model.rule.log_proba(scores)),
                *posterior_bounds(*weighted),
                non_dominated(*weighted),
                _certified_factor(model, scores),
            )

        return Assessment(*self._map(X, everything, "assess"))

    def answers(self, X: ArrayLike) -> AnswerTable:
        """Return everything that is said of samples, as one table.

        Returns
        -------
        AnswerTable
            "label", "probability" of it, "low" and "high" (`predict_proba_bounds`), "set" (tuples of labels,
            `undominated`), "certified factor", "abstain" where this is below 1, and "why".
        """
        said, rows = self.assess(X), np.arange(len(np.asarray(X)))
        labels, predicted = to_host_always(self.classes_), to_host_always(said.predicted)
        proba, low, high = (to_host_always(each)[rows, predicted] for each in (said.proba, said.lower, said.upper))
        sets = label_sets(labels, to_host_always(said.undominated))
        factor = to_host_always(said.certified_factor)
        why = np.where(factor < 1, "other moments give another label", "")
        columns = {"label": labels.take(predicted), "probability": proba, "low": low, "high": high, "set": sets}
        columns |= {"certified factor": factor, "abstain": factor < 1, "why": why}
        return AnswerTable(columns, "Decided where no moments within the radii give another label.")

    def _map(self, X: ArrayLike, function: Callable[[Array], Any], method: str = "predict") -> Any:
        """Return a function of blocks of samples for all of them, numbers where the samples are."""
        if "_model" not in vars(self):
            self._check_fitted()
        check_same_namespace(X, self, attribute="means_", method=method)
        samples = validate_data(self, X, dtype=float_types(X), reset=False)
        width, operations = self._model.cost
        found = map_blocks(function, in_place(samples), width=width, operations=operations)
        if isinstance(found, tuple):
            return tuple(like(part.T, samples) for part in found)
        return like(found.T, samples) if found.dtype.kind in _NUMBERS else found

    def _decide(self, samples: Array) -> np.ndarray:
        return to_host_always(self.classes_).take(decide(self._model.rule, self._model.log_scores(samples)))


def _certified_factor(model: FittedModel, scores: LogScores) -> FloatArray:
    with np.errstate(over="ignore"):
        factors = largest_certified_factor(model.scores, scores, decide(model.rule, scores), model.log_priors)
        return factors.astype(scores.alpha.dtype, copy=False)

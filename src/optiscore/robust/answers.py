"""What every fitted classifier says of samples: labels, probabilities, bounds, sets and certificates."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import __version__ as sklearn_version
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import validate_data

from ..estimators.results import PublicState
from ..numerics.arrays import (
    Array,
    check_same_namespace,
    float_types,
    has_dispatch,
    in_place,
    is_numpy,
    like,
    namespace_of,
    read_only,
    to_host,
    to_host_always,
)
from ..numerics.types import BoolArray, FloatArray
from .certified_factor import largest_certified_factor
from .fitted import ATTRIBUTES, FittedModel, fitted_model
from .log_scores import LogScores, ScoreModel
from .posteriors import non_dominated, posterior_bounds
from .rules import BY_PRIORS, decide, kind_of, make_rule, weigh
from .scores.registry import name_of

# Kinds of labels that every library has.
_NUMBERS = "biuf"

# Before 1.7 scikit-learn's checks asked for labels on the samples' device, where text cannot be.
_CHECKS_ARRAY_LIBRARIES = tuple(map(int, sklearn_version.split(".")[:2])) >= (1, 7)


# scikit-learn has no types: its classes are Any to the type checker.
class BaseScoreClassifier(ClassifierMixin, PublicState):  # type: ignore[misc]
    """Everything that classifiers by scores have in common once they are fitted.

    `_model` is the `FittedModel` behind the public attributes.
    """

    _attributes: ClassVar[tuple[str, ...]] = ATTRIBUTES
    _other_arrays: ClassVar[tuple[str, ...]] = ("class_count_",)

    classes_: np.ndarray
    priors_: FloatArray
    means_: FloatArray
    covariances_: FloatArray
    radii_: FloatArray
    likelihood_: Any
    decision_rule_: str

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = has_dispatch and _CHECKS_ARRAY_LIBRARIES
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "covariances_")

    @property
    def class_count_(self) -> FloatArray:
        """Number of training samples of each class, or their total weight."""
        return self._stored("class_count_")

    @class_count_.setter
    def class_count_(self, class_count: FloatArray) -> None:
        known = to_host_always(self.__dict__.get("class_count_", class_count))
        # The same numbers on another device are welcome.
        if not np.array_equal(to_host_always(class_count), known):
            raise AttributeError("class_count_ tells of the training samples and cannot be set; set priors_ or radii_.")
        self.__dict__["class_count_"] = class_count

    @property
    def offsets_(self) -> FloatArray:
        """What is added to the log scores; for the rules "prior" and "minimax" the logarithms of `priors_`."""
        if self.decision_rule_ not in BY_PRIORS and "offsets_" in vars(self):
            return self._stored("offsets_")
        return like(read_only(np.log(to_host_always(self.priors_))), self.priors_)

    @offsets_.setter
    def offsets_(self, offsets: FloatArray) -> None:
        if self.__dict__.get("decision_rule_") in BY_PRIORS:
            raise AttributeError(
                f"offsets_ cannot be set: by the rule {self.decision_rule_!r} they are the logarithms of priors_. Set "
                f"priors_, or decision_rule_ to 'offsets' first."
            )
        self.__dict__["offsets_"] = offsets

    def _derive(self, *values: Any) -> FittedModel:
        return fitted_model(*values)

    def _set_fitted(
        self,
        classes: np.ndarray,
        class_count: FloatArray,
        priors: FloatArray,
        model: ScoreModel,
        offsets: FloatArray,
        samples: Array = None,
    ) -> Self:
        """Take over what was learned. Public arrays go where the samples are."""
        self.classes_ = classes
        kind = kind_of(self.decision_rule)
        arrays = {
            "class_count_": class_count,
            "priors_": priors,
            "means_": model.moments.means,
            "covariances_": model.moments.covariances,
            "radii_": model.radii,
        }
        if kind not in BY_PRIORS:
            arrays["offsets_"] = offsets
        elif "offsets_" in vars(self):
            del self.__dict__["offsets_"]
        is_host = samples is None or is_numpy(samples)
        self.__dict__.update({name: values if is_host else like(values, samples) for name, values in arrays.items()})
        self.likelihood_, self.decision_rule_ = name_of(model.likelihood), kind
        if is_host:
            derived = FittedModel(self.classes_, np.log(priors), model, make_rule(kind, offsets))
            self._derived = self._freeze(), derived
        else:
            # Derived now, so that predicting changes no attribute.
            self._derived = self._freeze(), self._model
        return self

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        samples, model = self._validate(X, "predict"), self._model
        classes, rule = model.classes, model.rule
        are_numbers = classes.dtype.kind in _NUMBERS

        def label(scores: LogScores) -> Array:
            codes = decide(rule, scores)
            if is_numpy(codes):
                return classes.take(codes)
            return namespace_of(codes).take(like(classes, codes), codes) if are_numbers else codes

        labels = model.scores.map(in_place(samples), label, rule.needs_pessimistic)
        if are_numbers:
            return like(labels, samples)
        return labels if is_numpy(labels) else classes.take(to_host(labels))

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """What the decisions are taken by: the largest column, or the sign where there are two classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: log R - log tau, and for "minimax" half the difference of the log odds below; >= 0 is the
            second class. More: log score plus offset per class, and for "minimax" the log odds of each class's
            smallest plausible posterior.
        """
        samples = self._validate(X, "decision_function")
        rule = self._model.rule
        if len(self._model.classes) == 2:
            return like(self._map(samples, rule.margin, rule.needs_pessimistic), samples, samples.dtype)
        return like(self._map(samples, rule.columns, rule.needs_pessimistic).T, samples, samples.dtype)

    def predict_log_proba(self, X: ArrayLike) -> FloatArray:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities.
        """
        samples = self._validate(X, "predict_log_proba")
        rule = self._model.rule
        return like(self._map(samples, rule.log_proba, rule.needs_pessimistic).T, samples, samples.dtype)

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes, the largest being that of the predicted one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Optimistic scores times the exponential of the offsets, normalised. For "minimax" the logistic function of
            `decision_function` with two classes, and the smallest plausible posteriors, normalised, with more. At
            radius 0 with "prior" or "minimax" these are the posteriors themselves.
        """
        samples = self._validate(X, "predict_proba")
        rule = self._model.rule

        def proba(scores: LogScores) -> Array:
            log_proba = rule.log_proba(scores)
            return namespace_of(log_proba).exp(log_proba)

        return like(self._map(samples, proba, rule.needs_pessimistic).T, samples, samples.dtype)

    def log_score_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Worst and best plausible log score of each sample under each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        pessimistic, optimistic : ndarray of shape (n_samples, n_classes)
            Natural logarithms of densities (or of probabilities, for the nonparametric score).
        """
        samples = self._validate(X, "log_score_bounds")
        low, high = self._map(samples, lambda scores: (scores.pessimistic, scores.optimistic))
        return like(low.T, samples, samples.dtype), like(high.T, samples, samples.dtype)

    def predict_proba_bounds(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest posterior of each class over all plausible moments, for the priors `priors_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes)
            Both are attained by some moments in the ambiguity sets.
        """
        samples = self._validate(X, "predict_proba_bounds")
        lower, upper = self._map(samples, lambda scores: posterior_bounds(*self._weigh(scores), scores.room))
        return like(lower.T, samples, samples.dtype), like(upper.T, samples, samples.dtype)

    def predict_set(self, X: ArrayLike) -> BoolArray:
        """The classes that no other class dominates under all plausible moments, for the priors `priors_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) of bool
            True for the classes that remain; a row with one True is a certified decision.
        """
        samples = self._validate(X, "predict_set")
        return like(self._map(samples, lambda scores: non_dominated(*self._weigh(scores))).T, samples)

    def certified_factor(self, X: ArrayLike) -> FloatArray:
        """The largest factor on all radii under which the predicted label stays certified.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            From 1 on, the decision is certified at the fitted radii: no plausible moments change the most probable
            class (for the priors `priors_`). 0 where the nominal posterior already disagrees with `predict`, infinity
            where the label is certified whatever the factor (always so at radius 0).
        """
        samples = self._validate(X, "certified_factor")
        model = self._model

        def factor(scores: LogScores) -> FloatArray:
            decided = decide(model.rule, scores)
            factors = largest_certified_factor(model.scores, scores, decided, model.log_priors)
            with np.errstate(over="ignore"):
                return factors.astype(scores.alpha.dtype, copy=False)

        # The search for the factor runs on the host, wherever the samples are.
        factors = self._model.scores.map(to_host(samples), factor, model.rule.needs_pessimistic)
        return like(factors, samples, samples.dtype)

    def _validate(self, X: ArrayLike, method: str) -> Array:
        self._check_fitted()
        check_same_namespace(X, self, attribute="means_", method=method)
        return validate_data(self, X, dtype=float_types(X), reset=False)

    def _map(self, samples: Array, function: Any, with_pessimistic: bool = True) -> Any:
        """``function(log_scores)`` of all samples, block by block, worked on in place where they are in host memory."""
        return self._model.scores.map(in_place(samples), function, with_pessimistic)

    def _weigh(self, scores: LogScores) -> tuple[Array, Array]:
        """Worst and best log scores plus log priors, of shape (n_classes, n_samples)."""
        return weigh(scores, self._model.log_priors)

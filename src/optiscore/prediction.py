"""What a fitted classifier says of samples: labels, probabilities, bounds, sets and certificates."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ._typing import BoolArray, FloatArray
from .array_api import Array, check_same_namespace, float_types, in_place, is_numpy, like, namespace_of, to_host
from .certificate import largest_certified_factor
from .decision import LogScores, MinimaxRule, OffsetRule, Rule, decide, non_dominated, posterior_bounds
from .model import ScoreModel
from .moment_sums import MomentSums
from .moments import factorise
from .nominal import NominalMoments
from .score_parameter import ScoreParameter
from .scores import get_score, name_of
from .training_set import TrainingSet, check_targets_of_block, check_weights, comparing_labels

# Kinds of labels that every library has.
_NUMBERS = "biuf"


class Learned(NamedTuple):
    """What a fit has learned, on the host."""

    classes: np.ndarray
    priors: FloatArray
    model: ScoreModel
    rule: Rule

    def arrays(self) -> dict[str, FloatArray]:
        """The public attributes."""
        return {
            "priors_": self.priors,
            "radii_": self.model.radii,
            "threshold_": self.rule.offsets,
            "means_": self.model.moments.means,
            "covariances_": self.model.moments.covariances,
        }


# scikit-learn has no types: its classes are Any to the type checker.
class BaseScoreClassifier(ScoreParameter, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Everything that classifiers by scores have in common once they are fitted."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.array_api_support = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learned")

    def __getstate__(self) -> dict[str, Any]:
        """Parameters and public attributes: what files hold is numbers and names, not the objects made of them."""
        state: dict[str, Any] = dict(super().__getstate__())
        learned = state.pop("_learned", None)
        if learned is not None:
            state |= learned.arrays()
            state["_fitted"] = {"score": name_of(learned.model.score), "is_minimax": learned.rule.needs_pessimistic}
        if state.get("_sums") is not None:
            state["_sums"] = [None if sums is None else vars(sums) for sums in state["_sums"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        fitted = state.pop("_fitted", None)
        if state.get("_sums") is not None:
            state["_sums"] = [None if sums is None else MomentSums(**sums) for sums in state["_sums"]]
        super().__setstate__(state)
        if fitted is not None:
            factors = [factorise(S, "a covariance in the file") for S in self.covariances_]
            moments = NominalMoments(self.means_, self.covariances_, factors)
            rule = (MinimaxRule if fitted["is_minimax"] else OffsetRule)(self.threshold_)
            self._set_fitted(self.priors_, ScoreModel(get_score(fitted["score"]), moments, self.radii_), rule)

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
        given = self._validate(X, "predict")
        samples = in_place(given)
        if not is_numpy(samples):
            return self._labels_on_device(samples)
        classes = self._learned.classes
        labels = np.empty(len(samples), dtype=classes.dtype)

        def consume(rows: slice, scores: LogScores) -> None:
            labels[rows] = classes.take(decide(self._rule, scores))

        self._model.for_each_block(samples, consume, self._rule.needs_pessimistic)
        return like(labels, given) if classes.dtype.kind in _NUMBERS else labels

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
        scores = self._log_scores(samples)
        values = self._rule.margin(scores) if len(self._learned.classes) == 2 else self._rule.columns(scores).T
        return like(values, samples, samples.dtype)

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
        return like(self._log_proba(samples), samples, samples.dtype)

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
        log_proba = self._log_proba(samples)
        return like(namespace_of(log_proba).exp(log_proba), samples, samples.dtype)

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
        low, high = self._model.log_score_bounds(samples)
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
        lower, upper = posterior_bounds(*self._weighted_bounds(samples))
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
        return like(non_dominated(*self._weighted_bounds(samples)).T, samples)

    def certified_radius(self, X: ArrayLike) -> FloatArray:
        """The largest factor on all radii under which the predicted label stays certified.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Above 1, the decision is certified at the fitted radii: no plausible moments change the most probable class
            (for the priors `priors_`). 0 where the nominal posterior already disagrees with `predict`, infinity where
            the label is certified whatever the factor (always so at radius 0).
        """
        given = self._validate(X, "certified_radius")
        # The search for the radius runs on the host, wherever the samples are.
        samples = to_host(given)
        factors = np.empty(len(samples))
        evaluate = self._model.evaluator(len(samples), samples.dtype.type, self._rule.needs_pessimistic)

        def consume(rows: slice, alpha: FloatArray) -> None:
            decided = decide(self._rule, evaluate(alpha))
            factors[rows] = largest_certified_factor(self._model, alpha, decided, np.log(self._learned.priors))

        self._model.distances.for_each_block(samples, consume)
        with np.errstate(over="ignore"):
            return like(factors.astype(samples.dtype, copy=False), given, given.dtype)

    def _validate_training(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
        """The given samples; sets `classes_` to the labels of those with positive weight."""
        self._forget()
        points, labels, weight = self._validate_labelled(X, y, sample_weight)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if weight is not None:
            present = np.bincount(codes, weights=weight) > 0
            self.classes_, codes = self.classes_[present], np.where(present, np.cumsum(present) - 1, -1)[codes]
        self._check_classes()
        return TrainingSet(points, codes, self.classes_, weight)

    def _validate_labelled(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        *,
        reset: bool = True,
        is_block: bool = False,
    ) -> tuple[Array, np.ndarray, FloatArray | None]:
        """Samples where they are, and on the host labels and weights where there are any."""
        points, given = validate_data(self, X, y, dtype=float_types(X), reset=reset)
        labels = to_host(given)
        with comparing_labels():
            check_targets_of_block(np.unique(labels)) if is_block else check_classification_targets(labels)
        if sample_weight is None:
            return points, labels, None
        return points, labels, check_weights(to_host(sample_weight), labels, may_all_be_zero=is_block)

    def _check_classes(self) -> None:
        if (n := len(self.classes_)) < 2:
            raise ValueError(
                f"y must hold at least two classes with samples of positive weight, got {n} "
                f"{'class' if n == 1 else 'classes'}: {self.classes_.tolist()}. Add samples of another class."
            )

    def _forget(self, lack: str | None = None) -> None:
        """No longer fitted, for lack of something if there are samples already."""
        for name in ("_learned", "_sums"):
            self.__dict__.pop(name, None)
        self._lack = lack

    def _set_fitted(self, priors: FloatArray, model: ScoreModel, rule: Rule, samples: Array = None) -> Self:
        """Take over what was learned; `classes_` is known already. Public arrays go where the samples are."""
        self._learned, self._lack = Learned(self.classes_, priors, model, rule), None
        for name, values in self._learned.arrays().items():
            setattr(self, name, values if samples is None else like(values, samples))
        return self

    @property
    def _model(self) -> ScoreModel:
        return self._learned.model

    @property
    def _rule(self) -> Rule:
        return self._learned.rule

    def _check_fitted(self) -> None:
        if (lack := self.__dict__.get("_lack")) is not None:
            raise NotFittedError(f"This {type(self).__name__} has seen too few samples: {lack}")
        check_is_fitted(self)

    def _validate(self, X: ArrayLike, method: str) -> Array:
        self._check_fitted()
        check_same_namespace(X, self, attribute="means_", method=method)
        return validate_data(self, X, dtype=float_types(X), reset=False)

    def _log_scores(self, samples: Array) -> LogScores:
        """What the decision rule needs to know of samples."""
        return self._model.log_scores(samples, self._rule.needs_pessimistic)

    def _log_proba(self, samples: Array) -> Array:
        return self._rule.log_proba(self._log_scores(samples)).T

    def _labels_on_device(self, X: Array) -> Array:
        """Labels in the library of X, or NumPy's if they are no numbers."""
        device, classes = self._model.on_device(X), self._learned.classes
        codes = device.map(X, lambda scores: decide(self._rule, scores), self._rule.needs_pessimistic)
        if classes.dtype.kind not in _NUMBERS:
            return classes[to_host(codes)]
        return namespace_of(X).take(like(classes, X), codes)

    def _weighted_bounds(self, samples: Array) -> tuple[Array, Array]:
        """Worst and best log scores plus log priors, of shape (n_classes, n_samples)."""
        low, high = self._model.log_score_bounds(samples)
        log_priors = like(np.log(self._learned.priors), low, low.dtype)[:, None]
        return low + log_priors, high + log_priors

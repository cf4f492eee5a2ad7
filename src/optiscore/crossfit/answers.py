"""Answers of classifiers that were fitted on all rows and without each fold: probabilities, stability, intervals."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from ..estimators.answers import ProbabilisticAnswers, check_classes
from ..estimators.availability import only_if
from ..moderated.typicality import TypicalityModel
from ..numerics.types import FloatArray
from ..trust.probabilities import check_level, most_probable, other_classes
from ..trust.sampling import HARDLY, LogOdds, interval_around
from .folds import proba_of
from .mixture import Mixture


class CrossFitAnswers(ProbabilisticAnswers):
    """Answers of a classifier whose members, folds and mixture are known."""

    estimators_: list[Any]
    fold_estimators_: list[list[Any]]
    fold_part_: float
    class_count_: FloatArray
    mixture_: Mixture
    typicality_: TypicalityModel | None

    def _proba(self, models: Sequence[Any], X: Any) -> FloatArray:
        """Return probabilities by classifiers of one fit, of all rows or without a fold."""
        proba = self.mixture_.proba([proba_of(model, X, self.classes_) for model in models])
        proba = proba * (self.priors_ / self.loo_priors_)
        return proba / proba.sum(axis=1, keepdims=True)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the calibrated probabilities of the classes, by the classifiers of all rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        self._check_fitted()
        return self._proba(self.estimators_, X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of `predict_proba`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log probabilities; where a classifier says 0, that of the smallest number.
        """
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        log_proba = self.predict_log_proba(X)
        return self.classes_.take(most_probable(log_proba.T))

    def _check_folds(self) -> None:
        if "estimators_" in vars(self) and any(isinstance(each, FrozenEstimator) for each in self.estimators_):
            raise ValueError("stability and intervals come from models of folds, and a frozen one has none.")

    @only_if(_check_folds)
    def stability(self, X: Any) -> FloatArray:
        """How surely the label is the one that models of other samples of this size give on average.

        Returns
        -------
        ndarray of shape (n_samples,)
            Between 1/n_classes and 1: one less the sum, over the other classes, of the probability that the sampling
            error of the log odds is larger than these, by Student's t, since the variance is one of few folds. Two
            models of samples of their own agree less often, about with probability Phi(M/sqrt(2 V)). About the sample,
            not about the truth.
        """
        self._check_fitted()
        if not self.fold_estimators_:
            return self._known_by_itself().stability(X)
        return self._log_odds(X).stability(len(self.classes_))

    def _known_by_itself(self) -> Any:
        """Return the one classifier that leaves rows out in closed form, for the class probabilities of this one."""
        return self.estimators_[0].with_priors(self.priors_)

    def _log_odds(self, X: Any) -> LogOdds:
        """Return log odds of the most probable class against all others, with variances by the jackknife."""
        p = self.predict_proba(X)
        rows, best, K = np.arange(len(p)), p.argmax(axis=1), len(self.classes_)
        rivals = other_classes(best, K)

        def log_odds(proba: FloatArray) -> FloatArray:
            logs = np.log(proba + HARDLY)
            return logs[rows, best] - logs[rows, rivals]

        # Stratified folds have the same fractions of the classes, and tell no error of these.
        counts = self.class_count_
        variances = self._variance(X, log_odds) + 1 / counts[best] + 1 / counts[rivals]
        return LogOdds(best, rivals, log_odds(p), variances, self._freedom)

    @property
    def _freedom(self) -> float:
        """Degrees of freedom of variances: one less than folds, or than parts of the rows where these are fewer."""
        return max(min(len(self.fold_estimators_), 1 / self.fold_part_) - 1, 1.0)

    def _variance(self, X: Any, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the variance of a function of the probabilities, by the models of the folds.

        Folds that leave out d of n rows each: (n - d)/(d G) times the sum of squares, whether they are a partition or
        repeated.
        """
        values = np.array([function(self._proba(models, X)) for models in self.fold_estimators_])
        G, part = len(values), self.fold_part_
        return (1 - part) / (part * G) * np.square(values - values.mean(axis=0)).sum(axis=0)

    @only_if(_check_folds)
    def predict_proba_interval(
        self, X: Any, confidence_level: float = 0.9, *, classes: Literal["all", "predicted"] = "all"
    ) -> tuple[FloatArray, FloatArray]:
        """Interval of every class's probability, from sampling error alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Probability, between 0 and 1, with which the mean prediction of models of this kind, fitted to other samples
            of this size from the same population, shall lie in the interval.
        classes : {"all", "predicted"}, default="all"
            Whether the intervals are those of all classes or of the predicted one.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Ends of the interval around `predict_proba`.
        """
        self._check_fitted()
        level, of_predicted = check_level(confidence_level, "confidence_level"), check_classes(classes)
        if not self.fold_estimators_:
            return self._known_by_itself().predict_proba_interval(X, level, classes=classes)
        p = self.predict_proba(X)
        asked = p.argmax(axis=1)[:, None] if of_predicted else np.broadcast_to(np.arange(p.shape[1]), p.shape)

        def log_odds(proba: FloatArray) -> FloatArray:
            chosen = np.take_along_axis(proba, asked, axis=1)
            return np.log(chosen + HARDLY) - np.log(1 - chosen + HARDLY)

        counts = self.class_count_
        variance = self._variance(X, log_odds) + 1 / counts[asked] + 1 / (counts.sum() - counts)[asked]
        quantile = float(stdtrit(self._freedom, 0.5 + 0.5 * level))
        lower, upper = interval_around(np.take_along_axis(p, asked, axis=1), quantile * np.sqrt(variance))
        return (lower[:, 0], upper[:, 0]) if of_predicted else (lower, upper)

    def _check_typicality(self) -> None:
        if vars(self).get("typicality_", self) is None:
            raise ValueError("typicality is that of columns of numbers without gaps, of which there may be 1,000.")

    @only_if(_check_typicality)
    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class, in the columns themselves.

        Returns
        -------
        ndarray of shape (n_samples,)
            Near 0 for a sample unlike anything in training, whatever probabilities it gets; NaN for one with gaps.
        """
        self._check_fitted()
        assert self.typicality_ is not None
        validate_data(self, X, reset=False, skip_check_array=True)
        points = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=0)
        whole, found = np.isfinite(points).all(axis=1), np.full(len(points), np.nan)
        found[whole] = self.typicality_.p_values(points[whole])
        return found

"""Answers of a fitted moderated classifier: probabilities, intervals, stability and typicality."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..estimators.answers import ProbabilisticAnswers, check_classes
from ..estimators.streaming import Streaming
from ..numerics.types import FloatArray
from ..trust.probabilities import check_level, most_probable
from .certainty import Certificate, least_certificate, widest_interval
from .gaussians import GaussianMoments, Gaussians
from .power import PowerMap, PowerTransform


class MappedGaussians(NamedTuple):
    """Gaussian models of what a feature map makes of samples."""

    feature_map: Any
    gaussians: Gaussians

    @property
    def cost(self) -> tuple[int, int]:
        """Numbers per sample that predictions work with, and operations."""
        n_classes, d = self.gaussians.moments.means.shape
        return max(n_classes, d // 4), 2 * n_classes * d

    def log_proba(self, samples: FloatArray) -> FloatArray:
        """Return log probabilities (n_classes, n_samples)."""
        return self.gaussians.log_proba(self.mapped(samples))

    def mapped(self, samples: FloatArray, *, goes_on: bool = False) -> FloatArray:
        """Return samples as the models see them; beyond the training range the power map may go on."""
        feature_map = self.feature_map
        if feature_map is None:
            return samples
        is_power = isinstance(feature_map, PowerMap | PowerTransform)
        if goes_on and is_power:
            return feature_map.extrapolate(samples)
        mapped: FloatArray = feature_map.transform(samples)
        return mapped if is_power else check_mapped(mapped, samples)


class ModeratedAnswers(ProbabilisticAnswers, Streaming):
    """Answers of a classifier whose moments are known."""

    feature_map_: Any
    priors_: FloatArray
    class_count_: FloatArray
    means_: FloatArray
    _model: MappedGaussians

    def _build(self) -> MappedGaussians:
        known = {name: getattr(self, f"{name}_") for name in GaussianMoments._fields if hasattr(self, f"{name}_")}
        moments = GaussianMoments(**known)
        return MappedGaussians(self.feature_map_, Gaussians(moments))

    def nominal_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes with the moments taken as exact, as plain discriminant analysis has them.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The weighted mean of both models' posteriors.
        """

        def nominal(samples: FloatArray) -> FloatArray:
            return np.exp(self._model.gaussians.nominal_log_proba(self._model.mapped(samples)))

        return self._map(X, nominal)

    def predict_proba_interval(
        self, X: ArrayLike, confidence_level: float = 0.9, *, classes: Literal["all", "predicted"] = "all"
    ) -> tuple[FloatArray, FloatArray]:
        """Interval of every class's posterior, from sampling error alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Probability, between 0 and 1, with which the posterior of the same model with the population's moments
            shall lie in the interval.
        classes : {"all", "predicted"}, default="all"
            Whether the intervals are those of all classes or of the predicted one, which of many classes takes a
            fraction of the time.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Ends of the interval around `nominal_proba`; with two models, the smaller and the larger of theirs. Exact up
            to the limit of the likelihood ratio for two classes, conservative for more; beyond nine classes the ratio
            is searched for the rivals that matter most, which for one class are others than for all: some digits of its
            interval may differ. `predict_proba`, the mean over what the moments may be, can lie
            outside where that distribution is skewed.
        """
        level = check_level(confidence_level, "confidence_level")
        of_predicted = check_classes(classes)

        def interval(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
            gaussians, Z = self._model.gaussians, self._model.mapped(samples)
            asked = most_probable(gaussians.log_proba(Z)) if of_predicted else None
            return widest_interval(gaussians.heard, Z, level, asked)

        lower, upper = self._map(X, interval)
        return (lower[:, 0], upper[:, 0]) if of_predicted else (lower, upper)

    def likelihood_ratio(self, X: ArrayLike) -> tuple[FloatArray, np.ndarray]:
        """Evidence of the training samples for the predicted labels: twice the log likelihood ratio that another costs.

        Returns
        -------
        ratio : ndarray of shape (n_samples,)
            T, the least over rivals and models; negative where a model prefers the rival to the predicted label.
        rival : ndarray of shape (n_samples,)
            The label that it belongs to.
        """
        certificate = self._certify(X)
        return certificate.ratio, self.classes_.take(certificate.rival)

    def stability(self, X: ArrayLike) -> FloatArray:
        """How surely the predicted label is that of the best classifier of this kind, given the sampling error.

        Returns
        -------
        ndarray of shape (n_samples,)
            Phi(sqrt T) for the least likelihood ratio T over all rivals: 0.5 on the boundary, 0.95 for T = 2.71. With
            two models the smaller value; below 0.5 where one of them prefers another label. Beyond nine classes, the
            rivals that are nearest by the quadratic form of T are asked.
        """
        return self._certify(X).stability

    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class.

        Returns
        -------
        ndarray of shape (n_samples,)
            Probability, for the class for which it is largest, that a new sample of it is as far from its mean
            (Hotelling's F, with the class's kurtosis). A point unlike anything in training has a value near 0, whatever
            probabilities it gets. With two models, the covariances of the classes' own decide. The power map goes on
            linearly beyond the training range here, instead of being clipped.
        """

        def typicality(samples: FloatArray) -> FloatArray:
            values = self._model.gaussians.typicality(self._model.mapped(samples, goes_on=True))
            return values.astype(samples.dtype, copy=False)

        return self._map(X, typicality)

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log density of samples under all classes together, in the mapped features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Logarithm of the mean of both models' densities. Where squared distances would exceed the range of numbers,
            they are limited.
        """
        return self._map(X, lambda samples: self._model.gaussians.log_density(self._model.mapped(samples)))

    def _certify(self, X: ArrayLike) -> Certificate:
        def certificate(samples: FloatArray) -> tuple[FloatArray, np.ndarray]:
            gaussians, Z = self._model.gaussians, self._model.mapped(samples)
            ratio, rival = least_certificate(gaussians.heard, Z, most_probable(gaussians.log_proba(Z)))
            with np.errstate(over="ignore"):
                return ratio.astype(Z.dtype, copy=False), rival

        return Certificate(*self._map(X, certificate))


def check_mapped(mapped: Any, samples: FloatArray) -> FloatArray:
    """Return what a feature map makes of samples as an array of their type; raise if it is none."""
    array = np.asarray(mapped.toarray() if hasattr(mapped, "toarray") else mapped)
    if array.ndim != 2 or len(array) != len(samples):
        raise ValueError(f"feature_map must return one row per sample, got shape {array.shape} for {len(samples)}.")
    array = array.astype(samples.dtype, copy=False)
    if not np.isfinite(array).all():
        raise ValueError("feature_map returned NaN or infinity; choose a map that keeps numbers finite.")
    return array

"""What a fitted moderated classifier says of samples: probabilities, intervals, confidence, sets and typicality."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.utils.validation import validate_data

from ..estimators.predictions import ProbabilisticPredictions
from ..estimators.streaming import StreamingState
from ..moments.factors import factorise
from ..numerics.blocks import map_blocks
from ..numerics.types import FloatArray
from ..robust.fitted import check_classes, check_numbers, check_priors_attribute
from ..trust.probabilities import check_probability
from .gaussian_model import GaussianModel
from .moderation import (
    Certificate,
    least_certificate,
    moderated_log_proba,
    nominal_log_proba,
    proba_interval,
)
from .own_model import OwnModel
from .power import PowerMap
from .shared_model import SharedModel

#: What predictions depend on.
_ATTRIBUTES = (
    "classes_",
    "class_count_",
    "priors_",
    "means_",
    "covariances_",
    "covariance_",
    "mean_distance_",
    "effective_features_",
    "kurtosis_",
    "radial_kurtosis_",
    "feature_map_",
    "n_features_in_",
)


# Sizes of classes, or sums of weights, between which evidence is computed.
_FEWEST, _MOST = 1e-30, 1e30


class Gaussians(NamedTuple):
    """The models that are averaged, one or two, with the labels that they are about."""

    classes: np.ndarray
    models: tuple[GaussianModel, ...]


class ModeratedPredictions(ProbabilisticPredictions, StreamingState):
    """Everything that is said of samples once the moments are known."""

    _attributes: ClassVar[tuple[str, ...]] = _ATTRIBUTES

    feature_map_: Any
    mean_distance_: FloatArray

    def _derive(self, *values: Any) -> Gaussians:
        """The models behind the public attributes, which are checked."""
        classes, class_count, priors, means, covariances, covariance, distance, effective, *kurtoses, feature_map, _ = (
            values
        )
        n_classes, d = len(check_classes(classes)), np.shape(means)[-1]
        class_count = check_numbers("class_count_", class_count, (n_classes,))
        if not (class_count > 0).all():
            raise ValueError(f"class_count_ must be positive, got {class_count.tolist()}.")
        # Beyond these the moments are exact, or unknown, to all digits.
        class_count = class_count.clip(_FEWEST, _MOST)
        if feature_map is not None and not hasattr(feature_map, "transform"):
            raise ValueError(f"feature_map_ must be None or a fitted transformer, got {feature_map!r}.")
        log_priors = np.log(check_priors_attribute(priors, n_classes))
        means = check_numbers("means_", means, (n_classes, d))
        effective = check_numbers("effective_features_", effective, (n_classes + 1,))
        distance = check_numbers("mean_distance_", distance, (n_classes + 1,))
        kurtosis = check_numbers("kurtosis_", kurtoses[0], (n_classes + 1,))
        radial = check_numbers("radial_kurtosis_", kurtoses[1], (n_classes + 1,))
        if (distance < 0).any() or (effective < 0).any():
            raise ValueError("mean_distance_ and effective_features_ must not be negative.")
        models: list[GaussianModel] = []
        if covariances is not None:
            checked = check_numbers("covariances_", covariances, (n_classes, d, d))
            factors = [factorise(S, f"covariances_[{c}]") for c, S in enumerate(checked)]
            spread = kurtosis[:-1], radial[:-1], distance[:-1]
            models.append(OwnModel(class_count, log_priors, means, factors, effective[:-1], *spread))
        if covariance is not None:
            factor = factorise(check_numbers("covariance_", covariance, (d, d)), "covariance_")
            models.append(SharedModel(class_count, log_priors, means, factor, effective[-1], radial[-1], distance[-1]))
        if not models:
            raise ValueError("one of covariances_ and covariance_ must not be None.")
        return Gaussians(classes, tuple(models))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "kurtosis_")

    def _map_log_proba(self, X: ArrayLike, function: Callable[[FloatArray], Any]) -> Any:
        samples, models = self._validate(X), self._model.models
        return self._map(samples, lambda alphas: function(_log_proba(models, alphas)))

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes, moderated by the sampling error: for predictions and decisions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Means over what the moments may be, given the training samples. Such a mean of a skewed distribution can lie
            outside of `predict_proba_interval`, which is about `nominal_proba`.
        """
        return super().predict_proba(X)

    def nominal_proba(self, X: ArrayLike) -> FloatArray:
        """Probabilities of the classes with the moments taken as exact, as plain discriminant analysis has them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The mean of both models' posteriors.
        """
        samples = self._validate(X)
        models = self._model.models
        return self._map(
            samples, lambda alphas: np.exp(_average([nominal_log_proba(*pair) for pair in _pairs(models, alphas)]))
        ).T

    def predict_proba_interval(self, X: ArrayLike, confidence_level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Interval of every class's posterior, from sampling error alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        confidence_level : float, default=0.9
            Probability, between 0 and 1, with which the posterior of the same model with the population's moments
            shall lie in the interval.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples, n_classes)
            Ends of the interval; with two models, the smaller and the larger of theirs. Exact up to the limit of
            the likelihood ratio for two classes, conservative for more.
        """
        level = float(check_probability(confidence_level, "confidence_level"))
        samples = self._validate(X)
        models = self._model.models

        def interval(alphas: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
            parts = [proba_interval(model, alpha, level) for model, alpha in _pairs(models, alphas)]
            nominal = [np.exp(nominal_log_proba(*pair)) for pair in _pairs(models, alphas)]
            # Few samples move the middle of an interval by more than its width: the nominal posterior stays inside.
            lower = np.min([low for low, _ in parts] + nominal, axis=0)
            upper = np.max([high for _, high in parts] + nominal, axis=0)
            return lower.astype(samples.dtype, copy=False), upper.astype(samples.dtype, copy=False)

        lower, upper = self._map(samples, interval)
        return lower.T, upper.T

    def likelihood_ratio(self, X: ArrayLike) -> tuple[FloatArray, np.ndarray]:
        """Evidence of the training samples for the predicted labels: twice the log likelihood ratio that another costs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ratio : ndarray of shape (n_samples,)
            T, the least over rivals and models; negative where a model prefers the rival to the predicted label.
        rival : ndarray of shape (n_samples,)
            The label that it belongs to.
        """
        certificate = self._certify(X)
        return certificate.ratio, self._model.classes.take(certificate.rival)

    def decision_confidence(self, X: ArrayLike) -> FloatArray:
        """How surely the predicted label is that of the best classifier of this kind, given the sampling error.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Phi(sqrt T) for the least likelihood ratio T over all rivals: 0.5 on the boundary, 0.95 for T = 2.71. With
            two models the smaller value; below 0.5 where one of them prefers another label.

        Notes
        -----
        Each pair of a predicted class and a rival is searched by itself: with dozens of classes this takes seconds,
        however few the samples are.
        """
        return self._certify(X).confidence

    def typicality(self, X: ArrayLike) -> FloatArray:
        """How usual samples are: the p-value of the distance to the nearest class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Probability, for the class for which it is largest, that a new sample of it is as far from its mean
            (Hotelling's F, with the class's kurtosis). A point unlike anything in training has a value near 0, whatever
            probabilities it gets. With two models, the covariances of the classes' own decide. The power map goes on
            linearly beyond the training range here, instead of being clipped.
        """
        samples = self._validate(X, goes_on=True)
        model = self._model.models[0]
        values = self._map(samples, lambda alphas: model.tail_probability(alphas[0].astype(np.float64)).max(axis=0))
        return values.astype(samples.dtype, copy=False)

    def score_samples(self, X: ArrayLike) -> FloatArray:
        """Log density of samples under all classes together, in the mapped features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Logarithm of the mean of both models' densities. Where squared distances would exceed the range of numbers,
            they are limited.
        """
        samples = self._validate(X)
        models = self._model.models

        def density(alphas: list[FloatArray]) -> FloatArray:
            joint = np.concatenate([model.log_joint(alpha) for model, alpha in _pairs(models, alphas)])
            return logsumexp(joint, axis=0) - np.log(len(models), dtype=joint.dtype)

        return self._map(samples, density)

    def _certify(self, X: ArrayLike) -> Certificate:
        samples = self._validate(X)
        models = self._model.models

        def certificate(alphas: list[FloatArray]) -> tuple[FloatArray, np.ndarray]:
            ratio, rival = least_certificate(models, alphas, _log_proba(models, alphas).argmax(axis=0))
            with np.errstate(over="ignore"):
                return ratio.astype(samples.dtype, copy=False), rival

        return Certificate(*self._map(samples, certificate))

    def _validate(self, X: ArrayLike, *, goes_on: bool = False) -> FloatArray:
        """Samples as the models see them; beyond the training range the power map may go on."""
        self._check_fitted()
        samples = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        if self.feature_map_ is None:
            return samples
        feature_map = self.feature_map_
        is_power = goes_on and isinstance(feature_map, PowerMap)
        return check_mapped(feature_map.extrapolate(samples) if is_power else feature_map.transform(samples), samples)

    def _map(self, samples: FloatArray, function: Callable[[list[FloatArray]], Any]) -> Any:
        """``function(squared distances under each model)`` of all samples, block by block."""
        models = self._model.models
        n_classes, d = self.means_.shape
        return map_blocks(
            lambda block: function([model.distances(block) for model in models]),
            samples,
            width=max(n_classes, d // 4),
            operations=2 * n_classes * d,
        )


def _pairs(models: tuple[GaussianModel, ...], alphas: list[FloatArray]) -> list[tuple[GaussianModel, FloatArray]]:
    return list(zip(models, alphas, strict=True))


def _average(log_probas: list[FloatArray]) -> FloatArray:
    """Logarithm of the mean of probabilities."""
    if len(log_probas) == 1:
        return log_probas[0]
    return np.logaddexp(*log_probas) - np.log(2, dtype=log_probas[0].dtype)


def _log_proba(models: tuple[GaussianModel, ...], alphas: list[FloatArray]) -> FloatArray:
    return _average([moderated_log_proba(*pair) for pair in _pairs(models, alphas)])


def check_mapped(mapped: Any, samples: FloatArray) -> FloatArray:
    """What a feature map returns, as an array of the samples' type."""
    array = np.asarray(mapped.toarray() if hasattr(mapped, "toarray") else mapped)
    if array.ndim != 2 or len(array) != len(samples):
        raise ValueError(f"feature_map must return one row per sample, got shape {array.shape} for {len(samples)}.")
    array = array.astype(samples.dtype, copy=False)
    if not np.isfinite(array).all():
        raise ValueError("feature_map returned NaN or infinity; choose a map that keeps numbers finite.")
    return array

"""Nominal moments of every class: means and covariances, pooled if asked, and ready to whiten."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..numerics.types import FloatArray
from .covariance import FROM_SUMS, standardised_ledoit_wolf
from .factors import Factor, SingularCovarianceError, factorise
from .labelled import ClassData


class NominalMoments(NamedTuple):
    """Means (K, d), covariances (K, d, d) and the factors of the latter, one per class."""

    means: FloatArray
    covariances: FloatArray
    factors: list[Factor]


def class_priors(priors: ArrayLike | None, classes: Sequence[ClassData]) -> FloatArray:
    """Class probabilities: those given, or the fractions of the samples."""
    if priors is None:
        sizes = np.array([known.sums.weight_sum for known in classes])
        return sizes / sizes.sum()
    return check_priors(priors, len(classes))


def check_priors(priors: Any, n_classes: int | None = None) -> FloatArray:
    """Probabilities that sum to 1."""
    given = numbers_per_class(priors, "priors", n_classes)
    if not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
        raise ValueError(f"priors must be positive and sum to 1, got {given.tolist()} with sum {given.sum():g}.")
    return given / given.sum()


def numbers_per_class(values: Any, name: str, n_classes: int | None) -> FloatArray:
    """One finite number per class, of which there may be any number."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {values!r}.") from None
    if n_classes is not None and array.shape != (n_classes,):
        raise ValueError(f"{name} must hold one number for each of the {n_classes} classes, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers, got {values!r}.")
    return array


def estimate_moments(
    classes: Sequence[ClassData], priors: FloatArray, covariance_estimator: Any, pooling: float
) -> NominalMoments:
    """Nominal moments of each class."""
    return pool_moments(classes, *own_moments(classes, covariance_estimator), priors, pooling)


def own_moments(classes: Sequence[ClassData], covariance_estimator: Any) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of each class from its own samples."""
    if covariance_estimator is None:
        unit = _fallback_scale(classes)
        pairs = [(known.sums.mean, standardised_ledoit_wolf(known.sums, unit)) for known in classes]
    elif type(covariance_estimator) in FROM_SUMS:
        estimate = FROM_SUMS[type(covariance_estimator)]
        pairs = [estimate(covariance_estimator, known.sums) for known in classes]
    else:
        pairs = [_fit_estimator(covariance_estimator, known) for known in classes]
    return np.stack([mean for mean, _ in pairs]), np.stack([covariance for _, covariance in pairs])


def pool_moments(
    classes: Sequence[ClassData], means: FloatArray, covariances: FloatArray, priors: FloatArray, pooling: float
) -> NominalMoments:
    """Nominal moments: with pooling t, each covariance is (1 - t) S_c + t times the mean of all, weighted by priors."""
    if pooling:
        pooled = np.tensordot(priors, covariances, axes=1)
        covariances = (1 - pooling) * covariances + pooling * pooled
    factors = [_factorise_class(S, known) for S, known in zip(covariances, classes, strict=True)]
    return NominalMoments(means, covariances, factors)


def _fallback_scale(classes: Sequence[ClassData]) -> FloatArray:
    """Unit of a feature that is constant within a class: its spread over all data, or else its size."""
    top = np.max([known.sums.highest for known in classes], axis=0)
    bottom = np.min([known.sums.lowest for known in classes], axis=0)
    size = np.max([np.abs(known.sums.mean) for known in classes], axis=0)
    return np.where(top > bottom, top - bottom, np.where(size > 0, size, 1.0))


def _fit_estimator(covariance_estimator: Any, known: ClassData) -> tuple[FloatArray, FloatArray]:
    """Location and covariance from any scikit-learn covariance estimator, fitted on a clone."""
    if isinstance(covariance_estimator, type) or not hasattr(covariance_estimator, "fit"):
        raise ValueError(
            f"covariance_estimator must be None or an estimator object such as LedoitWolf(), got "
            f"{covariance_estimator!r}."
        )
    estimator = clone(covariance_estimator)
    name = type(estimator).__name__
    X, weight = known.samples()
    keywords = {}
    if weight is not None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{name} does not support sample_weight. Use covariance_estimator=None or RidgeCovariance, or fit "
                f"without weights."
            )
        keywords["sample_weight"] = weight
    try:
        estimator.fit(X, **keywords)
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        raise ValueError(f"{name} failed on class {str(known.label)!r}: {error}") from error
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{name} has no covariance_ after fit: it is no covariance estimator.")
    location = getattr(estimator, "location_", None)
    mean = known.sums.mean if location is None else np.asarray(location, dtype=np.float64)
    return mean.ravel(), np.asarray(estimator.covariance_, dtype=np.float64)


def _factorise_class(covariance: FloatArray, known: ClassData) -> Factor:
    name = f"the covariance of class {str(known.label)!r} ({known.sums.weight_sum:g} samples)"
    if not np.isfinite(covariance).all():
        raise ValueError(f"{name} exceeds the range of floating-point numbers; rescale the features.")
    try:
        return factorise(covariance, name)
    except SingularCovarianceError as error:
        raise SingularCovarianceError(
            f"{error} In a classifier: gather more samples of the class, set pooling > 0, or choose a "
            f"covariance_estimator that regularises."
        ) from None

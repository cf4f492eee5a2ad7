"""Nominal moments of every class: means, covariances of their own or shared, pooled if asked, and ready to whiten."""

from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ..numerics.types import FloatArray
from .central import CentralMoments
from .covariance import FROM_SUMS, shrunk_estimate
from .factors import Factor, SingularCovarianceError, factorise
from .labelled import ClassData, Rows


class Estimate(NamedTuple):
    """Mean and covariance of one class, with what shrinkage does to it.

    The mean squared distance of the samples is tr(S^-1 S_n), the number of features if there is no shrinkage. Of these,
    a fraction 1 - s carries the noise of the samples: so many features does S = (1 - s) S_n + s I have in effect.
    """

    mean: FloatArray
    covariance: FloatArray
    sums: CentralMoments
    weight: float = 1.0

    def mean_distance(self) -> float:
        """Mean squared distance of the samples."""
        scale = np.sqrt(np.diagonal(self.covariance))
        unit = scale * scale[:, None]
        return float(np.trace(np.linalg.solve(self.covariance / unit, self.sums.covariance / unit)))


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
    own = own_estimates(classes, covariance_estimator)
    shared = shared_estimate(classes, priors, covariance_estimator) if pooling else None
    return pool_moments(classes, own, shared, pooling)


def own_estimates(classes: Sequence[ClassData], covariance_estimator: Any) -> list[Estimate]:
    """Mean and covariance of each class from its own samples."""
    unit = _fallback_scale(classes)
    return [_estimate(known, covariance_estimator, unit) for known in classes]


def shared_estimate(classes: Sequence[ClassData], priors: FloatArray, covariance_estimator: Any) -> Estimate:
    """One covariance for all classes, from the deviations of all samples from the mean of their class.

    Classes count by their priors, as in linear discriminant analysis; by default that is by their sizes. One shrinkage
    for all deviations is better than the mean of covariances that were shrunk class by class.
    """
    total = sum(known.sums.weight_sum for known in classes)
    sums = [known.sums.centred(prior * total) for known, prior in zip(classes, priors, strict=True)]
    pooled = ClassData("all classes together", reduce(add, sums), partial(_deviations, classes, priors * total))
    return _estimate(pooled, covariance_estimator, _fallback_scale(classes))


def _deviations(classes: Sequence[ClassData], weight_sums: FloatArray) -> Rows:
    """Samples of all classes minus the means of these, and their weights if they are not all 1."""
    parts = [(known, *known.samples()) for known in classes]
    rows = np.concatenate([X - known.sums.mean for known, X, _ in parts])
    factors = [weight_sum / known.sums.weight_sum for known, weight_sum in zip(classes, weight_sums, strict=True)]
    weights = [np.full(len(X), f) if w is None else f * w for f, (_, X, w) in zip(factors, parts, strict=True)]
    weight = np.concatenate(weights)
    return rows, None if np.allclose(weight, 1, rtol=1e-12) else weight


def _estimate(known: ClassData, covariance_estimator: Any, unit: FloatArray) -> Estimate:
    """Mean and covariance of one class; with n <= d, shrinkage leaves fewer effective features than there are."""
    sums, weight = known.sums, 1.0
    if covariance_estimator is None:
        covariance, shrinkage = shrunk_estimate(sums, unit)
        mean, weight = sums.mean, 1 - shrinkage
    elif type(covariance_estimator) in FROM_SUMS:
        mean, covariance = FROM_SUMS[type(covariance_estimator)](covariance_estimator, sums)
        weight = 1 - getattr(covariance_estimator, "shrinkage", 0.0)
    else:
        mean, covariance = _fit_estimator(covariance_estimator, known)
    return Estimate(mean, covariance, sums, weight)


def pool_moments(
    classes: Sequence[ClassData], own: Sequence[Estimate], shared: Estimate | None, pooling: float
) -> NominalMoments:
    """Nominal moments: with pooling t, each covariance is (1 - t) S_c + t times the shared one."""
    means, covariances = np.stack([each.mean for each in own]), np.stack([each.covariance for each in own])
    if pooling:
        assert shared is not None
        covariances = (1 - pooling) * covariances + pooling * shared.covariance
    factors = [factorise_class(S, known) for S, known in zip(covariances, classes, strict=True)]
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


def factorise_class(covariance: FloatArray, known: ClassData) -> Factor:
    """Cholesky factor of a class's covariance; the message names the class where there is none."""
    name = f"the covariance of class {str(known.label)!r} ({known.sums.weight_sum:g} samples)"
    if not np.isfinite(covariance).all():
        raise ValueError(f"{name} exceeds the range of floating-point numbers; rescale the features.")
    try:
        return factorise(covariance, name)
    except SingularCovarianceError as error:
        raise SingularCovarianceError(
            f"{error} In a classifier: gather more samples of the class, share covariances (pooling > 0, or "
            f"covariance='shared'), or choose a covariance_estimator that regularises."
        ) from None

"""Nominal moments of every class: means and covariances, pooled if asked, and ready to whiten."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from ._typing import FloatArray
from .covariance import standardised_ledoit_wolf, weighted_mean
from .moments import Factor, factorise

_ROWS_IN_CACHE = 1024


class NominalMoments(NamedTuple):
    """Means (K, d), covariances (K, d, d) and the factors of the latter, one per class."""

    means: FloatArray
    covariances: FloatArray
    factors: list[Factor]


class ClassSample(NamedTuple):
    """The rows of one class, and their weights where there are any."""

    label: Any
    X: FloatArray
    weight: FloatArray | None

    @property
    def size(self) -> float:
        """Number of samples, or their total weight."""
        return len(self.X) if self.weight is None else float(self.weight.sum())


class TrainingSet(NamedTuple):
    """Samples, their classes as indices into the labels, and their weights where there are any.

    The labels are those of samples of positive weight; a sample of weight 0 with another label has the class -1.
    """

    X: FloatArray
    codes: np.ndarray
    labels: np.ndarray
    weight: FloatArray | None

    def take(self, rows: np.ndarray) -> Self:
        """Some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        return self._replace(X=self.X[rows], codes=self.codes[rows], weight=weight)

    def counted(self) -> Self:
        """The samples of positive weight."""
        if self.weight is None or (self.weight > 0).all():
            return self
        return self.take(np.flatnonzero(self.weight))

    def by_class(self) -> list[ClassSample]:
        """The samples of each class, with contiguous columns."""
        members = [np.flatnonzero(self.codes == code) for code in range(len(self.labels))]
        return [
            ClassSample(label, _take_rows(self.X, rows), None if self.weight is None else self.weight[rows])
            for label, rows in zip(self.labels, members, strict=True)
        ]


def _take_rows(X: FloatArray, rows: np.ndarray) -> FloatArray:
    """Rows of X, stored column by column; taken in blocks that stay in cache between reading and writing."""
    columns = np.empty((X.shape[1], len(rows)), dtype=X.dtype)
    for start in range(0, len(rows), _ROWS_IN_CACHE):
        block = slice(start, start + _ROWS_IN_CACHE)
        columns[:, block] = X[rows[block]].T
    return columns.T


def estimate_moments(
    samples: Sequence[ClassSample], priors: FloatArray, covariance_estimator: Any, pooling: float
) -> NominalMoments:
    """Nominal moments of each class."""
    return pool_moments(samples, *own_moments(samples, covariance_estimator), priors, pooling)


def own_moments(samples: Sequence[ClassSample], covariance_estimator: Any) -> tuple[FloatArray, FloatArray]:
    """Mean and covariance of each class from its own samples."""
    if covariance_estimator is None:
        means = np.stack([weighted_mean(sample.X, sample.weight) for sample in samples])
        unit = _fallback_scale(samples, means)
        covariances = [
            standardised_ledoit_wolf(sample.X, mean, unit, sample.weight)
            for sample, mean in zip(samples, means, strict=True)
        ]
        return means, np.stack(covariances)
    pairs = [_fit_estimator(covariance_estimator, sample) for sample in samples]
    return np.stack([mean for mean, _ in pairs]), np.stack([covariance for _, covariance in pairs])


def pool_moments(
    samples: Sequence[ClassSample], means: FloatArray, covariances: FloatArray, priors: FloatArray, pooling: float
) -> NominalMoments:
    """Nominal moments: with pooling t, each covariance is (1 - t) S_c + t times the mean of all, weighted by priors."""
    if pooling:
        pooled = np.tensordot(priors, covariances, axes=1)
        covariances = (1 - pooling) * covariances + pooling * pooled
    factors = [_factorise_class(S, sample) for S, sample in zip(covariances, samples, strict=True)]
    return NominalMoments(means, covariances, factors)


def _fallback_scale(samples: Sequence[ClassSample], means: FloatArray) -> FloatArray:
    """Unit of a feature that is constant within a class: its spread over all data, or else its size."""
    top = np.max([sample.X.max(axis=0) for sample in samples], axis=0).astype(np.float64)
    bottom = np.min([sample.X.min(axis=0) for sample in samples], axis=0)
    size = np.abs(means).max(axis=0)
    return np.where(top > bottom, top - bottom, np.where(size > 0, size, 1.0))


def _fit_estimator(covariance_estimator: Any, sample: ClassSample) -> tuple[FloatArray, FloatArray]:
    """Location and covariance from any scikit-learn covariance estimator, fitted on a clone."""
    if isinstance(covariance_estimator, type) or not hasattr(covariance_estimator, "fit"):
        raise ValueError(
            f"covariance_estimator must be None or an estimator object such as LedoitWolf(), got "
            f"{covariance_estimator!r}."
        )
    estimator = clone(covariance_estimator)
    keywords = {}
    if sample.weight is not None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{type(estimator).__name__} does not support sample_weight. Use covariance_estimator=None or "
                f"RidgeCovariance, or fit without weights."
            )
        keywords["sample_weight"] = sample.weight
    try:
        estimator.fit(sample.X, **keywords)
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        raise ValueError(f"{type(estimator).__name__} failed on class {str(sample.label)!r}: {error}") from error
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{type(estimator).__name__} has no covariance_ after fit: it is no covariance estimator.")
    location = getattr(estimator, "location_", None)
    mean = weighted_mean(sample.X, sample.weight) if location is None else np.asarray(location, dtype=np.float64)
    return mean.ravel(), np.asarray(estimator.covariance_, dtype=np.float64)


def _factorise_class(covariance: FloatArray, sample: ClassSample) -> Factor:
    name = f"the covariance of class {str(sample.label)!r} ({sample.size:g} samples)"
    if not np.isfinite(covariance).all():
        raise ValueError(f"{name} exceeds the range of floating-point numbers; rescale the features.")
    try:
        return factorise(covariance, name)
    except ValueError as error:
        raise ValueError(
            f"{error} In a classifier: gather more samples of the class, set pooling > 0, or choose a "
            f"covariance_estimator that regularises."
        ) from None

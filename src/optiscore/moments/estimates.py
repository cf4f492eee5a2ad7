"""Estimates of the mean and the covariance of each class, or of a covariance that all share."""

from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple, Self

import numpy as np

from ..numerics.types import BoolArray, FloatArray
from .central import CentralMoments
from .covariance import estimate_by
from .factors import Factor, SingularCovarianceError, factorise
from .labelled import ClassData, Rows


class Estimate(NamedTuple):
    """Mean and covariance of one class, with what shrinkage does to it.

    The mean squared distance of the samples is tr(S^-1 S_n), the number of features if there is no shrinkage. Of these,
    a fraction 1 - s carries the noise of the samples: so many features does S = (1 - s) S_n + s I have in effect.
    """

    known: ClassData
    mean: FloatArray
    covariance: FloatArray
    weight: float = 1.0
    cholesky: Factor | None = None

    def factor(self) -> Factor:
        """Return the Cholesky factor, which estimation may have found already; raise if there is none."""
        return factorise_class(self.covariance, self.known) if self.cholesky is None else self.cholesky

    def widened(self, least_variance: float) -> Self:
        """Return an estimate that has at least this variance in every direction."""
        # No eigenvalue is smaller than the inverse of the sum of those of the inverse.
        if np.square(self.factor().whitener).sum() * least_variance <= 1:
            return self
        return self._replace(covariance=self.covariance + least_variance * np.eye(len(self.mean)), cholesky=None)

    def mean_distance(self, factor: Factor) -> float:
        """Return the mean squared distance of the samples, tr(W S_n W')."""
        whitener = factor.whitener
        return float(np.sum((whitener @ self.known.sums.covariance) * whitener))


def own_estimates(classes: Sequence[ClassData], covariance_estimator: Any) -> list[Estimate]:
    """Return mean and covariance of each class from its own samples."""
    unit = _fallback_scale(classes)
    return [_estimate(known, covariance_estimator, unit) for known in classes]


def shared_estimate(classes: Sequence[ClassData], weights: FloatArray, covariance_estimator: Any) -> Estimate:
    """Return one covariance for all classes, from the deviations of all samples from the mean of their class.

    Weights, of shape (n_classes,), are those of the classes in it.
    """
    total = sum(known.sums.weight_sum for known in classes)
    sums = [known.sums.centred(weight * total) for known, weight in zip(classes, weights, strict=True)]
    pooled = ClassData("all classes together", reduce(add, sums), partial(_deviations, classes, weights * total))
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
    """Return the estimate of one class; with n <= d, shrinkage leaves fewer effective features than there are."""
    if covariance_estimator is None:
        covariance, shrinkage, factor = shrunk_covariance_of(known.sums, unit)
        return Estimate(known, known.sums.mean, covariance, 1 - shrinkage, factor)
    mean, covariance, shrinkage = estimate_by(covariance_estimator, known)
    return Estimate(known, mean, covariance, 1 - shrinkage)


def _fallback_scale(classes: Sequence[ClassData]) -> FloatArray:
    """Unit of a feature that is constant within a class: its spread over all data, or else its size."""
    top = np.max([known.sums.highest for known in classes], axis=0)
    bottom = np.min([known.sums.lowest for known in classes], axis=0)
    size = np.max([np.abs(known.sums.mean) for known in classes], axis=0)
    return np.where(top > bottom, top - bottom, np.where(size > 0, size, 1.0))


class ShrunkCovariance(NamedTuple):
    """A covariance, the weight of the multiple of the identity in it, and its factor if there is one."""

    covariance: FloatArray
    shrinkage: float
    factor: Factor | None


def shrunk_covariance_of(sums: CentralMoments, fallback_scale: FloatArray) -> ShrunkCovariance:
    """Return the Ledoit-Wolf covariance of the features divided by their standard deviations, scaled back.

    Shrinking towards a multiple of the identity only makes sense for features in like units, and it makes the estimate
    independent of all units. Ledoit and Wolf's fourth-order term is the mean of (sum_j z_j^2)^2 over the standardised
    samples z = (x - mean)/s: it equals the sum of the means of (x_j - m_j)^2 (x_k - m_k)^2 over s_j^2 s_k^2.

    The covariance is positive definite: a feature that is constant in the class gets a variance 1/(1 + n) in units of
    ``fallback_scale``, and where Ledoit and Wolf do not shrink although features are collinear (two samples, say), the
    weight is 1/(1 + n).
    """
    n, constant = sums.weight_sum, sums.is_constant
    second = sums.second()
    variances = np.where(constant, 1.0, np.diagonal(second))
    varying = np.where(constant, 0.0, 1 / variances)
    spread = np.sqrt(variances)
    correlation = np.where(constant | constant[:, None], 0.0, second / (spread * spread[:, None]))
    shrinkage = ledoit_wolf_shrinkage(correlation, sums.fourth_length(varying), n)
    unit = np.where(constant, fallback_scale, sums.unit * spread)
    covariance, factor = _shrink(correlation, shrinkage, constant, n, unit)
    if factor is None and shrinkage < 1 / (1 + n):
        shrinkage = 1 / (1 + n)
        covariance, factor = _shrink(correlation, shrinkage, constant, n, unit)
    return ShrunkCovariance(covariance, shrinkage, factor)


def _shrink(
    correlation: FloatArray, shrinkage: float, constant: BoolArray, n: float, unit: FloatArray
) -> tuple[FloatArray, Factor | None]:
    """Return a mix with the mean variance times the identity, in the units of the features, and its factor if any.

    A feature constant over n samples gets a variance of 1/(1 + n).
    """
    d = len(correlation)
    target = shrinkage * np.count_nonzero(~constant) / d
    shrunk = (1 - shrinkage) * correlation
    shrunk.flat[:: d + 1] += np.where(constant, max(target, 1 / (1 + n)), target)
    # Variances beyond the range of numbers become infinite; the caller can say which class has them.
    with np.errstate(over="ignore", under="ignore"):
        covariance = shrunk * unit * unit[:, None]
    try:
        return covariance, factorise(covariance, "") if np.isfinite(covariance).all() else None
    except SingularCovarianceError:
        return covariance, None


def ledoit_wolf_shrinkage(covariance: FloatArray, fourth: float, n_samples: float) -> float:
    """Return Ledoit and Wolf's optimal weight of the multiple of the identity, from sums only.

    They are the covariance (d, d) with denominator n, and the mean of the fourth powers of the lengths of the centred
    samples.
    """
    d = len(covariance)
    if d == 1:
        return 0.0
    total = float(np.square(covariance).sum())
    distance = total - float(np.trace(covariance)) ** 2 / d
    noise = max(fourth - total, 0.0) / n_samples
    return min(noise / distance, 1.0) if noise > 0 and distance > 0 else float(noise > 0)


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

"""Estimators of one class's covariance: Ledoit-Wolf on standardised features, and a ridge."""

from collections.abc import Callable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.covariance import EmpiricalCovariance, ShrunkCovariance, shrunk_covariance
from sklearn.utils.validation import validate_data

from ..estimators.documented import Documented
from ..numerics.types import BoolArray, FloatArray
from .central import CentralMoments
from .factors import cholesky_or_none
from .labelled import check_weights
from .sums import MomentSums


class ShrunkEstimate(NamedTuple):
    """A covariance, and the weight of the multiple of the identity in it."""

    covariance: FloatArray
    shrinkage: float


def standardised_ledoit_wolf(sums: CentralMoments, fallback_scale: FloatArray) -> FloatArray:
    """The covariance of `shrunk_estimate`."""
    return shrunk_estimate(sums, fallback_scale).covariance


def shrunk_estimate(sums: CentralMoments, fallback_scale: FloatArray) -> ShrunkEstimate:
    """Ledoit-Wolf covariance of the features divided by their standard deviations, scaled back.

    Shrinking towards a multiple of the identity only makes sense for features in like units, and it makes the estimate
    independent of all units. Ledoit and Wolf's fourth-order term is the mean of (sum_j z_j^2)^2 over the standardised
    samples z = (x - mean)/s: it equals the sum of the means of (x_j - m_j)^2 (x_k - m_k)^2 over s_j^2 s_k^2.

    Parameters
    ----------
    sums : CentralMoments
        Moments of the samples of one class.
    fallback_scale : ndarray of shape (n_features,)
        Unit of a feature that is constant in the class.

    Returns
    -------
    ShrunkEstimate
        The covariance is positive definite: a constant feature gets a variance of 1/(1 + n) in the fallback unit, and
        where Ledoit and Wolf do not shrink although features are collinear (two samples, say), the weight is 1/(1 + n).
    """
    n, constant = sums.weight_sum, sums.is_constant
    second = sums.second()
    variances = np.where(constant, 1.0, np.diagonal(second))
    varying = np.where(constant, 0.0, 1 / variances)
    spread = np.sqrt(variances)
    correlation = np.where(constant | constant[:, None], 0.0, second / (spread * spread[:, None]))
    shrinkage = ledoit_wolf_shrinkage(correlation, sums.fourth_length(varying), n)
    shrunk = _shrink(correlation, shrinkage, constant, n)
    if cholesky_or_none(shrunk) is None:
        shrinkage = max(shrinkage, 1 / (1 + n))
        shrunk = _shrink(correlation, shrinkage, constant, n)
    unit = np.where(constant, fallback_scale, sums.unit * spread)
    # Variances beyond the range of numbers become infinite; the caller can say which class has them.
    with np.errstate(over="ignore"):
        return ShrunkEstimate(shrunk * unit * unit[:, None], shrinkage)


def _shrink(correlation: FloatArray, shrinkage: float, constant: BoolArray, n: float) -> FloatArray:
    """Mix with the mean variance times the identity; a feature constant over n samples gets a variance of 1/(1 + n)."""
    d = len(correlation)
    target = shrinkage * np.count_nonzero(~constant) / d
    shrunk = (1 - shrinkage) * correlation
    shrunk.flat[:: d + 1] += np.where(constant, max(target, 1 / (1 + n)), target)
    return shrunk


def ledoit_wolf_shrinkage(covariance: FloatArray, fourth: float, n_samples: float) -> float:
    """Ledoit and Wolf's optimal weight of the multiple of the identity, from sums only.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Empirical covariance with denominator n.
    fourth : float
        Mean of the fourth powers of the lengths of the centred samples.
    n_samples : float
        Number or total weight of the samples.
    """
    d = len(covariance)
    if d == 1:
        return 0.0
    total = float(np.square(covariance).sum())
    distance = total - float(np.trace(covariance)) ** 2 / d
    noise = max(fourth - total, 0.0) / n_samples
    return min(noise / distance, 1.0) if noise > 0 and distance > 0 else float(noise > 0)


# scikit-learn has no types: its classes are Any to the type checker.
class RidgeCovariance(Documented, EmpiricalCovariance):  # type: ignore[misc]
    """Empirical covariance plus a multiple of the identity, Sigma + ridge I (the paper's baseline RQDA).

    Parameters
    ----------
    ridge : float, default=0.1
        What is added to every variance, >= 0.
    store_precision : bool, default=True
        Whether the inverse is stored, as in scikit-learn's estimators.
    assume_centered : bool, default=False
        Whether the data are centred already.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        Mean.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import RidgeCovariance
    >>> RidgeCovariance(ridge=0.5).fit(np.array([[0.0, 1.0], [2.0, 1.0]])).covariance_
    array([[1.5, 0. ],
           [0. , 0.5]])
    """

    def __init__(self, ridge: float = 0.1, *, store_precision: bool = True, assume_centered: bool = False) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : RidgeCovariance
        """
        points = validate_data(self, X, dtype=np.float64)
        sums = MomentSums.from_samples(points, None if sample_weight is None else check_weights(sample_weight, points))
        self.location_, covariance = _with_ridge(self, sums)
        self._set_covariance(covariance)
        return self


def _empirical(estimator: Any, sums: CentralMoments) -> tuple[FloatArray, FloatArray]:
    if not estimator.assume_centered:
        return sums.mean, sums.covariance
    return np.zeros(sums.n_features), sums.covariance + np.outer(sums.mean, sums.mean)


def _with_ridge(estimator: Any, sums: CentralMoments) -> tuple[FloatArray, FloatArray]:
    if not (isinstance(estimator.ridge, Real) and 0 <= float(estimator.ridge) < np.inf):
        raise ValueError(f"ridge must be a finite number >= 0, got {estimator.ridge!r}.")
    mean, covariance = _empirical(estimator, sums)
    return mean, covariance + float(estimator.ridge) * np.eye(len(mean))


def _shrunk(estimator: Any, sums: CentralMoments) -> tuple[FloatArray, FloatArray]:
    mean, covariance = _empirical(estimator, sums)
    return mean, shrunk_covariance(covariance, estimator.shrinkage)


#: Estimators that are functions of a class's sums: they need no samples, and take weights.
FROM_SUMS: Mapping[type, Callable[[Any, CentralMoments], tuple[FloatArray, FloatArray]]] = MappingProxyType(
    {EmpiricalCovariance: _empirical, RidgeCovariance: _with_ridge, ShrunkCovariance: _shrunk}
)


def check_estimator_for_sums(covariance_estimator: Any) -> None:
    """Refuse a covariance estimator that needs the samples themselves."""
    if covariance_estimator is not None and type(covariance_estimator) not in FROM_SUMS:
        names = ", ".join(sorted(kind.__name__ for kind in FROM_SUMS))
        raise ValueError(
            f"covariance_estimator {covariance_estimator!r} needs all samples at once, not block by block. Use None or "
            f"one of {names}."
        )

"""Estimators of one class's covariance: Ledoit-Wolf on standardised features, and a ridge."""

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.covariance import EmpiricalCovariance
from sklearn.utils.validation import _check_sample_weight, validate_data

from ._typing import BoolArray, FloatArray
from .moments import cholesky_or_none


def weighted_mean(X: FloatArray, sample_weight: FloatArray | None) -> FloatArray:
    """Mean of the rows in double precision."""
    if sample_weight is None:
        return X.mean(axis=0, dtype=np.float64)
    return (sample_weight @ X) / sample_weight.sum()


def standardised_ledoit_wolf(
    X: FloatArray, mean: FloatArray, fallback_scale: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Ledoit-Wolf covariance of the features divided by their standard deviations, scaled back.

    Shrinking towards a multiple of the identity only makes sense for features in like units, and it makes the estimate
    independent of all units.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples of one class; columns that are contiguous are fastest.
    mean : ndarray of shape (n_features,)
        Their (weighted) mean.
    fallback_scale : ndarray of shape (n_features,)
        Unit of a feature that is constant in X.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights; whole numbers act as repetitions.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Covariance, positive definite: a constant feature gets a variance of 1/(1 + n) in the fallback unit, and where
        Ledoit and Wolf do not shrink although features are collinear (two samples, say), the weight is 1/(1 + n).
    """
    n = len(X) if sample_weight is None else float(sample_weight.sum())
    top, bottom = X.max(axis=0).astype(np.float64), X.min(axis=0).astype(np.float64)
    scale = np.maximum(top - mean, mean - bottom)
    constant = scale <= 8 * np.finfo(X.dtype).eps * np.maximum(np.abs(top), np.abs(bottom))
    scale[constant] = fallback_scale[constant]
    # Features in rows, in units in which no square over- or underflows.
    deviations = np.subtract(X.T, mean[:, None], order="C")
    deviations *= np.where(constant, 0.0, 1 / scale)[:, None]
    weighted = deviations if sample_weight is None else deviations * sample_weight
    correlation = (weighted @ deviations.T) / n
    spread = np.sqrt(np.where(constant, 1.0, np.diagonal(correlation)))
    correlation /= spread * spread[:, None]
    lengths = (1 / np.square(spread)) @ np.square(deviations, out=deviations)
    fourth = lengths @ lengths / n if sample_weight is None else sample_weight @ np.square(lengths) / n
    shrinkage = ledoit_wolf_shrinkage(correlation, float(fourth), n)
    shrunk = _shrink(correlation, shrinkage, constant, n)
    if cholesky_or_none(shrunk) is None:
        shrunk = _shrink(correlation, max(shrinkage, 1 / (1 + n)), constant, n)
    unit = scale * spread
    # Variances beyond the range of numbers become infinite; the caller can say which class has them.
    with np.errstate(over="ignore"):
        return shrunk * unit * unit[:, None]


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
class RidgeCovariance(EmpiricalCovariance):  # type: ignore[misc]
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
        """Estimate the covariance of the rows of X; y is ignored."""
        if not (isinstance(self.ridge, Real) and np.isfinite(self.ridge) and self.ridge >= 0):
            raise ValueError(f"ridge must be a finite number >= 0, got {self.ridge!r}.")
        points = validate_data(self, X, dtype=np.float64)
        weight = _check_sample_weight(sample_weight, points, ensure_non_negative=True)
        self.location_ = np.zeros(points.shape[1]) if self.assume_centered else weighted_mean(points, weight)
        deviations = points - self.location_
        covariance = (deviations * weight[:, None]).T @ deviations / weight.sum()
        self._set_covariance(covariance + self.ridge * np.eye(points.shape[1]))
        return self

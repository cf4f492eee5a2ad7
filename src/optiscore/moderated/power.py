"""A map that makes features look Gaussian one by one: Yeo-Johnson on standardised features, clipped far outside."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..estimators.results import Results
from ..moments.central import center_and_scale
from ..moments.labelled import check_weights
from ..numerics.types import FloatArray

# Where the exponent is sought: beyond, it would serve a few outliers only.
_EXPONENTS = (-4.0, 6.0)


# scikit-learn has no types: its classes are Any to the type checker.
class PowerMap(OneToOneFeatureMixin, TransformerMixin, Results):  # type: ignore[misc]
    """Standardised features through Yeo and Johnson's power transform, standardised again and clipped.

    As scikit-learn's StandardScaler and PowerTransformer one after the other, but for two things: samples may have
    weights, and values are clipped to one width of the training range beyond it, so that a point far outside stays far
    outside and finite.

    Attributes
    ----------
    center_, scale_ : ndarray of shape (n_features,)
        Mean and standard deviation of the features; a constant feature has the scale 1.
    lambdas_ : ndarray of shape (n_features,)
        Yeo and Johnson's lambda, by maximum likelihood.
    mapped_center_, mapped_scale_ : ndarray of shape (n_features,)
        Mean and standard deviation after the transform.
    lowest_, highest_ : ndarray of shape (n_features,)
        Where mapped values are clipped.
    range_ : ndarray of shape (2, n_features)
        Training range of the standardised features.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Yeo, Johnson: A new family of power transformations to improve normality or symmetry, Biometrika 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import PowerMap
    >>> X = np.random.default_rng(0).exponential(size=(1000, 1))
    >>> Z = PowerMap().fit_transform(X)
    >>> round(float((Z**3).mean()), 2), round(float((X**3).mean()), 2)
    (0.18, 6.35)
    """

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the lambdas.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; samples of weight 0 are left out.

        Returns
        -------
        self : PowerMap
        """
        with self._learning():
            points: FloatArray = validate_data(self, X, dtype=[np.float64, np.float32]).astype(np.float64)
            weight = None
            if sample_weight is not None:
                weight = check_weights(sample_weight, points)
                points, weight = points[weight > 0], weight[weight > 0]
            transform = fit_power(points, weight)
            return self._keep(_model=transform, **{f"{name}_": value for name, value in transform._asdict().items()})

    def _build(self) -> "PowerTransform":
        return PowerTransform(*(getattr(self, f"{name}_") for name in PowerTransform._fields))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "lambdas_")

    def transform(self, X: ArrayLike) -> FloatArray:
        """Map samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; float32 stays float32.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        points = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return self._model.transform(points)

    def extrapolate(self, X: ArrayLike) -> FloatArray:
        """Map samples; beyond the training range the map goes on linearly, in standard deviations, without a limit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        return self._model.extrapolate(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))


class PowerTransform(NamedTuple):
    """The map of every feature."""

    center: FloatArray
    scale: FloatArray
    lambdas: FloatArray
    range: FloatArray
    mapped_center: FloatArray
    mapped_scale: FloatArray
    lowest: FloatArray
    highest: FloatArray

    def transform(self, X: FloatArray) -> FloatArray:
        """Return mapped samples, clipped far outside, in the type of X."""
        # What overflows lies beyond the range, where values are clipped.
        with np.errstate(over="ignore", invalid="ignore"):
            mapped = _yeo_johnson((X - self.center) / self.scale, self.lambdas)
            mapped = (mapped - self.mapped_center) / self.mapped_scale
        return np.clip(np.nan_to_num(mapped, nan=0.0), self.lowest, self.highest).astype(X.dtype, copy=False)

    def extrapolate(self, X: FloatArray) -> FloatArray:
        """Return mapped samples; beyond the training range the map goes on linearly, in standard deviations."""
        with np.errstate(over="ignore"):
            standardised = (X - self.center) / self.scale
        beyond = standardised - np.clip(standardised, *self.range)
        limit = np.finfo(X.dtype).max ** 0.4
        return (self.transform(X) + np.clip(beyond, -limit, limit)).astype(X.dtype, copy=False)


def fit_power(X: FloatArray, weight: FloatArray | None) -> PowerTransform:
    """Return the map of samples of positive weight."""
    center, scale = center_and_scale(X, weight)
    standardised = (X - center) / scale
    lambdas = np.array([_exponent(column, weight) for column in standardised.T])
    mapped = _yeo_johnson(standardised, lambdas)
    mapped_center, mapped_scale = center_and_scale(mapped, weight)
    mapped = (mapped - mapped_center) / mapped_scale
    width = np.ptp(mapped, axis=0)
    return PowerTransform(
        center,
        scale,
        lambdas,
        np.stack([standardised.min(axis=0), standardised.max(axis=0)]),
        mapped_center,
        mapped_scale,
        mapped.min(axis=0) - width,
        mapped.max(axis=0) + width,
    )


def _yeo_johnson(X: FloatArray, lambdas: Any) -> Any:
    """((1 + x)^l - 1)/l for x >= 0, -((1 - x)^(2 - l) - 1)/(2 - l) for x < 0; logarithms where a power is 0."""
    power = np.where(X >= 0, lambdas, 2 - lambdas)
    logarithm = np.log1p(np.abs(X))
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = np.where(power == 0, logarithm, np.expm1(power * logarithm) / power)
    return np.where(X >= 0, grown, -grown)


def _exponent(x: FloatArray, weight: FloatArray | None) -> float:
    """The exponent under which the transformed values are most likely Gaussian; 1 for a constant feature."""
    if not np.ptp(x):
        return 1.0
    jacobian = np.average(np.copysign(np.log1p(np.abs(x)), x), weights=weight)

    def loss(exponent: Any) -> Any:
        mapped = _yeo_johnson(x, exponent)
        variance = np.average((mapped - np.average(mapped, weights=weight)) ** 2, weights=weight)
        return 0.5 * np.log(variance) - (exponent - 1) * jacobian

    def slope(exponent: float) -> float:
        """The derivative of the loss to all digits, by a step in the imaginary direction."""
        return float(loss(exponent + 1e-30j).imag) * 1e30

    nearly = float(minimize_scalar(loss, bounds=_EXPONENTS, method="bounded").x)
    near = nearly - 1e-3, nearly + 1e-3
    # At an end of the range there is no root.
    return float(brentq(slope, *near, xtol=1e-14)) if slope(near[0]) < 0 < slope(near[1]) else nearly

"""Checks and factors of a mean and a covariance: what every function that takes moments does first."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from ..numerics.types import FloatArray

# Asymmetry beyond this, relative to the standard deviations, is an error and not rounding.
_SYMMETRY_SINGLE, _SYMMETRY_DOUBLE = 1e-4, 1e-7


# A matrix whose reciprocal condition number is below this cannot be told from a singular one.
_SINGULAR = 8 * np.finfo(np.float64).eps


class SingularCovarianceError(ValueError):
    """A covariance is not positive definite."""


@dataclass(frozen=True, eq=False)
class Factor:
    """Lower Cholesky factor of a covariance, and the logarithm of its determinant."""

    lower: FloatArray
    logdet: float

    @cached_property
    def whitener(self) -> FloatArray:
        """W, the inverse of the factor; SciPy's solvers would wake its threads while NumPy's still spin."""
        whitener: FloatArray = dtrtri(self.lower, lower=1)[0]
        return whitener

    def whiten(self, deviations: FloatArray) -> FloatArray:
        """Solve lower @ eta = deviation for each row; the rows of the result have squared lengths alpha."""
        return solve_triangular(self.lower, deviations.T, lower=True, check_finite=False).T


def check_mean(mean: ArrayLike, name: str) -> FloatArray:
    """A mean as a finite vector of doubles."""
    vector = finite_array(mean, name)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(f"{name} must be a vector with one entry per feature, got an array of shape {vector.shape}.")
    return vector


def check_covariance(covariance: ArrayLike, name: str, n_features: int) -> tuple[FloatArray, Factor]:
    """A covariance as a symmetric positive definite matrix of doubles, with its Cholesky factor."""
    matrix = finite_array(covariance, name)
    single = getattr(covariance, "dtype", None) == np.float32
    if matrix.shape != (n_features, n_features):
        raise ValueError(
            f"{name} must be of shape {(n_features, n_features)} to go with a mean of {n_features} features, got "
            f"{matrix.shape}."
        )
    return matrix, factorise(matrix, name, _SYMMETRY_SINGLE if single else _SYMMETRY_DOUBLE)


def factorise(matrix: FloatArray, name: str, tolerance: float = _SYMMETRY_DOUBLE) -> Factor:
    """Cholesky factor of a covariance, found on the scale of its correlations so that units do not matter."""
    variances = np.diagonal(matrix)
    if not (variances > 0).all():
        feature = int(np.argmin(variances))
        raise SingularCovarianceError(
            f"{name} is not positive definite: the variance of feature {feature} is {variances[feature]:.3g}. Drop the "
            f"feature or regularise the covariance."
        )
    scale = np.sqrt(variances)
    correlation = matrix / scale / scale[:, None]
    asymmetry = np.abs(correlation - correlation.T).max()
    if asymmetry > tolerance:
        raise ValueError(
            f"{name} is not symmetric: entries differ by {asymmetry:.3g} standard deviations from their mirror images. "
            f"Pass (A + A.T) / 2 if that is what you mean."
        )
    lower, failed = dpotrf(correlation, lower=True, clean=True)
    if failed or dpocon(lower, np.abs(correlation).sum(axis=0).max(), uplo="L")[0] <= _SINGULAR:
        raise SingularCovarianceError(
            f"{name} is not positive definite: features are collinear or the matrix is no covariance. Remove "
            f"redundant features or add a small multiple of the identity."
        )
    logdet = 2 * float(np.log(np.diagonal(lower)).sum() + np.log(scale).sum())
    return Factor(lower * scale[:, None], logdet)


def check_points(X: ArrayLike, n_features: int, name: str = "X") -> FloatArray:
    """One point or many as a finite matrix; float32 is kept, everything else becomes float64."""
    single = getattr(X, "dtype", None) == np.float32
    points = finite_array(X, name, np.float32 if single else np.float64)
    matrix = points[None, :] if points.ndim == 1 else points
    if matrix.ndim != 2 or matrix.shape[1] != n_features:
        raise ValueError(
            f"{name} must hold points of {n_features} features, one point of shape ({n_features},) or many of shape "
            f"(n_samples, {n_features}); got {points.shape}."
        )
    return matrix


def squared_distances(X: FloatArray, mean: FloatArray, factor: Factor) -> FloatArray:
    """Alpha = (x - m)' S^-1 (x - m) of each row, at most the largest finite number."""
    with np.errstate(over="ignore", invalid="ignore"):
        eta = factor.whiten(X.astype(np.float64, copy=False) - mean)
        alpha = np.einsum("ij,ij->i", eta, eta)
    largest = float(np.finfo(X.dtype).max)
    return np.nan_to_num(alpha, nan=largest, posinf=largest).clip(max=largest).astype(X.dtype)


def check_radius(radius: Any) -> float:
    """A radius as a finite number >= 0."""
    try:
        number = float(radius)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"radius must be a number >= 0, got {radius!r}.") from None
    if not (np.isfinite(number) and number >= 0):
        raise ValueError(f"radius must be a finite number >= 0, got {radius!r}. Radius 0 is the nominal score.")
    return number


def finite_array(values: ArrayLike, name: str, dtype: type = np.float64) -> FloatArray:
    """An array of finite real numbers of the given type."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError
        with np.errstate(over="ignore"):
            array = array.astype(dtype, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be an array of real numbers.") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} contains NaN or infinity; remove or impute these entries first.")
    return array

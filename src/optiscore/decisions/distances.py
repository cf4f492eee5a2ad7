"""Squared Mahalanobis distances of samples to every class."""

from collections.abc import Sequence

import numpy as np
from scipy.linalg.lapack import dtrtri

from ..moments.factors import Factor
from ..numerics.arrays import Array, is_numpy
from ..numerics.backend import backend_of
from ..numerics.types import FloatArray


class ClassDistances:
    """alpha_c(x) = (x - m_c)' S_c^-1 (x - m_c) for all classes c.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features)
        Means.
    factors : sequence of Factor
        Cholesky factors of the covariances.
    """

    def __init__(self, means: FloatArray, factors: Sequence[Factor]) -> None:
        self._means = means
        # solve_triangular would wake SciPy's BLAS threads while NumPy's still spin: milliseconds for a small matrix.
        self._whiteners = np.stack([dtrtri(factor.lower, lower=1)[0] for factor in factors])

    def __call__(self, X: Array) -> Array:
        """Distances (n_classes, n_samples), in the type of X; of NumPy's arrays all finite, of others as they come."""
        with np.errstate(over="ignore", invalid="ignore"):
            alpha = backend_of(X).squared_lengths(X, self._means, self._whiteners)
            if is_numpy(X):
                self._limit(X, alpha)
        return alpha

    def _limit(self, X: FloatArray, alpha: FloatArray) -> None:
        """Replace distances that overflow."""
        ceiling = float(np.finfo(X.dtype).max ** 0.9)
        if alpha.max(initial=0) <= ceiling:
            return
        overflown = ~(alpha <= ceiling)
        alpha[overflown] = ceiling
        if (far := overflown.all(axis=0)).any():
            alpha[:, far] = self._far_away(X[far].astype(np.float64), ceiling)

    def _far_away(self, X: FloatArray, ceiling: float) -> FloatArray:
        """Distances that all overflow, divided by one factor per sample: their proportions are what decides."""
        size = np.abs(X).max(axis=1, keepdims=True)
        deviations = X / size - self._means[:, None, :] / size
        alpha = np.square(deviations @ self._whiteners.transpose(0, 2, 1)).sum(axis=2)
        return alpha * (ceiling / alpha.max(axis=0))

"""Squared Mahalanobis distances of samples to every class."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtri

from ..numerics.arrays import Array, is_numpy, namespace_of
from ..numerics.backend import backend_of
from ..numerics.types import FloatArray
from ..numerics.whitening import Whitening
from ..numerics.workspace import FRESH, Workspace
from .factors import Factor

# Classes are whitened around one origin if none is farther from it than this, in units of its spread: so much precision
# is lost at most, and much time gained.
_REACH = {np.float64: 1e3, np.float32: 30.0}


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
        self._whitenings: dict[Any, list[Whitening]] = {}

    def __call__(self, X: Array, room: Workspace = FRESH) -> Array:
        """Distances (n_classes, n_samples), in the type of X; of NumPy's arrays all finite, of others as they come."""
        dtype = np.float32 if X.dtype == namespace_of(X).float32 else np.float64
        with np.errstate(over="ignore", invalid="ignore"):
            if (whitenings := self._whitenings.get(dtype)) is None:
                whitenings = self._whitenings[dtype] = self._group(dtype)
            alpha = backend_of(X).squared_lengths(X, whitenings, room)
            if is_numpy(X):
                self._limit(X, alpha)
        return alpha

    def _group(self, dtype: Any) -> list[Whitening]:
        """Classes that lie near each other in units of their own spread, each group with the mean of its means."""
        groups, left = [], np.arange(len(self._means))
        most = Whitening.most_classes(self._means.shape[1])
        while left.size:
            origin = self._means[left].mean(axis=0)
            near = self._within_reach(left, origin, dtype)
            if not near.any():
                origin = self._means[left[0]]
                near = self._within_reach(left, origin, dtype)
                # Around its own mean a class is near, whatever becomes of the others.
                near[0] = True
            for first in range(0, np.count_nonzero(near), most):
                group = left[near][first : first + most]
                groups.append(Whitening(group, origin, self._means[group], self._whiteners[group], dtype))
            left = left[~near]
        return groups

    def _within_reach(self, classes: np.ndarray, origin: FloatArray, dtype: Any) -> np.ndarray:
        shifts = self._whiteners[classes] @ (self._means[classes] - origin)[:, :, None]
        return (np.abs(shifts) <= _REACH[dtype]).all(axis=(1, 2))

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

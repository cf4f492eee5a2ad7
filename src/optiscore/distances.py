"""Squared Mahalanobis distances to every class, in blocks that stay in cache and run on threads."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeAlias

import joblib
import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import ThreadpoolController

from ._typing import FloatArray
from .moments import Factor

#: Receives the rows of a block and the squared distances (n_classes, n_rows) of its samples.
Consumer: TypeAlias = Callable[[slice, FloatArray], None]

# Three such buffers are alive per thread.
_BUFFER_BYTES = 256 * 1024
_MAX_ROWS = 8192

# Rows of a triangular factor that are multiplied at a time: what lies right of the diagonal block is skipped.
_PANEL = 64

# Below this many numbers a second thread costs more than it brings.
_SERIAL_SIZE = 200_000


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
        identity = np.eye(means.shape[1])
        inverses = [solve_triangular(factor.lower, identity, lower=True, check_finite=False) for factor in factors]
        self._means, self._whiteners = means[:, :, None], np.stack(inverses)

    def for_each_block(self, X: FloatArray, consume: Consumer) -> None:
        """Call ``consume(rows, alpha)`` for blocks of rows of X, possibly from several threads at once.

        Everything is computed in the type of X, float32 or float64.
        """
        n, d = X.shape
        step = int(np.clip(_BUFFER_BYTES // (X.itemsize * d), 64, _MAX_ROWS))
        n_threads = _n_threads() if X.size > _SERIAL_SIZE else 1
        means, whiteners = self._means.astype(X.dtype, copy=False), self._whiteners.astype(X.dtype, copy=False)

        def work(start: int, stop: int) -> None:
            buffers = np.empty((3, d, min(step, stop - start)), dtype=X.dtype)
            for first in range(start, stop, step):
                rows = slice(first, min(first + step, stop))
                with np.errstate(over="ignore", invalid="ignore"):
                    alpha = self._block(X[rows], means, whiteners, buffers[:, :, : rows.stop - rows.start])
                consume(rows, alpha)

        if n_threads == 1:
            work(0, n)
            return
        # More tasks than threads even out their speeds.
        edges = np.arange(0, n, step * -(-n // (step * 4 * n_threads))).tolist()
        with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(work, edges, [*edges[1:], n]))

    def _block(self, X: FloatArray, means: FloatArray, whiteners: FloatArray, buffers: FloatArray) -> FloatArray:
        samples, centred, whitened = buffers
        alpha = np.empty((len(means), len(X)), dtype=X.dtype)
        samples[...] = X.T
        for mean, whitener, row in zip(means, whiteners, alpha, strict=True):
            np.subtract(samples, mean, out=centred)
            for first in range(0, len(whitener), _PANEL):
                panel = slice(first, first + _PANEL)
                np.matmul(whitener[panel, : panel.stop], centred[: panel.stop], out=whitened[panel])
            np.multiply(whitened, whitened, out=whitened)
            np.add.reduce(whitened, axis=0, out=row)
        ceiling = np.finfo(X.dtype).max ** 0.9
        if not alpha.max(initial=0) <= ceiling:
            far = ~(alpha <= ceiling).all(axis=0)
            alpha[:, far] = self._far_away(X[far].astype(np.float64), ceiling)
        return alpha

    def _far_away(self, X: FloatArray, ceiling: float) -> FloatArray:
        """Distances that overflow, divided by one factor per sample: their proportions are what decides."""
        size = np.abs(X).max(axis=1, keepdims=True)
        deviations = X / size - self._means[:, :, 0][:, None, :] / size
        alpha = np.square(deviations @ self._whiteners.transpose(0, 2, 1)).sum(axis=2)
        return alpha * (ceiling / alpha.max(axis=0))


def _n_threads() -> int:
    """As many threads as the process may use; OMP_NUM_THREADS caps it, as joblib's workers expect."""
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = joblib.cpu_count()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()

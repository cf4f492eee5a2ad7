"""Squared Mahalanobis distances to every class, in blocks that stay in cache and run on threads."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg.lapack import dtrtri

from ._typing import FloatArray
from .moments import Factor
from .threads import map_threads, n_threads

#: Receives the rows of a block and the squared distances (n_classes, n_rows) of its samples.
Consumer: TypeAlias = Callable[[slice, FloatArray], None]

# Distances that are handed on together: threads meet at the interpreter's lock after every array operation, so that
# small blocks would make them wait for each other.
_BLOCK_DISTANCES, _MAX_ROWS = 131_072, 65_536

# Samples that are whitened together: three such buffers are alive per thread.
_BUFFER_BYTES = 1024 * 1024

# Rows of a triangular factor that are multiplied at a time: what lies right of the diagonal block is skipped.
_PANEL = 64


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
        # solve_triangular would wake SciPy's BLAS threads while NumPy's still spin: milliseconds for a small matrix.
        inverses = [dtrtri(factor.lower, lower=1)[0] for factor in factors]
        self._means, self._whiteners = means[:, :, None], np.stack(inverses)

    @property
    def whiteners(self) -> FloatArray:
        """Inverses of the Cholesky factors, (n_classes, n_features, n_features)."""
        return self._whiteners

    def for_each_block(self, X: FloatArray, consume: Consumer) -> None:
        """Call ``consume(rows, alpha)`` for blocks of rows of X, possibly from several threads at once.

        Everything is computed in the type of X, float32 or float64.
        """
        n, d = X.shape
        threads = n_threads(X.size)
        step = max(1, min(_BLOCK_DISTANCES // len(self._means), _MAX_ROWS, -(-n // threads)))
        means, whiteners = self._means.astype(X.dtype, copy=False), self._whiteners.astype(X.dtype, copy=False)
        # Few features are copied into rows of their own, which subtracting a mean from is fast; many stay as they are.
        order: Literal["C", "F"] = "C" if d <= 16 else "F"
        panel_rows = int(np.clip(_BUFFER_BYTES // (X.itemsize * d), 64, step))

        def work(first: int) -> None:
            rows = slice(first, min(first + step, n))
            alpha = np.empty((len(means), rows.stop - first), dtype=X.dtype)
            centred = np.empty((d, panel_rows), dtype=X.dtype, order=order)
            whitened = np.empty((d, panel_rows), dtype=X.dtype)
            with np.errstate(over="ignore", invalid="ignore"):
                for start in range(first, rows.stop, panel_rows):
                    stop = min(start + panel_rows, rows.stop)
                    part = slice(0, stop - start)
                    samples = np.asarray(X[start:stop].T, order=order)
                    lengths = alpha[:, start - first : stop - first]
                    _squared_lengths(samples, means, whiteners, centred[:, part], whitened[:, part], lengths)
                self._mend_overflow(X[rows], alpha)
            consume(rows, alpha)

        map_threads(work, range(0, n, step), threads)

    def fill(self, X: FloatArray, alpha: FloatArray) -> None:
        """Put the squared distances of all rows of X into an array (n_classes, n)."""

        def consume(rows: slice, block: FloatArray) -> None:
            alpha[:, rows] = block

        self.for_each_block(X, consume)

    def _mend_overflow(self, X: FloatArray, alpha: FloatArray) -> None:
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
        deviations = X / size - self._means[:, :, 0][:, None, :] / size
        alpha = np.square(deviations @ self._whiteners.transpose(0, 2, 1)).sum(axis=2)
        return alpha * (ceiling / alpha.max(axis=0))


def _squared_lengths(
    samples: FloatArray,
    means: FloatArray,
    whiteners: FloatArray,
    centred: FloatArray,
    whitened: FloatArray,
    alpha: FloatArray,
) -> None:
    """Fill alpha (n_classes, n) with the squared lengths of whitened samples; features are in rows, two are scratch."""
    for mean, whitener, lengths in zip(means, whiteners, alpha, strict=True):
        np.subtract(samples, mean, out=centred)
        for first in range(0, len(whitener), _PANEL):
            panel = slice(first, first + _PANEL)
            np.matmul(whitener[panel, : panel.stop], centred[: panel.stop], out=whitened[panel])
        np.multiply(whitened, whitened, out=whitened)
        np.add.reduce(whitened, axis=0, out=lengths)

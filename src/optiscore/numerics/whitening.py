"""Whitening of samples for some classes at once, with NumPy: squared lengths of W_c (x - m_c)."""

from typing import Any

import numpy as np

from .types import FloatArray
from .workspace import Workspace

# Bytes of whitened samples of all classes that NumPy makes at a time: they stay in the second-level cache.
_WHITENING_BYTES = 512 * 1024

# Rows of triangular factors that are multiplied at a time: what lies right of the diagonal block is skipped. So many
# rows of all classes together leave room for some hundred samples.
_PANEL, _TALLEST = 64, 256


class Whitening:
    """Lower triangular whiteners of some classes, ready for samples around one origin.

    With z = (1, x - origin), the whitened deviations W_c (x - m_c) of all classes are one product with the rows
    (W_c (origin - m_c), W_c). Of large triangles some rows are multiplied at a time, up to their last column.

    Parameters
    ----------
    classes : ndarray of shape (k,)
        The classes.
    origin : ndarray of shape (d,)
        A point near all of them.
    means, whiteners : ndarray of shape (k, d) and (k, d, d)
        Means m_c and inverse Cholesky factors W_c.
    dtype : numpy.float64 or numpy.float32
        Type of the samples.
    """

    @staticmethod
    def most_classes(n_features: int) -> int:
        """How many classes are best multiplied together."""
        return max(1, _TALLEST // min(n_features, _PANEL))

    def __init__(
        self, classes: np.ndarray, origin: FloatArray, means: FloatArray, whiteners: FloatArray, dtype: Any
    ) -> None:
        self.classes, self.means, self.whiteners = classes, means, whiteners
        # A slice, where it does, is filled without a copy.
        in_order = slice(int(classes[0]), int(classes[-1]) + 1)
        self.place: slice | np.ndarray = in_order if in_order.stop - in_order.start == len(classes) else classes
        self.origin = origin.astype(dtype)[:, None]
        # In single precision the origin is rounded; what it lacks goes into the shift.
        shifts = whiteners @ (self.origin.astype(np.float64)[:, 0] - means)[:, :, None]
        rows = np.concatenate([shifts, whiteners], axis=2)
        d = len(origin)
        self.panels = [
            rows[:, first : first + _PANEL, : first + _PANEL + 1].reshape(-1, min(first + _PANEL, d) + 1).astype(dtype)
            for first in range(0, d, _PANEL)
        ]

    def fill_lengths(self, alpha: FloatArray, X: FloatArray) -> None:
        """Fill the rows of these classes of an array (n_classes, n) with the squared lengths for n samples."""
        rows, room = max(1, _WHITENING_BYTES // (X.itemsize * len(self.panels[0]))), Workspace()
        for start in range(0, len(X), rows):
            self._fill_block(alpha[:, start : start + rows], X[start : start + rows], room)

    def _fill_block(self, alpha: FloatArray, X: FloatArray, room: Workspace) -> None:
        n, d = X.shape
        deviations = room.array("deviations", (d + 1, n), X.dtype)
        deviations[0] = 1
        np.subtract(X.T, self.origin, out=deviations[1:])
        lengths = alpha[self.place]
        for i, panel in enumerate(self.panels):
            eta = room.array("whitened", (len(panel), n), X.dtype)
            np.matmul(panel, deviations[: panel.shape[1]], out=eta)
            np.multiply(eta, eta, out=eta)
            eta = eta.reshape(len(self.classes), -1, n)
            if i:
                lengths += np.add.reduce(eta, axis=1)
            else:
                np.add.reduce(eta, axis=1, out=lengths)
        if not isinstance(self.place, slice):
            # Until here, it was a copy.
            alpha[self.place] = lengths

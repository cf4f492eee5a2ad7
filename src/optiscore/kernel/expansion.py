"""KernelExpansion: a fitted function of scaled features, kernel values with anchors times coefficients."""

from typing import Any

import numpy as np

from ..numerics.types import FloatArray
from .kernels import KERNELS

# Single precision makes errors of about 1e-6 in a kernel value, as if at random: this much may become of them.
_SINGLE, _TOLERATED = 1e-6, 1e-4

# Against so few anchors, doubles are as fast as anybody may wish.
_FEW_ANCHORS = 300

# Kernel values that stay in the cache of a core.
_CACHED = 131_072


class KernelExpansion:
    """Kernel values of rows with anchors times coefficients, less an offset.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    anchors : ndarray of shape (n_anchors, n_features)
        Training rows (or landmarks, or unit vectors), scaled.
    bandwidth : float
        Unit of distance.
    coefficients : ndarray of shape (n_anchors, n_outputs)
        What kernel values are multiplied with.
    offset : ndarray of shape (n_outputs,)
        What is subtracted from the result.
    """

    def __init__(
        self, kernel: str, anchors: FloatArray, bandwidth: float, coefficients: FloatArray, offset: FloatArray
    ) -> None:
        # The layout of an array decides about the rounding of products: files keep no other.
        self.kernel, self.bandwidth, self.offset = kernel, bandwidth, offset
        self.anchors, self.coefficients = np.ascontiguousarray(anchors), np.ascontiguousarray(coefficients)
        # With a small ridge, coefficients are large and cancel beyond the digits of single precision.
        error = _SINGLE * float(np.sqrt(np.square(coefficients).sum(axis=0).max(initial=0)))
        single = len(anchors) > _FEW_ANCHORS and error <= _TOLERATED
        self.compare = KERNELS[kernel].against(self.anchors, bandwidth, single=single)

    def __call__(self, scaled: FloatArray) -> FloatArray:
        """Values of shape (n_rows, n_outputs) of rows in doubles."""
        values = np.empty((len(scaled), len(self.offset)))
        step = max(1, _CACHED // len(self.anchors))
        for start in range(0, len(scaled), step):
            part = slice(start, start + step)
            np.matmul(self.compare(scaled[part]), self.coefficients, out=values[part])
        values -= self.offset
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        """What compares with the anchors is made anew."""
        return KernelExpansion, (self.kernel, self.anchors, self.bandwidth, self.coefficients, self.offset)

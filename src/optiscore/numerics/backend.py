"""The two operations on samples that run where these are: power sums, and whitened squared lengths.

NumPy's bodies work in buffers that are used again; those of the standard's operations run wherever the array is. All
else is done on the host, with one number per sample and class.
"""

from typing import NamedTuple

import numpy as np

from .arrays import Array, like, namespace_of, take_rows, to_host, to_widest_float
from .types import FloatArray

# Bytes of samples that are summed together: NumPy's stay in the second-level cache.
_BUFFER_BYTES, _FEWEST_ROWS, _DEVICE_BUFFER_BYTES = 1024 * 1024, 512, 64 * 1024 * 1024


class BlockSummary(NamedTuple):
    """Total weight, mean and range of a block of samples, on the host."""

    weight_sum: float
    mean: FloatArray
    lowest: FloatArray
    highest: FloatArray


def power_sums(X: Array, n_rows: int) -> "_NumpyPowerSums | _StandardPowerSums":
    """Return sums over blocks of so many rows in all."""
    return _NumpyPowerSums(X, n_rows) if isinstance(X, np.ndarray) else _StandardPowerSums(X)


def squared_lengths(X: Array, means: FloatArray, whiteners: FloatArray) -> FloatArray:
    """Return squared lengths (n_classes, n) of W_c (x - m_c) on the host, computed where X is."""
    xp = namespace_of(X)
    # The sum over features as a product with ones: libraries reduce short rows slowly.
    ones = xp.ones_like(X[0, :])
    lengths = []
    # Some libraries are NumPy underneath and would warn of overflow, which the caller deals with.
    with np.errstate(over="ignore", invalid="ignore"):
        for mean, whitener in zip(means, whiteners, strict=True):
            eta = (X - like(mean, X, X.dtype)) @ like(whitener.T, X, X.dtype)
            lengths.append((eta * eta) @ ones)
    return np.array(to_host(xp.stack(lengths)))


class _NumpyPowerSums:
    """A buffer for (1, u, u^2), one sample per column: fresh memory for each block would cost more than arithmetic."""

    #: Largest deviation, in units, from the origin of earlier blocks that sums around it allow for.
    reach = 2.0**200

    def __init__(self, X: FloatArray, n_rows: int) -> None:
        d = X.shape[1]
        self.rows_per_block = max(1, min(n_rows, max(_FEWEST_ROWS, _BUFFER_BYTES // (16 * d))))
        self._X, self.resolution = X, float(np.finfo(X.dtype).eps)
        self._taken = np.empty((self.rows_per_block, d), dtype=X.dtype)
        self._buffer = np.empty((1 + 2 * d, self.rows_per_block))
        self._weight: FloatArray | None = None

    def load(self, rows: np.ndarray | slice, weight: FloatArray | None) -> BlockSummary:
        """Take some rows, with their weights, as the block that is worked on."""
        d = self._X.shape[1]
        if isinstance(rows, slice):
            block = self._X[rows]
        else:
            block = self._X.take(rows, axis=0, out=self._taken[: len(rows)], mode="clip")
        self._powers, self._weight = self._buffer[:, : len(block)], weight
        u = self._powers[1 : d + 1]
        u[:] = block.T
        weight_sum = len(block) if weight is None else float(weight.sum())
        mean = u.mean(axis=1) if weight is None else u @ (weight / weight_sum)
        return BlockSummary(weight_sum, mean, u.min(axis=1), u.max(axis=1))

    def gram(
        self, summary: BlockSummary, origin: FloatArray, unit: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return origin and unit that the precision allows for, and the Gram matrix of (1, u, u^2) over the block.

        With u = (x - origin)/unit; it uses the block up.
        """
        d, powers = len(origin), self._powers
        powers[0], u = 1.0, powers[1 : d + 1]
        u -= origin[:, None]
        if (unit != 1).any():
            u *= 1 / unit[:, None]
        np.multiply(u, u, out=powers[d + 1 :])
        if self._weight is not None:
            powers *= np.sqrt(self._weight)
        return origin, unit, powers @ powers.T


class _StandardPowerSums:
    """Blocks large enough for an accelerator, each around an origin of its own: single precision allows no other."""

    reach = 0.0

    def __init__(self, X: Array) -> None:
        self.rows_per_block = max(1, _DEVICE_BUFFER_BYTES // (8 * X.shape[1]))
        self._X, self.resolution = X, float(namespace_of(X).finfo(X.dtype).eps)

    def load(self, rows: np.ndarray | slice, weight: FloatArray | None) -> BlockSummary:
        xp = namespace_of(self._X)
        taken = self._X[rows, :] if isinstance(rows, slice) else take_rows(self._X, rows)
        samples = self._samples = to_widest_float(taken)
        root = self._root = None if weight is None else like(np.sqrt(weight), samples)[:, None]
        mean = xp.mean(samples, axis=0) if root is None else xp.sum(samples * root * root, axis=0) / xp.sum(root * root)
        weight_sum = samples.shape[0] if weight is None else float(weight.sum())
        found = mean, xp.min(samples, axis=0), xp.max(samples, axis=0)
        return BlockSummary(weight_sum, *(to_host(values).astype(np.float64) for values in found))

    def gram(
        self, summary: BlockSummary, origin: FloatArray, unit: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        xp, samples = namespace_of(self._samples), self._samples
        if samples.dtype == xp.float32:
            # The only type of some devices: the largest deviation is the unit, so that fourth powers stay in its range.
            origin = origin.astype(np.float32).astype(np.float64)
            reach = np.maximum(summary.highest - origin, origin - summary.lowest)
            unit = np.where(reach > 0, 2.0 ** np.ceil(np.log2(np.where(reach > 0, reach, 1.0))), 1.0)
        u = (samples - like(origin, samples)) / like(unit, samples)
        powers = xp.concat([xp.ones_like(u[:, :1]), u, u * u], axis=1)
        if self._root is not None:
            powers = powers * self._root
        return origin, unit, to_host(powers.T @ powers).astype(np.float64)

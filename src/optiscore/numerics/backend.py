"""The three operations that fitting and predicting consist of, for NumPy and for libraries of the array API standard.

`backend_of` chooses between the two. NumPy's bodies work in buffers that are used again; those of the standard's
operations run wherever the array is.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from .arrays import Array, is_numpy, like, namespace_of, take_rows, to_host, to_widest_float
from .types import FloatArray
from .whitening import Whitening
from .workspace import FRESH, Workspace

# Bytes of samples that are summed together: NumPy's stay in the second-level cache.
_BUFFER_BYTES, _FEWEST_ROWS, _DEVICE_BUFFER_BYTES = 1024 * 1024, 512, 64 * 1024 * 1024

# Long blocks serve threads better, which meet at the interpreter's lock after every array operation.
_LOOKUP_BLOCK = 65_536


class Summary(NamedTuple):
    """Total weight, mean and range of a block of samples, on the host."""

    weight_sum: float
    mean: FloatArray
    lowest: FloatArray
    highest: FloatArray


class PowerSums(Protocol):
    """A block of samples after another, each of which is described and then summed."""

    rows_per_block: int
    #: Largest deviation, in units, from the origin of earlier blocks that sums around it allow for.
    reach: float

    def load(self, rows: np.ndarray | slice, weight: FloatArray | None) -> Summary:
        """Take some rows, with their weights, as the block that is worked on."""

    def gram(self, origin: FloatArray, unit: FloatArray) -> FloatArray:
        """Gram matrix of the vectors (1, u, u^2) with u = (x - origin)/unit over the block; it uses the block up."""

    def anchor(self, summary: Summary, origin: FloatArray, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The origin and the unit that the library's precision allows for."""


class Cubics(Protocol):
    """A function of alpha as cubic pieces: of equal number in every octave of y = |sqrt(alpha) - pivot| + origin."""

    pivot: float
    origin: float
    alpha_max: float
    pieces_log2: int
    n_pieces: int
    coefficients: FloatArray


class NumpyBackend:
    """NumPy's own: in buffers, with ``out=``."""

    def power_sums(self, X: FloatArray, n_rows: int) -> PowerSums:
        """Sums over blocks of so many rows in all."""
        return _NumpyPowerSums(X, n_rows)

    def squared_lengths(self, X: FloatArray, whitenings: Sequence[Whitening], room: Workspace = FRESH) -> FloatArray:
        """Squared lengths (n_classes, n) of W_c (x - m_c), in the type of X."""
        n = len(X)
        alpha: FloatArray = room.array("lengths", (sum(len(each.classes) for each in whitenings), n), X.dtype)
        for whitening in whitenings:
            whitening.fill_lengths(alpha, X)
        return alpha

    def look_up(self, cubics: Cubics, alpha: FloatArray) -> FloatArray:
        """Values of tabulated cubics; the leading bits of y name the piece, the others the place in it."""
        dtype = alpha.dtype
        flat = alpha.reshape(-1)
        values = np.empty(flat.size, dtype=dtype)
        scratch = np.empty((3, min(_LOOKUP_BLOCK, flat.size)), dtype=dtype)
        for start in range(0, flat.size, _LOOKUP_BLOCK):
            block = flat[start : start + _LOOKUP_BLOCK]
            _look_up(cubics, block, values[start : start + _LOOKUP_BLOCK], scratch[:, : block.size])
        return values.reshape(alpha.shape)


class StandardBackend:
    """Any library's arrays, where they are, in operations of the array API standard."""

    def power_sums(self, X: Array, n_rows: int) -> PowerSums:
        """Sums over blocks of rows."""
        return _StandardPowerSums(X)

    def squared_lengths(self, X: Array, whitenings: Sequence[Whitening], room: Workspace = FRESH) -> Array:
        """Squared lengths (n_classes, n) of W_c (x - m_c), in the type of X."""
        xp = namespace_of(X)
        # The sum over features as a product with ones: libraries reduce short rows slowly.
        ones = xp.ones_like(X[0, :])
        lengths: dict[int, Array] = {}
        # Some libraries are NumPy underneath and would warn of overflow, which the caller deals with.
        with np.errstate(over="ignore", invalid="ignore"):
            for whitening in whitenings:
                for c, mean, whitener in zip(whitening.classes, whitening.means, whitening.whiteners, strict=True):
                    eta = (X - like(mean, X, X.dtype)) @ like(whitener.T, X, X.dtype)
                    lengths[int(c)] = (eta * eta) @ ones
        return xp.stack([lengths[c] for c in sorted(lengths)])

    def look_up(self, cubics: Cubics, alpha: Array) -> Array:
        """Values of tabulated cubics; the piece is found by a logarithm, since the standard has no access to bits.

        A logarithm may be rounded across the border of a piece: the next cubic goes on smoothly from there.
        """
        xp = namespace_of(alpha)
        s = xp.sqrt(alpha)
        y = (xp.abs(s - cubics.pivot) if cubics.pivot else s) + cubics.origin
        octave = xp.floor(xp.log2(y) - math.log2(cubics.origin))
        octave = xp.where(octave > 0, octave, xp.zeros_like(octave))
        start = cubics.origin * xp.pow(xp.full_like(octave, 2.0), octave)
        per_octave = 2**cubics.pieces_log2
        place = xp.floor((y / start - 1) * per_octave)
        place = xp.where(place > 0, place, xp.zeros_like(place))
        t = y - start * (1 + place / per_octave)
        index = xp.astype(octave * per_octave + place, xp.int64)
        if cubics.pivot:
            index = index + cubics.n_pieces * xp.astype(s < cubics.pivot, xp.int64)
        pieces = xp.take(like(cubics.coefficients, alpha, alpha.dtype), index, axis=1)
        value = pieces[3, :]
        for power in (2, 1, 0):
            value = value * t + pieces[power, :]
        return value


_NUMPY, _STANDARD = NumpyBackend(), StandardBackend()


def backend_of(array: Array) -> NumpyBackend | StandardBackend:
    """The operations for an array."""
    return _NUMPY if is_numpy(array) else _STANDARD


class _NumpyPowerSums:
    """Room for (1, u, u^2), one sample per column: fresh memory for every block would cost more than the arithmetic."""

    reach = 2.0**200

    def __init__(self, X: FloatArray, n_rows: int) -> None:
        d = X.shape[1]
        self.rows_per_block = max(1, min(n_rows, max(_FEWEST_ROWS, _BUFFER_BYTES // (16 * d))))
        self._X = X
        self._taken = np.empty((self.rows_per_block, d), dtype=X.dtype)
        self._room = np.empty((1 + 2 * d, self.rows_per_block))
        self._weight: FloatArray | None = None

    def load(self, rows: np.ndarray | slice, weight: FloatArray | None) -> Summary:
        d = self._X.shape[1]
        if isinstance(rows, slice):
            block = self._X[rows]
        else:
            block = self._X.take(rows, axis=0, out=self._taken[: len(rows)], mode="clip")
        self._powers, self._weight = self._room[:, : len(block)], weight
        u = self._powers[1 : d + 1]
        u[:] = block.T
        weight_sum = len(block) if weight is None else float(weight.sum())
        mean = u.mean(axis=1) if weight is None else u @ (weight / weight_sum)
        return Summary(weight_sum, mean, u.min(axis=1), u.max(axis=1))

    def gram(self, origin: FloatArray, unit: FloatArray) -> FloatArray:
        d, powers = len(origin), self._powers
        powers[0], u = 1.0, powers[1 : d + 1]
        u -= origin[:, None]
        if (unit != 1).any():
            u *= 1 / unit[:, None]
        np.multiply(u, u, out=powers[d + 1 :])
        if self._weight is not None:
            powers *= np.sqrt(self._weight)
        return powers @ powers.T

    def anchor(self, summary: Summary, origin: FloatArray, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
        return origin, unit


class _StandardPowerSums:
    """Blocks large enough for an accelerator, each around an origin of its own: single precision allows no other."""

    reach = 0.0

    def __init__(self, X: Array) -> None:
        self.rows_per_block = max(1, _DEVICE_BUFFER_BYTES // (8 * X.shape[1]))
        self._X = X

    def load(self, rows: np.ndarray | slice, weight: FloatArray | None) -> Summary:
        xp = namespace_of(self._X)
        taken = self._X[rows, :] if isinstance(rows, slice) else take_rows(self._X, rows)
        samples = self._samples = to_widest_float(taken)
        root = self._root = None if weight is None else like(np.sqrt(weight), samples)[:, None]
        mean = xp.mean(samples, axis=0) if root is None else xp.sum(samples * root * root, axis=0) / xp.sum(root * root)
        weight_sum = samples.shape[0] if weight is None else float(weight.sum())
        found = mean, xp.min(samples, axis=0), xp.max(samples, axis=0)
        return Summary(weight_sum, *(to_host(values).astype(np.float64) for values in found))

    def gram(self, origin: FloatArray, unit: FloatArray) -> FloatArray:
        xp, samples = namespace_of(self._samples), self._samples
        u = (samples - like(origin, samples)) / like(unit, samples)
        powers = xp.concat([xp.ones_like(u[:, :1]), u, u * u], axis=1)
        if self._root is not None:
            powers = powers * self._root
        return to_host(powers.T @ powers).astype(np.float64)

    def anchor(self, summary: Summary, origin: FloatArray, unit: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self._samples.dtype != namespace_of(self._samples).float32:
            return origin, unit
        # The only type of some devices: the largest deviation is the unit, so that fourth powers stay in its range.
        origin = origin.astype(np.float32).astype(np.float64)
        reach = np.maximum(summary.highest - origin, origin - summary.lowest)
        return origin, np.where(reach > 0, 2.0 ** np.ceil(np.log2(np.where(reach > 0, reach, 1.0))), 1.0)


def _look_up(cubics: Cubics, alpha: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
    dtype = alpha.dtype
    bits_of = np.dtype(f"i{dtype.itemsize}").type
    shift = bits_of(np.finfo(dtype).nmant - cubics.pieces_log2)
    origin = dtype.type(cubics.origin)
    y, node, index = scratch[0], scratch[1], scratch[2].view(bits_of)
    np.clip(alpha, 0, dtype.type(cubics.alpha_max), out=y)
    np.sqrt(y, out=y)
    if cubics.pivot:
        np.subtract(y, dtype.type(cubics.pivot), out=y)
        below = y < 0
        np.abs(y, out=y)
    np.add(y, origin, out=y)
    bits: np.ndarray = y.view(bits_of)
    np.bitwise_and(bits, bits_of(-1) << shift, out=node.view(bits_of))
    np.right_shift(bits, shift, out=index)
    np.subtract(index, origin.view(bits_of) >> shift, out=index)
    if cubics.pivot:
        index[below] += bits_of(cubics.n_pieces)
    t = np.subtract(y, node, out=y)
    c0, c1, c2, c3 = cubics.coefficients
    c3.take(index, out=out, mode="clip")
    for c in (c2, c1, c0):
        np.multiply(out, t, out=out)
        np.add(out, c.take(index, out=node, mode="clip"), out=out)

"""Tabulated scores: cubic pieces found by the bits of the distance, so that no sample needs a search or a logarithm."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .._typing import FloatArray

#: The table ends here; larger squared distances are solved exactly.
ALPHA_MAX = 1e12

# Pieces per octave of the distance, as a power of two. A cubic piece of relative width h = 2**-9 is off by
# h**4/384 times the fourth logarithmic derivative: some 1e-13 of the value.
_PIECES_LOG2 = 9
_TOLERANCE = {np.float64: 1e-11, np.float32: 1e-7}
_FINEST_ORIGIN = -48

# Stands for distance 0, where a derivative by alpha may be infinite while the one by distance is not.
_NEAR_ZERO = 1e-100

# Long blocks serve threads better, which meet at the interpreter's lock after every array operation.
_BLOCK = 65_536

CurveWithSlope: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class ScoreTable:
    """A smooth function of alpha as a table of cubics in the distance s = sqrt(alpha).

    Let y = |s - pivot| + origin, with origin a power of two. The leading bits of the floating-point number y name the
    piece and the remaining ones the place in it: pieces get longer in proportion to y, and finding one takes a shift.
    The origin is chosen so small that the first octaves, where the function bends most, are met as well.

    Parameters
    ----------
    curve : callable
        ``curve(alpha) -> (value, derivative)`` for a float64 array of alphas.
    pivot : float, default=0.0
        Distance near which the curve bends most, or where it has a kink; pieces shrink towards it from both sides.
    dtype : numpy.float64 or numpy.float32
        Type in which the table computes; its index has as many bits.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import GaussianOptimistic, ScoreTable
    >>> exact = GaussianOptimistic(radius=0.5, n_features=2)
    >>> table = ScoreTable(lambda alpha: exact.solve(alpha)[1:])
    >>> alpha = np.linspace(0, 50, 1001)
    >>> bool(np.abs(table(alpha) - exact.value(alpha)).max() < 1e-10)
    True
    """

    def __init__(self, curve: CurveWithSlope, pivot: float = 0.0, dtype: type = np.float64) -> None:
        self.dtype = np.dtype(dtype)
        self._curve = curve
        self._pivot = float(pivot)
        self._sides = (1, -1) if pivot > 0 else (1,)
        self._bits = np.dtype(f"i{self.dtype.itemsize}").type
        self._shift = self._bits(np.finfo(dtype).nmant - _PIECES_LOG2)
        origin = self._choose_origin()
        reach = max(self._pivot, np.sqrt(ALPHA_MAX) - self._pivot) + origin
        n_octaves = int(np.ceil(np.log2(reach / origin)))
        pieces = [self._hermite(side, origin, n_octaves)[0] for side in self._sides]
        self._n_pieces = pieces[0].shape[1]
        self._coefficients: FloatArray = np.concatenate(pieces, axis=1).astype(dtype)
        self._origin = self.dtype.type(origin)
        self._first = self._origin.view(self._bits) >> self._shift

    @property
    def pivot(self) -> float:
        """Distance towards which pieces shrink."""
        return self._pivot

    @property
    def origin(self) -> float:
        """Length of the first octave of pieces."""
        return float(self._origin)

    def along(self, side: int, y: FloatArray, origin: float) -> tuple[FloatArray, FloatArray]:
        """The function and its derivative by y, on the side of the pivot to which ``side``, 1 or -1, points."""
        s = self._pivot + side * (y - origin)
        s[s == 0] = _NEAR_ZERO
        value, by_alpha = self._curve(s**2)
        return value, side * 2 * s * by_alpha

    def __call__(self, alpha: FloatArray) -> FloatArray:
        """Values at an array of alphas, in the table's own type."""
        alpha = np.asarray(alpha, dtype=self.dtype)
        flat = alpha.reshape(-1)
        values = np.empty(flat.size, dtype=self.dtype)
        scratch = np.empty((3, min(_BLOCK, flat.size)), dtype=self.dtype)
        for start in range(0, flat.size, _BLOCK):
            block = flat[start : start + _BLOCK]
            self._evaluate(block, values[start : start + _BLOCK], scratch[:, : block.size])
        return values.reshape(alpha.shape)

    def _evaluate(self, alpha: FloatArray, out: FloatArray, scratch: FloatArray) -> None:
        y, node, index = scratch[0], scratch[1], scratch[2].view(self._bits)
        np.clip(alpha, 0, self.dtype.type(ALPHA_MAX), out=y)
        np.sqrt(y, out=y)
        if self._pivot:
            np.subtract(y, self.dtype.type(self._pivot), out=y)
            below = y < 0
            np.abs(y, out=y)
        np.add(y, self._origin, out=y)
        bits = y.view(self._bits)
        np.bitwise_and(bits, self._bits(-1) << self._shift, out=node.view(self._bits))
        np.right_shift(bits, self._shift, out=index)
        np.subtract(index, self._first, out=index)
        if self._pivot:
            index[below] += self._bits(self._n_pieces)
        t = np.subtract(y, node, out=y)
        c0, c1, c2, c3 = self._coefficients
        c3.take(index, out=out, mode="clip")
        for c in (c2, c1, c0):
            np.multiply(out, t, out=out)
            np.add(out, c.take(index, out=node, mode="clip"), out=out)
        if alpha.size and alpha.max() > ALPHA_MAX:
            far = alpha > ALPHA_MAX
            limit = np.finfo(self.dtype).max
            out[far] = self._curve(alpha[far].astype(np.float64))[0].clip(-limit, limit)

    def _choose_origin(self) -> float:
        """The largest origin whose first two octaves of pieces meet the tolerance at their midpoints."""
        exponent = 0
        while exponent > _FINEST_ORIGIN and max(self._error(side, 2.0**exponent) for side in self._sides) > 1:
            exponent -= 4
        return 2.0**exponent

    def _error(self, side: int, origin: float) -> float:
        """Largest error of the first two octaves of pieces, in units of the tolerance."""
        (c0, c1, c2, c3), width = self._hermite(side, origin, 2)
        t = width / 2
        middle = self._pivot + side * (np.cumsum(width) - t)
        exact = self._curve(middle**2)[0]
        error = np.abs(c0 + t * (c1 + t * (c2 + t * c3)) - exact) / np.maximum(1, np.abs(exact))
        return float(error.max()) / _TOLERANCE[self.dtype.type]

    def _hermite(self, side: int, origin: float, n_octaves: int) -> tuple[FloatArray, FloatArray]:
        """Cubics that match value and slope at the ends of each piece, in powers of the distance to its start."""
        per_octave = 2**_PIECES_LOG2
        octave, place = np.divmod(np.arange(n_octaves * per_octave + 1), per_octave)
        y = origin * 2.0**octave * (1 + place / per_octave)
        value, slope = self.along(side, y, origin)
        h = np.diff(y)
        secant = np.diff(value) / h
        left, right = slope[:-1], slope[1:]
        cubics = np.stack([value[:-1], left, (3 * secant - 2 * left - right) / h, (left + right - 2 * secant) / h**2])
        return cubics, h

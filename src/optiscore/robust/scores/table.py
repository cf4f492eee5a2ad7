"""Tabulated scores: cubic pieces in the distance, built where they are asked for, so that no sample needs a search."""

from collections.abc import Callable, Sequence
from functools import cache
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike

from ...numerics.types import FloatArray

#: The table ends here; larger squared distances are solved exactly.
ALPHA_MAX = 1e6

# Pieces per octave of the distance, as a power of two. A cubic piece of relative width h = 2**-9 is off by
# h**4/384 times the fourth logarithmic derivative: some 1e-13 of the value.
_PIECES_LOG2 = 9
_PER_OCTAVE = 2**_PIECES_LOG2

# The curve is solved for at so many Chebyshev points of each quarter of an octave, or of a part that is shorter by
# factors of four where the last coefficients of a polynomial say that it is not exact to rounding.
_NODES, _PARTS, _MOST_PARTS, _NEGLIGIBLE = 12, 4, 64, 1e-12

_TOLERANCE = {np.float64: 2e-12, np.float32: 2e-8}
_FINEST_ORIGIN = -48

# Stands for distance 0, where a derivative by alpha may be infinite while the one by distance is not.
_NEAR_ZERO = 1e-100

CurveWithSlope: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

#: Values of several curves: of curve rows[i] at alpha[i].
Curves: TypeAlias = Callable[[np.ndarray, FloatArray], FloatArray]

_T = np.cos(np.pi * np.arange(_NODES) / (_NODES - 1))[::-1]
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_T, _NODES - 1))


@cache
def _interpolation(parts: int) -> tuple[FloatArray, FloatArray]:
    """Return matrices from values at the points of a part to those, and to slopes, at the ends of its pieces."""
    ends = np.linspace(-1, 1, _PER_OCTAVE // parts + 1)
    values = chebyshev.chebvander(ends, _NODES - 1) @ _TO_COEFFICIENTS
    # The ends of neighbouring parts are the same points.
    values[[0, -1]] = np.eye(_NODES)[[0, -1]]
    return values.T, chebyshev.chebval(ends, chebyshev.chebder(_TO_COEFFICIENTS))


class CurveTables:
    """Smooth functions of alpha, one per row, as tables of cubics in the distance s = sqrt(alpha).

    Around a pivot p, where a function bends most or has a kink, pieces are finest: they have the same number in every
    octave of y = |s - p| + origin, so that the leading bits of y name the piece. Octaves are built when a sample falls
    in them; what is in them does not depend on when, nor on what else is asked for. The table computes in its own type,
    double or single precision; ``curves(rows, alpha)`` is elementwise, and pivots are those of each row.
    """

    def __init__(self, curves: Curves, pivots: Sequence[float], dtype: Any) -> None:
        self.dtype, self._curves = np.dtype(dtype), curves
        self._pivots = np.array(pivots, dtype=np.float64)
        self._sides = 2 if self._pivots.any() else 1
        self._origins = self._choose_origins()
        reach = np.maximum(self._pivots, np.sqrt(ALPHA_MAX) - self._pivots) + self._origins
        self._n_octaves = int(np.ceil(np.log2(reach / self._origins)).max())
        self._is_built = np.zeros(len(self._pivots) * self._sides * self._n_octaves, dtype=bool)
        # What is not built yet is not a number: that is how it is noticed.
        self._coefficients = np.full((4, len(self._is_built) * _PER_OCTAVE), np.nan, dtype=self.dtype)
        bits = np.dtype(f"i{self.dtype.itemsize}").type
        self._shift = bits(np.finfo(self.dtype).nmant - _PIECES_LOG2)
        self._mask = bits(-1) << self._shift
        self._pivot, self._origin = (each.astype(self.dtype)[:, None] for each in (self._pivots, self._origins))
        first = np.arange(len(self._pivots))[:, None] * (self._sides * self._n_octaves * _PER_OCTAVE)
        self._first = (first - (self._origin.view(bits) >> self._shift)).astype(bits)

    def __call__(self, alpha: FloatArray) -> FloatArray:
        """Return values at alphas of shape (n_rows, n_samples), both in the table's own type."""
        limit = np.finfo(self.dtype).max
        is_far = not alpha.max(initial=0) <= ALPHA_MAX
        values, index = self._look_up(np.minimum(alpha, self.dtype.type(ALPHA_MAX)) if is_far else alpha)
        # One number tells whether all are.
        if np.isnan(values.sum()):
            self._build(np.unique(index[np.isnan(values)] >> _PIECES_LOG2))
            values, _ = self._look_up(np.minimum(alpha, self.dtype.type(ALPHA_MAX)) if is_far else alpha)
        if is_far:
            rows, columns = np.nonzero(alpha > ALPHA_MAX)
            far = self._curves(rows, alpha[rows, columns].astype(np.float64))
            values[rows, columns] = far.clip(-limit, limit)
        return values

    def _look_up(self, alpha: FloatArray) -> tuple[FloatArray, np.ndarray]:
        """Return values, which are no numbers where the table is not built, and the indices of their pieces."""
        y = np.sqrt(alpha)
        if self._sides > 1:
            y -= self._pivot
            below = y < 0
            np.abs(y, out=y)
        y += self._origin
        bits = y.view(self._first.dtype)
        index = np.right_shift(bits, self._shift)
        index += self._first
        if self._sides > 1:
            index += below * self._first.dtype.type(self._n_octaves * _PER_OCTAVE)
        start = np.bitwise_and(bits, self._mask).view(y.dtype)
        y -= start
        c0, c1, c2, c3 = self._coefficients
        values: FloatArray = c3.take(index, mode="clip")
        for c in (c2, c1, c0):
            values *= y
            values += c.take(index, out=start, mode="clip")
        return values, index

    def _build(self, octaves: np.ndarray) -> None:
        """Build octaves, by their places in the table."""
        with _lock:
            todo = octaves[~self._is_built[octaves]]
            if not todo.size:
                return
            rows, place = np.divmod(todo, self._sides * self._n_octaves)
            side, octave = np.divmod(place, self._n_octaves)
            cubics = self._cubics(rows, side, self._origins[rows] * 2.0**octave, self._origins[rows])
            pieces = todo[:, None] * _PER_OCTAVE + np.arange(_PER_OCTAVE)
            self._coefficients[:, pieces.ravel()] = cubics.reshape(4, -1)
            self._is_built[todo] = True

    def _cubics(
        self, rows: np.ndarray, side: np.ndarray, start: FloatArray, origin: FloatArray, parts: int = _PARTS
    ) -> FloatArray:
        """Return the pieces (4, n, per octave) of octaves from ``start`` on, in powers of y less their starts."""
        a = start[:, None] * (1 + np.arange(parts) / parts)
        half = start[:, None, None] / (2 * parts)
        y = a[:, :, None] + half * (1 + _T)
        found = self._at(rows, side, y, origin)
        to_values, to_slopes = _interpolation(parts)
        values, slopes, h = found @ to_values, found @ to_slopes / half, start[:, None] / _PER_OCTAVE
        value, right, slope, slope_right = (
            ends.reshape(len(rows), -1) for each in (values, slopes) for ends in (each[:, :, :-1], each[:, :, 1:])
        )
        secant = (right - value) / h
        cubics = np.stack(
            [value, slope, (3 * secant - 2 * slope - slope_right) / h, (slope + slope_right - 2 * secant) / h**2]
        )
        if parts < _MOST_PARTS:
            tail = np.abs(found @ _TO_COEFFICIENTS[-2:].T).max(axis=(1, 2))
            rough = np.flatnonzero(tail > _NEGLIGIBLE * np.maximum(1, np.abs(found).max(axis=(1, 2))))
            if rough.size:
                cubics[:, rough] = self._cubics(rows[rough], side[rough], start[rough], origin[rough], 4 * parts)
        return cubics

    def _at(self, rows: np.ndarray, side: np.ndarray, y: FloatArray, origin: FloatArray) -> FloatArray:
        """Return the curves of some rows at places y of shape (n_rows, ...), beyond the pivot or before it."""
        shape = (-1, *[1] * (y.ndim - 1))
        sign = np.where(side == 0, 1.0, -1.0)
        s = self._pivots[rows].reshape(shape) + sign.reshape(shape) * (y - origin.reshape(shape))
        alpha = np.square(np.where(s == 0, _NEAR_ZERO, s))
        return self._curves(np.repeat(rows, alpha[0].size), alpha.ravel()).reshape(y.shape)

    def _choose_origins(self) -> FloatArray:
        """Return the largest origins whose first two octaves of pieces meet the tolerance at their midpoints."""
        exponents = np.zeros(len(self._pivots))
        todo = np.arange(len(exponents))
        while todo.size:
            todo = todo[self._errors(todo, 2.0 ** exponents[todo]) > _TOLERANCE[self.dtype.type]]
            exponents[todo] -= 4
            todo = todo[exponents[todo] > _FINEST_ORIGIN]
        return 2.0**exponents

    def _errors(self, rows: np.ndarray, origins: FloatArray) -> FloatArray:
        """Return the largest errors of the first two octaves of pieces, relative to values beyond 1.

        The error of a cubic in the middle of its piece, where it is largest, is told from the next derivative: from how
        much the third one changes from piece to piece.
        """
        each = np.tile(rows, 2 * self._sides)
        side = np.repeat(np.arange(self._sides), 2 * len(rows))
        origin = np.tile(origins, 2 * self._sides)
        start = origin * np.tile(np.repeat([1.0, 2.0], len(rows)), self._sides)
        c0, _, _, c3 = self._cubics(each, side, start, origin)
        h = start[:, None] / _PER_OCTAVE
        # f = 6 (change of c3)/h, and the error is h^4 f/384.
        error = np.abs(np.diff(c3, axis=1)) * h**3 / 64 / np.maximum(1, np.abs(c0[:, 1:]))
        return error.max(axis=1).reshape(-1, len(rows)).max(axis=0)


class ScoreTable:
    """A smooth function of alpha as a table of cubics in the distance s = sqrt(alpha).

    Around a pivot p, where the function bends most or has a kink, pieces are finest: they have the same number in every
    octave of the distance from p. They are built when they are first asked for.

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
        self.dtype, self.pivot, self._curve = np.dtype(dtype), float(pivot), curve
        self._table = CurveTables(self._values, [self.pivot], dtype)

    def __call__(self, alpha: ArrayLike) -> FloatArray:
        """Return values at an array of alphas, in the table's own type."""
        given = np.maximum(np.asarray(alpha, dtype=self.dtype), 0)
        return self._table(given.reshape(1, -1)).reshape(given.shape)

    def _values(self, _: np.ndarray, alpha: FloatArray) -> FloatArray:
        return self._curve(alpha)[0]


# Tables are built by one thread at a time; one that is read meanwhile has pieces that are whole, or no numbers.
_lock = Lock()

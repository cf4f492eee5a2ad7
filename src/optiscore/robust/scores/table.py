"""Tabulated scores: cubic pieces in the distance, so that no sample needs a search."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from ...numerics.arrays import Array, is_numpy, namespace_of
from ...numerics.backend import backend_of
from ...numerics.types import FloatArray
from ...numerics.workspace import FRESH, Workspace

#: The table ends here; larger squared distances are solved exactly.
ALPHA_MAX = 1e12

# Pieces per octave of the distance, as a power of two. A cubic piece of relative width h = 2**-9 is off by
# h**4/384 times the fourth logarithmic derivative: some 1e-13 of the value.
_PIECES_LOG2 = 9
_TOLERANCE = {np.float64: 1e-11, np.float32: 1e-7}
_FINEST_ORIGIN = -48

# Stands for distance 0, where a derivative by alpha may be infinite while the one by distance is not.
_NEAR_ZERO = 1e-100

CurveWithSlope: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class ScoreTable:
    """A smooth function of alpha as a table of cubics in the distance s = sqrt(alpha).

    Let y = abs(s - pivot) + origin, with origin a power of two. The leading bits of the floating-point number y name
    the piece, the other ones the place in it: pieces get longer in proportion to y, and finding one takes a shift.
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

    pieces_log2 = _PIECES_LOG2
    alpha_max = ALPHA_MAX

    def __init__(self, curve: CurveWithSlope, pivot: float = 0.0, dtype: type = np.float64) -> None:
        self.dtype = np.dtype(dtype)
        self._curve = curve
        self.pivot = float(pivot)
        self._sides = (1, -1) if pivot > 0 else (1,)
        self.origin = self._choose_origin()
        reach = max(self.pivot, np.sqrt(ALPHA_MAX) - self.pivot) + self.origin
        n_octaves = int(np.ceil(np.log2(reach / self.origin)))
        pieces = [self._hermite(side, self.origin, n_octaves)[0] for side in self._sides]
        self.n_pieces = pieces[0].shape[1]
        self.coefficients: FloatArray = np.concatenate(pieces, axis=1).astype(dtype)

    def __call__(self, alpha: Array) -> Array:
        """Values at an array of alphas of any library, in the table's own type; at most `ALPHA_MAX` unless NumPy's."""
        if namespace_of(alpha) is np:
            alpha = np.asarray(alpha, dtype=self.dtype)
        values = backend_of(alpha).look_up(self, alpha)
        if is_numpy(alpha) and alpha.size and alpha.max() > ALPHA_MAX:
            far = alpha > ALPHA_MAX
            limit = np.finfo(self.dtype).max
            values[far] = self._curve(alpha[far].astype(np.float64))[0].clip(-limit, limit)
        return values

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
        middle = self.pivot + side * (np.cumsum(width) - t)
        exact = self._curve(middle**2)[0]
        error = np.abs(c0 + t * (c1 + t * (c2 + t * c3)) - exact) / np.maximum(1, np.abs(exact))
        return float(error.max()) / _TOLERANCE[self.dtype.type]

    def _hermite(self, side: int, origin: float, n_octaves: int) -> tuple[FloatArray, FloatArray]:
        """Cubics that match value and slope at the ends of each piece, in powers of the distance to its start."""
        per_octave = 2**_PIECES_LOG2
        octave, place = np.divmod(np.arange(n_octaves * per_octave + 1), per_octave)
        y = origin * 2.0**octave * (1 + place / per_octave)
        s = self.pivot + side * (y - origin)
        s[s == 0] = _NEAR_ZERO
        value, by_alpha = self._curve(s**2)
        slope = side * 2 * s * by_alpha
        h = np.diff(y)
        secant = np.diff(value) / h
        left, right = slope[:-1], slope[1:]
        cubics = np.stack([value[:-1], left, (3 * secant - 2 * left - right) / h, (left + right - 2 * secant) / h**2])
        return cubics, h


class JointTable:
    """Several tables that are looked up at once, one for each row of alphas: few operations on long arrays.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Tables of one type; those that are the same are kept once.
    offsets : ndarray of shape (n_tables,)
        What is added to the values of each.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import GaussianOptimistic
    >>> from optiscore.robust.scores.table import JointTable
    >>> tables = [GaussianOptimistic(radius, 2).tabulate() for radius in (0.1, 0.5)]
    >>> alpha = np.array([[1.0, 4.0, 9.0], [0.0, 2.0, 1e6]])
    >>> joint = JointTable(tables, np.array([0.0, 1.0]))
    >>> bool(np.allclose(joint(alpha), [tables[0](alpha[0]), tables[1](alpha[1]) + 1.0], rtol=1e-12))
    True
    """

    def __init__(self, tables: Sequence[ScoreTable], offsets: FloatArray) -> None:
        distinct = list(dict.fromkeys(tables))
        sizes = np.cumsum([0, *(table.coefficients.shape[1] for table in distinct)])
        first = np.array([sizes[distinct.index(table)] for table in tables])
        dtype = tables[0].dtype
        bits = np.dtype(f"i{dtype.itemsize}").type
        self._shift = bits(np.finfo(dtype).nmant - _PIECES_LOG2)
        self._mask = bits(-1) << self._shift
        self._pivot, self._origin, self._offsets = (
            np.array(values, dtype=dtype)[:, None]
            for values in ([table.pivot for table in tables], [table.origin for table in tables], offsets)
        )
        self._first = (first[:, None] - (self._origin.view(bits) >> self._shift)).astype(bits)
        self._n_pieces = np.array([table.n_pieces for table in tables], dtype=bits)[:, None]
        self._has_pivot = bool(self._pivot.any())
        self._coefficients = np.concatenate([table.coefficients for table in distinct], axis=1)

    def __call__(self, alpha: FloatArray, room: Workspace = FRESH, name: str = "values") -> FloatArray:
        """Values at alphas of shape (n_tables, n_samples), between 0 and `ALPHA_MAX`, in the tables' own type.

        They are in the array of that name in a workspace.
        """
        y = np.sqrt(alpha, out=room.like("scratch 0", alpha))
        if self._has_pivot:
            y -= self._pivot
            below = y < 0
            np.abs(y, out=y)
        y += self._origin
        bits = y.view(self._first.dtype)
        index = np.right_shift(bits, self._shift, out=room.like("scratch 1", y).view(bits.dtype))
        index += self._first
        if self._has_pivot:
            index += below * self._n_pieces
        start = np.bitwise_and(bits, self._mask, out=room.like("scratch 2", y).view(bits.dtype)).view(y.dtype)
        y -= start
        c0, c1, c2, c3 = self._coefficients
        values = c3.take(index, out=room.like(name, y), mode="clip")
        for c in (c2, c1, c0):
            values *= y
            values += c.take(index, out=start, mode="clip")
        values += self._offsets
        return values

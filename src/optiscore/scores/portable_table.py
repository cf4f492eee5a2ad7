"""Tabulated scores for arrays of any library: cubic pieces of equal length in the logarithm of the distance."""

import math

import numpy as np

from ..array_api import Array, like, namespace_of
from .table import ALPHA_MAX, ScoreTable

# Pieces per octave of the distance.
_PIECES = 512


class PortableTable:
    """The function of a `ScoreTable`, on the device of some samples.

    Let y = |s - pivot| + origin with s = sqrt(alpha), as in a `ScoreTable`. Pieces are found by the logarithm of y
    instead of its bits, which the array API standard does not give access to; within a piece, the function is a cubic
    in that logarithm.

    Parameters
    ----------
    table : ScoreTable
        The table to translate.
    samples : array
        Gives library, device and type.
    """

    def __init__(self, table: ScoreTable, samples: Array) -> None:
        self._pivot, self._origin = table.pivot, table.origin
        reach = max(self._pivot, math.sqrt(ALPHA_MAX) - self._pivot) + self._origin
        self._n_pieces = math.ceil(_PIECES * math.log2(reach / self._origin)) + 1
        y = self._origin * 2.0 ** (np.arange(self._n_pieces + 1) / _PIECES)
        pieces = [_hermite(*table.along(side, y, self._origin), y) for side in ((1, -1) if self._pivot else (1,))]
        self._coefficients = like(np.concatenate(pieces, axis=1), samples, samples.dtype)

    def __call__(self, alpha: Array) -> Array:
        """Values at an array of alphas up to `ALPHA_MAX`."""
        xp = namespace_of(alpha)
        y = s = xp.sqrt(alpha)
        if self._pivot:
            y = xp.abs(s - self._pivot)
        place = (xp.log2(y + self._origin) - math.log2(self._origin)) * _PIECES
        # A logarithm may be rounded down to before the first piece.
        place = xp.where(place > 0, place, xp.zeros_like(place))
        node = xp.floor(place)
        t, index = place - node, xp.astype(node, xp.int64)
        if self._pivot:
            index = index + self._n_pieces * xp.astype(s < self._pivot, xp.int64)
        cubics = xp.take(self._coefficients, index, axis=1)
        value = cubics[3, :]
        for power in (2, 1, 0):
            value = value * t + cubics[power, :]
        return value


def _hermite(value: np.ndarray, slope: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Cubics on [0, 1] that match value and slope, which is given by y, at the ends of each piece."""
    slope = slope * y * (math.log(2) / _PIECES)
    rise, left, right = np.diff(value), slope[:-1], slope[1:]
    return np.stack([value[:-1], left, 3 * rise - 2 * left - right, left + right - 2 * rise])

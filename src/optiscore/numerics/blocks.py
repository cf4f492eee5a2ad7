"""A function of the rows of a large array, block by block: on threads in the host's memory, one by one on devices."""

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from .arrays import Array, is_numpy, namespace_of
from .threads import map_threads, n_threads

#: One array, or several; the samples run along the last axis of each.
Parts = TypeVar("Parts")

# Numbers per sample that a function works with, times samples: threads meet at the interpreter's lock after every array
# operation, so that small blocks would make them wait for each other. In between, some six arrays of a block's size in
# each thread are a tenth of the samples.
_SMALLEST_BLOCK, _LARGEST_BLOCK, _PART_OF_SAMPLES, _MAX_ROWS = 65_536, 131_072, 60, 65_536

# Rows on a device: enough to keep an accelerator busy.
_DEVICE_ROWS = 1_048_576


def map_blocks(function: Callable[[Array], Parts], X: Array, *, width: int = 1, operations: int = 0) -> Parts:
    """``function(block)`` of blocks of rows of X, joined as if it had been called once.

    Parameters
    ----------
    function : callable
        Takes rows of X and returns an array, or a tuple of arrays, whose last axis runs over these rows. It may be
        called from several threads at once.
    X : array of shape (n_samples, n_features)
        Samples, of any library.
    width : int, default=1
        Numbers per sample that the function works with: the wider, the fewer rows there are in a block.
    operations : int, default=0
        Operations per sample, where they are more than the sample has numbers: they tell whether threads are worth it.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.numerics.blocks import map_blocks
    >>> map_blocks(lambda block: (block.sum(axis=1), block.max(axis=1)), np.eye(3))
    (array([1., 1., 1.]), array([1., 1., 1.]))
    """
    n = X.shape[0]
    if not is_numpy(X):
        starts = range(0, n, _DEVICE_ROWS)
        results = [function(X[start : min(start + _DEVICE_ROWS, n), :]) for start in starts]
        return results[0] if len(results) == 1 else _concatenate(results, namespace_of(X))
    threads = n_threads(max(X.size, n * operations))
    size = min(max(X.size // (_PART_OF_SAMPLES * threads), _SMALLEST_BLOCK), _LARGEST_BLOCK)
    largest = max(1, min(size // width, _MAX_ROWS))
    # As many blocks for each thread as for the others.
    step = -(-n // (threads * -(-n // (threads * largest)))) if n else 1
    if step >= n:
        return function(X)
    joined = _Joined(n)

    def work(start: int) -> None:
        rows = slice(start, min(start + step, n))
        joined.put(rows, function(X[rows]))

    map_threads(work, range(0, n, step), threads)
    return joined.parts


class _Joined:
    """Arrays for all samples, made to the measure of the first result that arrives."""

    def __init__(self, n: int) -> None:
        self._n, self._lock = n, Lock()
        self.parts: Any = None

    def put(self, rows: slice, result: Any) -> None:
        with self._lock:
            if self.parts is None:
                self.parts = tuple(map(self._room_for, result)) if isinstance(result, tuple) else self._room_for(result)
        pairs = zip(self.parts, result, strict=True) if isinstance(result, tuple) else ((self.parts, result),)
        for whole, part in pairs:
            whole[..., rows] = part

    def _room_for(self, part: np.ndarray) -> np.ndarray:
        return np.empty((*part.shape[:-1], self._n), dtype=part.dtype)


def _concatenate(results: list[Any], xp: Any) -> Any:
    if isinstance(results[0], tuple):
        return tuple(_concatenate(list(parts), xp) for parts in zip(*results, strict=True))
    return xp.concat(results, axis=-1)

"""Arrays that are used again for block after block: fresh memory costs more than the arithmetic in it."""

from threading import local
from typing import Any

import numpy as np

from .types import FloatArray


class Workspace:
    """Arrays by name. One that is asked for again overwrites what it held; of the same name and type, it only grows.

    The names "scratch 0" and so on are anybody's: what is in them is lost with the next call.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.numerics.workspace import Workspace
    >>> room = Workspace()
    >>> first = room.array("distances", (2, 3), np.float64)
    >>> np.shares_memory(first, room.array("distances", (2, 2), np.float64))
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, Any], np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of unknown content, of this workspace's memory."""
        size = 1
        for length in shape:
            size *= length
        known = self._arrays.get((name, dtype))
        if known is None or known.size < size:
            known = self._arrays[name, dtype] = np.empty(size, dtype)
        return known[:size].reshape(shape)

    def like(self, name: str, array: FloatArray) -> FloatArray:
        """An array of the shape and type of another."""
        return self.array(name, array.shape, array.dtype)


class FreshArrays(Workspace):
    """A workspace without memory, for what is computed once."""

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array."""
        return np.empty(shape, dtype)


FRESH = FreshArrays()


class WorkspacePerThread(local):
    """A workspace for each thread that asks."""

    def __init__(self) -> None:
        self.mine = Workspace()

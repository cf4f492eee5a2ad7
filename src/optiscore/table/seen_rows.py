"""How many rows of a table a model was trained on, told by hashes of its training rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd

# A smaller part of training rows among others changes no answer.
_LEAST_PART = 0.05

# Copies beyond this many standard errors are no chance.
_SURE = 4.0


@dataclass(frozen=True)
class SeenRows:
    """Hashes of training rows: of all, or of a random sample of them.

    Parameters
    ----------
    hashes : ndarray of uint32
        Sorted; labels are not part of them.
    part : float
        Which part of the training rows they are of.
    copies : float
        Which part of them are copies of another one: so many rows that were not trained on look as if they were.
    """

    hashes: np.ndarray
    part: float
    copies: float

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, n_rows: int) -> Self:
        """From training rows, of which there are so many in all."""
        hashes, place, counts = np.unique(_hashes(frame), return_inverse=True, return_counts=True)
        return cls(hashes, len(frame) / n_rows, float((counts[place] > 1).mean()))

    def count_equal(self, frame: pd.DataFrame) -> int:
        """How many rows are equal to a training row that is kept, be they the same observations or not."""
        return int(np.isin(_hashes(frame), self.hashes).sum())

    def count(self, frame: pd.DataFrame) -> int:
        """About how many rows were trained on; 0 where equal rows may be chance, or are too few to matter."""
        n, chance = len(frame), self.copies
        found = self.count_equal(frame)
        if found <= chance * n + _SURE * np.sqrt(chance * (1 - chance) * n):
            return 0
        part = min((found / n - chance) / (1 - chance) / self.part, 1.0)
        return round(part * n) if part >= _LEAST_PART else 0

    def state(self) -> dict[str, Any]:
        """Plain values and an array, for a file; the number of hashes tells whether some were lost."""
        return {"hashes": self.hashes, "n_hashes": len(self.hashes), "part": self.part, "copies": self.copies}

    @classmethod
    def from_state(cls, state: Any) -> Self:
        """The way back from `state`, checked."""
        if not isinstance(state, dict) or state.keys() != {"hashes", "n_hashes", "part", "copies"}:
            raise ValueError("seen rows must have hashes, their number, part and copies")
        hashes, part, copies = state["hashes"], state["part"], state["copies"]
        if not isinstance(hashes, np.ndarray) or hashes.ndim != 1 or hashes.dtype != np.uint32:
            raise ValueError("hashes must be an array of 32-bit integers")
        if len(hashes) != state["n_hashes"] or not (hashes[1:] > hashes[:-1]).all():
            raise ValueError("hashes must be as many as n_hashes says, and increasing")
        if not (isinstance(part, float) and 0 < part <= 1 and isinstance(copies, float) and 0 <= copies <= 1):
            raise ValueError("part and copies must be fractions")
        return cls(hashes, part, copies)


def _hashes(frame: pd.DataFrame) -> np.ndarray:
    """32 bits of each row, whatever its place."""
    return (pd.util.hash_pandas_object(frame, index=False).to_numpy() >> np.uint64(32)).astype(np.uint32)

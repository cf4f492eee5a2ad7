"""How many rows of a table a model was trained on, told by hashes of its training rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

# A smaller part of training rows among others changes no answer.
_LEAST_PART = 0.05

# Copies beyond this many standard errors are no chance.
_SURE = 4.0


@dataclass(frozen=True)
class SeenRows:
    """Hashes of training rows: of all, or of a random sample of them."""

    #: Sorted; labels are not part of them.
    hashes: np.ndarray
    #: Which part of the training rows they are of.
    part: float
    #: Which part of them are copies of another one: so many rows that were not trained on look as if they were.
    copies: float
    #: How many there are: in a file that lost some, they are fewer.
    n_hashes: int

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, n_rows: int) -> Self:
        """From training rows, of which there are so many in all."""
        hashes, place, counts = np.unique(_hashes(frame), return_inverse=True, return_counts=True)
        return cls(hashes, len(frame) / n_rows, float((counts[place] > 1).mean()), len(hashes))

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


def _hashes(frame: pd.DataFrame) -> np.ndarray:
    """32 bits of each row, whatever its place."""
    return (pd.util.hash_pandas_object(frame, index=False).to_numpy() >> np.uint64(32)).astype(np.uint32)

"""Log scores of all classes as functions of the squared distance: solved for, or looked up once that pays."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..numerics.types import FloatArray
from ..numerics.workspace import FRESH, Workspace
from .scores.base import Curve, ExtremeScore
from .scores.registry import Likelihood, Side
from .scores.table import ALPHA_MAX, JointTable, ScoreTable

# From this many samples on, building a table costs less than solving for each of them.
TABULATE_FROM = 20_000

# A table is built as well once a model was asked for so many samples in all, a call counting as so many more: then it
# has spent some of the time of building one, and will be asked again.
_PATIENCE, _PER_CALL = 5_000, 100

# One look-up for all classes is faster than one for each; its tables are copies of so many bytes at most.
_LARGEST_COPY = 64_000_000


class ClassCurves:
    """Best or worst log score of every class, for samples of one type in the host's memory.

    Parameters
    ----------
    extremes : sequence of ExtremeScore
        One per class.
    log_volumes : ndarray of shape (n_classes,)
        What is added to the log score of each class.
    dtype : numpy.float64 or numpy.float32
        Type of the distances.
    """

    def __init__(self, extremes: Sequence[ExtremeScore], log_volumes: FloatArray, dtype: Any) -> None:
        self._extremes, self._log_volumes, self._dtype = extremes, log_volumes.astype(dtype), dtype
        self._asked = 0
        self._searched = replace(extremes[0], radius=np.array([extreme.radius for extreme in extremes])[:, None])
        self._curves: list[Curve] | None = None
        self._joint: JointTable | None = None

    def expect(self, n_samples: int) -> None:
        """Say how many samples will be asked for next: that decides when tables are made."""
        self._asked += n_samples + _PER_CALL
        if self._curves is not None or (n_samples < TABULATE_FROM and self._asked < _PATIENCE):
            return
        curves = [extreme.tabulate(dtype=self._dtype) for extreme in self._extremes]
        tables = [curve for curve in curves if isinstance(curve, ScoreTable)]
        if len(tables) == len(curves) and sum(table.coefficients.nbytes for table in set(tables)) <= _LARGEST_COPY:
            self._joint = JointTable(tables, self._log_volumes)
        self._curves = curves

    def __call__(self, alpha: FloatArray, room: Workspace = FRESH, name: str = "scores") -> FloatArray:
        """Log scores at squared distances, both of shape (n_classes, n_samples), in a workspace's array."""
        if self._joint is not None and alpha.max(initial=0) <= ALPHA_MAX:
            return self._joint(alpha, room, name)
        scores = room.like(name, alpha)
        if self._curves is None:
            return np.add(self._searched.log_score(alpha), self._log_volumes[:, None], out=scores)
        for curve, volume, distances, row in zip(self._curves, self._log_volumes, alpha, scores, strict=True):
            np.add(curve(distances), volume, out=row)
        return scores


def log_score_curve(
    likelihood: Likelihood,
    side: Side,
    radius: float,
    n_features: int,
    n_samples: int,
    dtype: Any,
) -> Curve:
    """Log score as a function of the squared distance; tabulated if it pays for so many samples."""
    extreme = likelihood.at(side, float(radius), n_features)
    return extreme.tabulate(dtype=dtype) if n_samples >= TABULATE_FROM else extreme.log_score

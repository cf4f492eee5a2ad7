"""The fitted model as mathematics: from samples to best and worst log scores under every class."""

from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from ..moments.distances import ClassDistances
from ..moments.nominal import NominalMoments
from ..numerics.arrays import Array, is_numpy, like, namespace_of, to_host
from ..numerics.blocks import Parts, map_blocks
from ..numerics.types import FloatArray
from ..numerics.workspace import FRESH, Workspace, WorkspacePerThread
from .curves import ClassCurves
from .scores.base import Curve, ExtremeScore
from .scores.registry import Likelihood, Side
from .scores.table import ALPHA_MAX


class LogScores(NamedTuple):
    """Log scores per class and sample, the pessimistic ones only where they are asked for, and squared distances.

    There may be a workspace for what is made of them, in which they are themselves.
    """

    optimistic: Array
    pessimistic: Array | None = None
    alpha: Array = None
    room: Workspace = FRESH


class ScoreModel:
    """Best and worst log scores of samples under all classes.

    Parameters
    ----------
    likelihood : Likelihood
        Kind of score.
    moments : NominalMoments
        Means, covariances and factors of the classes.
    radii : ndarray of shape (n_classes,)
        Radii of their ambiguity sets.
    """

    def __init__(self, likelihood: Likelihood, moments: NominalMoments, radii: FloatArray) -> None:
        self.likelihood, self.moments, self.radii = likelihood, moments, radii
        self.distances = ClassDistances(moments.means, moments.factors)
        self.n_features = moments.means.shape[1]
        self.log_volumes = np.array([likelihood.log_volume(factor.logdet) for factor in moments.factors])
        self._known: dict[tuple[Side, Any], ClassCurves] = {}

    def map(self, X: Array, function: Callable[[LogScores], Parts], with_pessimistic: bool = True) -> Parts:
        """``function(log_scores)`` of all samples, block by block; see `map_blocks`."""
        best = self._curves("optimistic", X)
        worst = self._curves("pessimistic", X) if with_pessimistic else None
        rooms = WorkspacePerThread()

        def log_scores(samples: Array) -> LogScores:
            room = rooms.mine
            alpha = self.distances(samples, room)
            if not is_numpy(alpha) and not float(namespace_of(alpha).max(alpha)) <= ALPHA_MAX:
                # Beyond the table, and where distances overflow, the host knows what to do.
                parts = ("optimistic", "alpha", "pessimistic")[: 2 + with_pessimistic]
                known = self.map(to_host(samples), attrgetter(*parts), with_pessimistic)
                there = (like(part, samples, samples.dtype) for part in known)
                return LogScores(**dict(zip(parts, there, strict=True)))
            low = None if worst is None else worst(alpha, room, "pessimistic")
            return LogScores(best(alpha, room, "optimistic"), low, alpha, room)

        n_classes, d = self.moments.means.shape
        return map_blocks(
            lambda samples: function(log_scores(samples)), X, width=n_classes, operations=2 * n_classes * d
        )

    def optimistic(self, X: Array) -> Array:
        """Best log scores of all samples, of shape (n_classes, n_samples)."""
        return self.map(X, lambda scores: scores.optimistic, with_pessimistic=False)

    def log_ratio(self, X: Array) -> FloatArray:
        """Best log score of the second of two classes minus that of the first, on the host."""
        return to_host(self.map(X, lambda scores: scores.optimistic[1, :] - scores.optimistic[0, :], False))

    def _curves(self, side: Side, X: Array) -> Callable[[Array, Workspace, str], Array]:
        """Log scores of all classes as functions of the squared distances, for samples of one library and type."""
        dtype = np.float32 if X.dtype == namespace_of(X).float32 else np.float64
        if not is_numpy(X):
            tables = [extreme.tabulate(dtype=dtype, prefer_table=True) for extreme in self._extremes(side)]
            return partial(_on_device, tables, self.log_volumes.tolist())
        known = self._known.get((side, dtype))
        if known is None:
            known = self._known[side, dtype] = ClassCurves(self._extremes(side), self.log_volumes, dtype)
        known.expect(len(X))
        return known

    def _extremes(self, side: Side) -> list[ExtremeScore]:
        return [self.likelihood.at(side, float(radius), self.n_features) for radius in self.radii]


def _on_device(tables: list[Curve], log_volumes: list[float], alpha: Array, room: Workspace, name: str) -> Array:
    """Log scores in fresh arrays of another library."""
    pairs = enumerate(zip(tables, log_volumes, strict=True))
    return namespace_of(alpha).stack([table(alpha[c, :]) + volume for c, (table, volume) in pairs])

"""The fitted model as mathematics: from samples to best and worst log scores under every class."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..moments.nominal import NominalMoments
from ..numerics.arrays import Array, is_numpy, like, namespace_of, to_host
from ..numerics.blocks import Parts, map_blocks
from ..numerics.types import FloatArray
from ..scores import Likelihood, Side
from ..scores.base import Curve
from ..scores.table import ALPHA_MAX
from .distances import ClassDistances

# From this many samples on, building a table costs less than solving for each of them.
_TABULATE_FROM = 20_000


class LogScores(NamedTuple):
    """Log scores per class and sample, the pessimistic ones only where they are asked for, and squared distances."""

    optimistic: Array
    pessimistic: Array | None = None
    alpha: Array = None


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

    def map(self, X: Array, function: Callable[[LogScores], Parts], with_pessimistic: bool = True) -> Parts:
        """``function(log_scores)`` of all samples, block by block; see `map_blocks`."""
        best = self._curves("optimistic", X)
        worst = self._curves("pessimistic", X) if with_pessimistic else None

        def log_scores(samples: Array) -> LogScores:
            alpha = self.distances(samples)
            if not is_numpy(alpha) and not float(namespace_of(alpha).max(alpha)) <= ALPHA_MAX:
                # Beyond the table, and where distances overflow, the host knows what to do.
                return LogScores(*(like(part, samples, samples.dtype) for part in log_scores(to_host(samples))))
            pessimistic = None if worst is None else self._evaluate(worst, alpha)
            return LogScores(self._evaluate(best, alpha), pessimistic, alpha)

        return map_blocks(lambda samples: function(log_scores(samples)), X, width=len(self.radii))

    def optimistic(self, X: Array) -> Array:
        """Best log scores of all samples, of shape (n_classes, n_samples)."""
        return self.map(X, lambda scores: scores.optimistic, with_pessimistic=False)

    def _curves(self, side: Side, X: Array) -> list[Curve]:
        """Log score of each class as a function of the squared distance, for the samples' number, type and library."""
        dtype = np.float32 if X.dtype == namespace_of(X).float32 else np.float64
        d, on_device = self.n_features, not is_numpy(X)
        return [
            log_score_curve(self.likelihood, side, radius, d, X.shape[0], dtype, on_device=on_device)
            for radius in self.radii
        ]

    def _evaluate(self, curves: list[Curve], alpha: Array) -> Array:
        if not is_numpy(alpha):
            parts = enumerate(zip(curves, self.log_volumes.tolist(), strict=True))
            return namespace_of(alpha).stack([curve(alpha[c, :]) + volume for c, (curve, volume) in parts])
        scores = np.empty_like(alpha)
        for curve, volume, distances, row in zip(curves, self.log_volumes, alpha, scores, strict=True):
            np.add(curve(distances), alpha.dtype.type(volume), out=row)
        return scores


def log_score_curve(
    likelihood: Likelihood,
    side: Side,
    radius: float,
    n_features: int,
    n_samples: int,
    dtype: Any,
    *,
    on_device: bool = False,
) -> Curve:
    """Log score as a function of the squared distance; tabulated if it pays for so many samples, or on a device."""
    extreme = likelihood.at(side, float(radius), n_features)
    if on_device or n_samples >= _TABULATE_FROM:
        return extreme.tabulate(dtype=dtype, prefer_table=on_device)
    return extreme.log_score

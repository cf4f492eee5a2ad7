"""The fitted model as mathematics: from samples to best and worst log scores under every class."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..moments.estimates import Estimate, factorise_class
from ..moments.factors import Factor
from ..numerics.arrays import Array
from ..numerics.blocks import map_blocks
from ..numerics.distances import ClassDistances
from ..numerics.types import FloatArray
from .scores.base import Curve, ExtremeScore
from .scores.registry import Likelihood, Side
from .scores.table import CurveTables

# Scores of training samples that are no more than this are searched for one by one: that takes less time than a table.
_SEARCHED = 4_096


class NominalMoments(NamedTuple):
    """Means (K, d), covariances (K, d, d) and the factors of the latter, one per class."""

    means: FloatArray
    covariances: FloatArray
    factors: list[Factor]


def pool_moments(own: Sequence[Estimate], shared: Estimate | None, pooling: float) -> NominalMoments:
    """Return nominal moments: with pooling t, each covariance is (1 - t) S_c + t times the shared one."""
    means, covariances = np.stack([each.mean for each in own]), np.stack([each.covariance for each in own])
    if shared is None:
        return NominalMoments(means, covariances, [each.factor() for each in own])
    covariances = (1 - pooling) * covariances + pooling * shared.covariance
    factors = [factorise_class(S, each.known) for S, each in zip(covariances, own, strict=True)]
    return NominalMoments(means, covariances, factors)


class LogScores(NamedTuple):
    """Log scores (n_classes, n_samples), the pessimistic ones where they are asked for, and squared distances."""

    optimistic: FloatArray
    pessimistic: FloatArray
    alpha: FloatArray


class ClassCurves:
    """Best or worst log score of every class as functions of the squared distance: in closed form, or tabulated.

    The extremes are of one kind; volumes are added to the scores of each class.
    """

    def __init__(self, extremes: Sequence[ExtremeScore], log_volumes: FloatArray, dtype: Any) -> None:
        self._log_volumes = log_volumes.astype(dtype)[:, None]
        forms = {c: extreme.closed_form("log_score", dtype) for c, extreme in enumerate(extremes)}
        self._closed: dict[int, Curve] = {c: form for c, form in forms.items() if form is not None}
        self._rest = [c for c in forms if c not in self._closed]
        tabulated = [extremes[c] for c in self._rest]
        if tabulated:
            self._tables = _tables(tuple(tabulated), np.dtype(dtype).type)

    def __call__(self, alpha: FloatArray) -> FloatArray:
        """Return log scores at squared distances, both of shape (n_classes, n_samples)."""
        if not self._closed:
            scores = self._tables(alpha)
        else:
            scores = np.empty_like(alpha)
            for c, form in self._closed.items():
                scores[c] = form(alpha[c])
            if self._rest:
                scores[self._rest] = self._tables(alpha[self._rest])
        scores += self._log_volumes
        return scores


# Searches for one model are often made again for another with the same radii. A table takes 0.16 to 0.6 MB per class.
@lru_cache(maxsize=8)
def _tables(extremes: tuple[ExtremeScore, ...], dtype: Any) -> CurveTables:
    radii = np.array([extreme.radius for extreme in extremes])

    def log_scores(rows: np.ndarray, alpha: FloatArray) -> FloatArray:
        return replace(extremes[0], radius=radii[rows]).log_score(alpha)

    return CurveTables(log_scores, [extreme.pivot for extreme in extremes], dtype)


class ScoreModel:
    """Best and worst log scores of samples under all classes, within radii of nominal moments."""

    def __init__(self, likelihood: Likelihood, moments: NominalMoments, radii: FloatArray) -> None:
        self.likelihood, self.radii = likelihood, radii
        self.n_classes, self.n_features = moments.means.shape
        self.distances = ClassDistances(moments.means, np.stack([factor.whitener for factor in moments.factors]))
        self.log_volumes = np.array([likelihood.log_volume(factor.logdet) for factor in moments.factors])
        self._curves: dict[tuple[Side, Any], ClassCurves] = {}

    @property
    def cost(self) -> tuple[int, int]:
        """Numbers per sample that scores take, and operations: see `map_blocks`."""
        return self.n_classes, 2 * self.n_classes * self.n_features

    def __call__(self, samples: Array, *, both: bool) -> LogScores:
        """Return log scores of a block of samples; without both, the best ones stand in for the worst."""
        alpha = self.distances(samples)
        best = self.curves("optimistic", alpha.dtype.type)(alpha)
        worst = self.curves("pessimistic", alpha.dtype.type)(alpha) if both else best
        return LogScores(best, worst, alpha)

    def of_training(self, X: Array) -> FloatArray:
        """Return the best log scores (n_classes, n_samples) of training samples, of few of them without tables."""
        if self.n_classes * X.shape[0] > _SEARCHED:
            width, operations = self.cost
            return map_blocks(lambda block: self(block, both=False).optimistic, X, width=width, operations=operations)
        alpha = self.distances(X)
        extreme = self.likelihood.at("optimistic", self.radii[:, None], self.n_features)
        return extreme.log_score(alpha) + self.log_volumes.astype(alpha.dtype)[:, None]

    def curves(self, side: Side, dtype: Any) -> ClassCurves:
        """Return log scores of all classes as functions of the squared distances, for samples of one type."""
        if (side, dtype) not in self._curves:
            extremes = [self.likelihood.at(side, float(radius), self.n_features) for radius in self.radii]
            self._curves[side, dtype] = ClassCurves(extremes, self.log_volumes, dtype)
        return self._curves[side, dtype]

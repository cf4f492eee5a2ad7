"""Features on a common scale before a kernel sees them: standardised, or as normal scores of their ranks."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.special import ndtri

from ..moments.central import center_and_scale
from ..numerics.types import FloatArray

# Ranks are interpolated between so many values of a feature at most: enough to tell a thousandth from the next.
_MOST_KNOTS = 2000


class Standardised(NamedTuple):
    """(x - mean)/standard deviation, clipped to one width of the training range beyond it.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.kernel.scalings import Standardised
    >>> scaling = Standardised.fit(np.array([[0.0], [2.0]]))
    >>> scaling(np.array([[0.0], [1.0], [100.0]])).ravel()
    array([-1.,  0.,  3.])
    """

    center: FloatArray
    scale: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def fit(cls, X: FloatArray, weight: FloatArray | None = None) -> Self:
        """Learn means, standard deviations and ranges."""
        center, scale = center_and_scale(X, weight)
        lowest, highest = ((end / scale - center / scale) for end in (X.min(axis=0), X.max(axis=0)))
        width = highest - lowest
        return cls(center, scale, lowest - width, highest + width)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Map samples, in the type of X."""
        with np.errstate(over="ignore"):
            scaled = X / self.scale - self.center / self.scale
        return scaled.clip(self.lowest, self.highest).astype(X.dtype, copy=False)


class NormalScores(NamedTuple):
    """Normal quantiles of mid-ranks: linear between the values of the training samples, constant beyond them.

    The knots of all features stand one after the other; those of feature j begin at starts[j].

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.kernel.scalings import NormalScores
    >>> scaling = NormalScores.fit(np.array([[0.0], [0.0], [1.0], [1e9]]))
    >>> scaling(np.array([[0.0], [0.5], [2e9]])).ravel().round(2)
    array([-0.67, -0.18,  1.15])
    """

    values: FloatArray
    scores: FloatArray
    starts: np.ndarray

    @classmethod
    def fit(cls, X: FloatArray, weight: FloatArray | None = None) -> Self:
        """Learn the ranks of each feature."""
        knots = [_knots(column, weight) for column in X.T]
        starts = np.cumsum([0, *(len(values) for values, _ in knots)])
        values, scores = (np.concatenate(parts) for parts in zip(*knots, strict=True))
        return cls(values, scores, starts)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Map samples, in the type of X."""
        scored = np.empty_like(X)
        for j in range(X.shape[1]):
            part = slice(self.starts[j], self.starts[j + 1])
            scored[:, j] = np.interp(X[:, j], self.values[part], self.scores[part])
        return scored


def _knots(column: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Distinct values of a feature, of very many some, and the normal quantiles of their mid-ranks."""
    values, place = np.unique(column.astype(np.float64), return_inverse=True)
    counts = np.bincount(place, weight)
    scores = ndtri((np.cumsum(counts) - 0.5 * counts) / counts.sum())
    if len(values) > _MOST_KNOTS:
        # All in the tails, where scores change fast, and every so many between them.
        tail = _MOST_KNOTS // 4
        between = np.linspace(tail, len(values) - tail - 1, _MOST_KNOTS - 2 * tail).round().astype(int)
        kept = np.concatenate([np.arange(tail), between, np.arange(len(values) - tail, len(values))])
        values, scores = values[kept], scores[kept]
    return values, scores


class Weighted(NamedTuple):
    """Scaled features times weights; those of weight 0 are left out."""

    scaling: Any
    weights: FloatArray

    def __call__(self, X: FloatArray) -> FloatArray:
        """Map samples, in the type of X."""
        weighted: FloatArray = (self.scaling(X) * self.weights.astype(X.dtype, copy=False))[:, self.weights > 0]
        return weighted


#: Maps of features one by one, trained on samples; bounded, so that a point far out stays finite.
Scaling: TypeAlias = Standardised | NormalScores | Weighted

#: Scalings by name.
SCALINGS: Mapping[str, type[Standardised] | type[NormalScores]] = MappingProxyType(
    {"standard": Standardised, "ranks": NormalScores}
)

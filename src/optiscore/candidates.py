"""Candidates of a cross-validation: which radii, poolings and scores are tried, and which of them wins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ._typing import FloatArray
from .scores import RADIUS_CEILING, Score, get_score
from .settings import check_pooling

#: Default candidates, as factors on the clt radii: none, and powers of two around 1.
DEFAULT_FACTORS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)

# Mean scores closer than this are a tie.
_TIE = 1e-12


@dataclass(frozen=True)
class RadiusGrid:
    """Vectors of radii, one radius per class.

    Parameters
    ----------
    axes : tuple of ndarray
        What varies: the radii of the first and of the second class, or one factor on the clt radii of all classes.
    vectors : ndarray of shape (n_vectors, n_classes)
        The radii, the last axis varying fastest.
    """

    axes: tuple[FloatArray, ...]
    vectors: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values per axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def is_product(self) -> bool:
        """Whether each class has an axis of its own."""
        return len(self.axes) > 1


def radius_grid(radii: Any, clt_radii: FloatArray, per_class: bool) -> RadiusGrid:
    """Every pair for two classes, or common factors on the clt radii for more or if asked."""
    values = _check_candidates(radii)
    if per_class and len(clt_radii) == 2:
        own = tuple(np.array(DEFAULT_FACTORS) * clt if values is None else values for clt in clt_radii)
        return RadiusGrid(own, np.array(list(product(*own))))
    factors = np.array(DEFAULT_FACTORS) if values is None else values
    vectors = np.outer(factors, clt_radii)
    if vectors.max() > RADIUS_CEILING:
        raise ValueError(f"radii times the clt radii must be at most {RADIUS_CEILING:g}, got {vectors.max():g}.")
    return RadiusGrid((factors,), vectors)


def _check_candidates(radii: Any) -> FloatArray | None:
    """Distinct candidates in increasing order."""
    if radii is None:
        return None
    try:
        values = np.unique(np.asarray(radii, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"radii must be None or hold numbers, got {radii!r}.") from None
    if values.size == 0 or np.ndim(radii) != 1 or not ((values >= 0) & (values <= RADIUS_CEILING)).all():
        raise ValueError(f"radii must be a list of numbers from 0 to {RADIUS_CEILING:g}, got {radii!r}.")
    return values


class Candidate(NamedTuple):
    """One setting of the classifier."""

    score: Score
    pooling: float
    radii: FloatArray


@dataclass(frozen=True)
class Candidates:
    """All combinations of scores, poolings and radii, in this order, the radii varying fastest."""

    scores: Sequence[Score]
    poolings: Sequence[float]
    grid: RadiusGrid

    def __len__(self) -> int:
        return len(self.scores) * len(self.poolings) * len(self.grid.vectors)

    def __iter__(self) -> Iterator[Candidate]:
        return (Candidate(*choice) for choice in product(self.scores, self.poolings, self.grid.vectors))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of scores, of poolings and of values per axis of the radii."""
        return (len(self.scores), len(self.poolings), *self.grid.shape)


def check_scores(score: Any) -> list[Score]:
    """One kind of score, or a list of them."""
    kinds: Any = [score] if isinstance(score, str | Score) else score
    try:
        scores = [get_score(kind) for kind in kinds]
    except TypeError:
        raise ValueError(f"score must be the name of a score or a list of names, got {score!r}.") from None
    if not scores:
        raise ValueError("score must name at least one score, got an empty list.")
    return scores


def check_poolings(poolings: Any) -> list[float]:
    """One share, or a list of them."""
    values = [check_pooling(pooling) for pooling in np.atleast_1d(np.asarray(poolings, dtype=object)).ravel()]
    if not values:
        raise ValueError("poolings must hold at least one number between 0 and 1, got an empty list.")
    return values


def choose(mean_scores: FloatArray, candidates: Candidates) -> int:
    """Index of the best candidate.

    Ties go to the candidate whose neighbours in the grid of radii do best on average, then to the largest sum of radii.
    """
    if np.isnan(mean_scores).all():
        raise ValueError("the cross-validation score is NaN for every candidate; choose another scoring.")
    scores = np.where(np.isnan(mean_scores), -np.inf, mean_scores)
    radii = np.tile(candidates.grid.vectors.sum(axis=1), len(scores) // len(candidates.grid.vectors))
    tied = np.flatnonzero(_is_highest(scores))
    for quality in (_neighbourhood(mean_scores, candidates), radii):
        tied = tied[_is_highest(quality[tied])]
    return int(tied[0])


def _neighbourhood(mean_scores: FloatArray, candidates: Candidates) -> FloatArray:
    """Mean score of the candidates next to each one, also diagonally, along the axes of the radii; its own if alone."""
    n_axes = len(candidates.grid.axes)
    surface = mean_scores.reshape(candidates.shape)
    edge = [(0, 0), (0, 0)] + [(1, 1)] * n_axes
    own_axes, window_axes = tuple(range(2, 2 + n_axes)), tuple(range(-n_axes, 0))
    padded = np.pad(surface, edge, constant_values=np.nan)
    windows = sliding_window_view(padded, (3,) * n_axes, axis=own_axes).copy()
    centre: tuple[Any, ...] = (..., *(1,) * n_axes)
    windows[centre] = np.nan
    known = ~np.isnan(windows)
    total, count = (part.sum(axis=window_axes) for part in (np.where(known, windows, 0.0), known))
    return np.where(count > 0, total / np.maximum(count, 1), surface).ravel()


def _is_highest(values: FloatArray) -> np.ndarray:
    top = values.max()
    return values >= top - _TIE * max(1.0, abs(top))

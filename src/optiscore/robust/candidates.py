"""Candidates of a cross-validation: which radii, poolings and likelihoods are tried, and which of them wins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from ..numerics.types import FloatArray
from .scores.base import RADIUS_CEILING
from .scores.registry import Likelihood, get_likelihood, name_of

#: Default candidates, as factors on the clt radii: none, and powers of two around 1.
DEFAULT_FACTORS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)

# Mean scores closer than this are a tie.
_TIE = 1e-12


@dataclass(frozen=True)
class RadiusGrid:
    """Vectors of radii, one radius per class."""

    #: What varies: the radii of the first and of the second class, or one radius or factor common to all classes.
    axes: tuple[FloatArray, ...]
    #: The radii, the last axis varying fastest; of shape (n_vectors, n_classes).
    vectors: FloatArray

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values per axis."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def is_product(self) -> bool:
        """Whether each class has an axis of its own."""
        return len(self.axes) > 1


def radius_grid(radii: Any, radius_factors: Any, clt_radii: FloatArray, per_class: bool) -> RadiusGrid:
    """Every pair for two classes, or else values that are common to all: radii, or factors on the clt radii."""
    if radii is not None and radius_factors is not None:
        raise ValueError("radii and radius_factors exclude each other: give the candidates by one of them.")
    if radii is not None:
        values, units = _distinct(radii, "radii", RADIUS_CEILING), np.ones_like(clt_radii)
    else:
        given = DEFAULT_FACTORS if radius_factors is None else radius_factors
        values, units = _distinct(given, "radius_factors", RADIUS_CEILING), clt_radii
    if per_class and len(clt_radii) == 2:
        own = tuple(values * unit for unit in units)
        grid = RadiusGrid(own, np.array(list(product(*own))))
    else:
        grid = RadiusGrid((values,), np.outer(values, units))
    if grid.vectors.max() > RADIUS_CEILING:
        raise ValueError(
            f"radius_factors times the clt radii must be at most {RADIUS_CEILING:g}, got {grid.vectors.max():g}. Give "
            f"smaller factors, or larger sample weights."
        )
    return grid


def check_poolings(poolings: Any) -> list[float]:
    """Distinct weights of the pooled covariance."""
    return _distinct(poolings, "poolings", 1).tolist()


def _distinct(values: Any, name: str, ceiling: float) -> FloatArray:
    """Distinct candidates in increasing order."""
    try:
        distinct = np.unique(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a list of numbers, got {values!r}.") from None
    if distinct.size == 0 or np.ndim(values) != 1 or not ((distinct >= 0) & (distinct <= ceiling)).all():
        raise ValueError(f"{name} must be a list of numbers from 0 to {ceiling:g}, got {values!r}.")
    return distinct


class Candidate(NamedTuple):
    """One setting of the classifier."""

    likelihood: Likelihood
    pooling: float
    radii: FloatArray


@dataclass(frozen=True)
class Candidates:
    """All combinations of likelihoods, poolings and radii, in this order, the radii varying fastest."""

    likelihoods: Sequence[Likelihood]
    poolings: Sequence[float]
    grid: RadiusGrid

    def __len__(self) -> int:
        return len(self.likelihoods) * len(self.poolings) * len(self.grid.vectors)

    def __iter__(self) -> Iterator[Candidate]:
        return (Candidate(*choice) for choice in product(self.likelihoods, self.poolings, self.grid.vectors))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of likelihoods, of poolings and of values per axis of the radii."""
        return (len(self.likelihoods), len(self.poolings), *self.grid.shape)


def check_likelihoods(likelihood: Any) -> list[Likelihood]:
    """One likelihood, or a list of them."""
    kinds: Any = [likelihood] if isinstance(likelihood, str | Likelihood) else likelihood
    if not isinstance(kinds, Sequence | np.ndarray) or len(kinds) == 0:
        raise ValueError(f"likelihood must be a name or a list of at least one name, got {likelihood!r}.")
    return [get_likelihood(kind) for kind in kinds]


def choose_candidate(mean_scores: FloatArray, candidates: Candidates) -> int:
    """Index of the best candidate.

    Ties go to the candidate whose neighbours in the grid of radii do best on average, then to the largest sum of radii.
    """
    known = ~np.isnan(mean_scores)
    if not known.any():
        raise ValueError("the cross-validation score is NaN for every candidate; choose another scoring.")
    radii = np.array([candidate.radii.sum() for candidate in candidates])
    tied = np.flatnonzero(known)
    for quality in (mean_scores, _mean_of_neighbours(mean_scores, candidates), radii):
        tied = tied[_is_highest(quality[tied])]
    return int(tied[0])


def _mean_of_neighbours(mean_scores: FloatArray, candidates: Candidates) -> FloatArray:
    """Mean score of the candidates next to each one in the grid of radii, also diagonally; its own if it has none."""
    surface = mean_scores.reshape(candidates.shape)
    axes = range(2, surface.ndim)
    margins = [(0, 0), (0, 0), *((1, 1) for _ in axes)]
    padded = np.pad(surface, margins, constant_values=np.nan)
    total, count = np.zeros_like(surface), np.zeros_like(surface)
    for shift in product((0, 1, 2), repeat=len(axes)):
        if any(step != 1 for step in shift):
            window = [slice(step, step + surface.shape[axis]) for axis, step in zip(axes, shift, strict=True)]
            neighbour = padded[:, :, *window]
            known = np.isfinite(neighbour)
            total += np.where(known, neighbour, 0.0)
            count += known
    return np.where(count > 0, total / np.maximum(count, 1), surface).ravel()


def _is_highest(values: FloatArray) -> np.ndarray:
    top = float(values.max())
    return values >= (top - _TIE * abs(top) if np.isfinite(top) else top)


def tabulate(candidates: Candidates, scores: FloatArray) -> dict[str, Any]:
    """Candidates and their scores (n_folds, n_candidates) in the layout of GridSearchCV."""
    params = [
        {
            "likelihood": name_of(likelihood),
            "pooling": pooling,
            "radius": tuple(radii.tolist()),
        }
        for likelihood, pooling, radii in candidates
    ]
    columns = {f"param_{name}": _column([setting[name] for setting in params]) for name in params[0]}
    folds = {f"split{i}_test_score": fold for i, fold in enumerate(scores)}
    with np.errstate(invalid="ignore"):
        mean, std = scores.mean(axis=0), scores.std(axis=0)
    rank = rankdata(-np.where(np.isnan(mean), -np.inf, mean), method="min").astype(np.int32)
    return {
        **columns,
        "params": params,
        **folds,
        "mean_test_score": mean,
        "std_test_score": std,
        "rank_test_score": rank,
    }


def _column(values: list[Any]) -> np.ma.MaskedArray:
    if isinstance(values[0], float):
        return np.ma.array(values)
    column = np.ma.array(np.empty(len(values), dtype=object))
    column[:] = np.fromiter(values, dtype=object, count=len(values))
    return column

"""Some of many labelled rows: drawn within the classes, so that rare ones are there, with weights to make up for it."""

from typing import NamedTuple

import numpy as np

from ..numerics.types import FloatArray


class Subset(NamedTuple):
    """Rows by their places, in random order but for two of each class, which come first, and what each stands for.

    Weights are None where all stand for as many.
    """

    rows: np.ndarray
    weights: FloatArray | None


def stratified(codes: np.ndarray, n_rows: int, n_least: int, seed: int) -> Subset:
    """Return about so many rows: of each class its part, or ``n_least`` where it has as many; all, if they are no more.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.moments.subsets import stratified
    >>> codes = np.repeat([0, 1], [960, 40])
    >>> rows, weights = stratified(codes, 100, 10, seed=0)
    >>> np.bincount(codes[rows]), np.bincount(codes[rows], weights).round(6)
    (array([96, 10]), array([101.76,   4.24]))
    """
    order = rows_of_every_class_first(codes, seed)
    if len(codes) <= n_rows:
        return Subset(order, None)
    counts = np.bincount(codes)
    wanted = np.minimum(counts, np.maximum(np.round(counts * (n_rows / len(codes))).astype(int), n_least))
    rows = order[places_in_class(codes[order], counts) < wanted[codes[order]]]
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = counts / len(codes) * (len(rows) / wanted)
    return Subset(rows, None if np.allclose(weight[counts > 0], 1, rtol=0.05) else weight[codes[rows]])


def rows_of_every_class_first(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return all rows in random order, two of each class, or the one that it has, before the others."""
    order = np.random.default_rng(seed).permutation(len(codes))
    is_later = places_in_class(codes[order], np.bincount(codes)) >= 2
    return order[np.argsort(is_later, kind="stable")]


def places_in_class(codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return of each row how many of its class come before it."""
    by_class = np.argsort(codes, kind="stable")
    starts = np.cumsum(counts) - counts
    places = np.empty(len(codes), dtype=int)
    places[by_class] = np.arange(len(codes)) - np.repeat(starts, counts)
    return places

"""Fits of any classifier with some rows left out, and what each says of these."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils.validation import has_fit_parameter

from ..moments.subsets import places_in_class, rows_of_every_class_first
from ..numerics.types import FloatArray

#: Rows that are kept, and rows that are left out.
Fold: TypeAlias = tuple[np.ndarray, np.ndarray]


class FoldResult(NamedTuple):
    """A classifier fitted to the rows that are kept, and probabilities (n_left_out, n_classes) of the others."""

    model: Any
    proba: FloatArray


def stratified_folds(codes: np.ndarray, n_folds: int, seed: int) -> list[Fold]:
    """Return folds of rows at random that all have as much of each class, also of those with fewer rows than folds."""
    rows = np.arange(len(codes))
    order = rows_of_every_class_first(codes, seed)
    counts = np.bincount(codes)
    # A rare class begins where the one before it ends, so that folds are of one size.
    starts = np.zeros(len(counts), dtype=int)
    by_first = np.array(list(dict.fromkeys(codes[order].tolist())))
    starts[by_first] = np.cumsum(counts[by_first]) - counts[by_first]
    fold = np.empty(len(codes), dtype=int)
    fold[order] = (places_in_class(codes[order], counts) + starts[codes[order]]) % n_folds
    return [(rows[fold != k], rows[fold == k]) for k in range(n_folds) if (fold == k).any()]


def split_rows(cv: Any, X: Any, y: np.ndarray, codes: np.ndarray, groups: Any, seed: int) -> list[Fold]:
    """Return the folds of a number, a splitter or a list of pairs; rows of one group are left out together."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv must be at least 2, a splitter, or pairs of indices, got {cv!r}.")
        if groups is None:
            return stratified_folds(codes, min(int(cv), len(codes)), seed)
        cv = StratifiedGroupKFold(min(int(cv), len(np.unique(groups))), shuffle=True, random_state=seed)
    if hasattr(cv, "split"):
        return [(np.asarray(kept), np.asarray(out)) for kept, out in cv.split(X, y, groups)]
    try:
        return [(np.asarray(kept), np.asarray(out)) for kept, out in cv]
    except (TypeError, ValueError):
        raise ValueError(f"cv must be at least 2, a splitter, or pairs of indices, got {cv!r}.") from None


def fit_fold(
    make: Callable[[], Any], X: Any, y: np.ndarray, labels: np.ndarray, weight: FloatArray | None, fold: Fold
) -> FoldResult:
    """Return what a new classifier that is fitted to some rows says of others."""
    kept, left_out = fold
    model = fit_with_weights(make(), take_rows_of(X, kept), y[kept], None if weight is None else weight[kept])
    return FoldResult(model, proba_of(model, take_rows_of(X, left_out), labels))


def fit_all(
    members: Sequence[Any],
    X: Any,
    y: np.ndarray,
    labels: np.ndarray,
    weight: FloatArray | None,
    folds: Sequence[Fold],
    n_jobs: int | None,
    advance: Callable[[int], None],
) -> tuple[list[Any], list[list[FoldResult]]]:
    """Return members fitted to all rows, and results of each fold for each member."""
    tasks: list[tuple[Any, Fold | None]] = [(member, fold) for fold in (None, *folds) for member in members]

    def work(member: Any, fold: Fold | None) -> Any:
        if fold is None:
            return fit_with_weights(clone(member), X, y, weight)
        return fit_fold(lambda: clone(member), X, y, labels, weight, fold)

    def calls() -> Iterator[Any]:
        for task in tasks:
            yield joblib.delayed(work)(*task)
            advance(1)

    found, m = joblib.Parallel(n_jobs=n_jobs)(calls()), len(members)
    return found[:m], [found[start : start + m] for start in range(m, len(found), m)]


def fit_with_weights(model: Any, X: Any, y: np.ndarray, weight: FloatArray | None) -> Any:
    """Return a fitted classifier; weights go where they are taken, and anything else refuses them."""
    if weight is None:
        return model.fit(X, y)
    last = model.steps[-1] if hasattr(model, "steps") else None
    if last is not None and has_fit_parameter(last[1], "sample_weight"):
        return model.fit(X, y, **{f"{last[0]}__sample_weight": weight})
    if last is not None or "sample_weight" not in inspect.signature(model.fit).parameters:
        raise ValueError(f"{type(model).__name__} takes no sample_weight: fit without weights.")
    return model.fit(X, y, sample_weight=weight)


def proba_of(model: Any, X: Any, labels: np.ndarray) -> FloatArray:
    """Return probabilities of all labels in their order; those that a model has not seen have 0."""
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    seen = np.asarray(model.classes_)
    if len(seen) == len(labels) and (seen == labels).all():
        return found
    proba = np.zeros((len(found), len(labels)))
    proba[:, np.searchsorted(labels, seen)] = found
    return proba


def take_rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of an array, a sparse matrix, a list or a frame, as what came in."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def left_out_means(results: Iterator[tuple[np.ndarray, FloatArray]], n: int, n_classes: int) -> FloatArray:
    """Return mean probabilities of rows over the folds that leave them out; NaN for rows that none leaves out."""
    total, times = np.zeros((n, n_classes)), np.zeros(n)
    for left_out, proba in results:
        np.add.at(total, left_out, proba)
        np.add.at(times, left_out, 1)
    with np.errstate(invalid="ignore"):
        return total / times[:, None]

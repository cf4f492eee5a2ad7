"""Fits of any classifier with some rows left out, and what each says of these."""

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import joblib
import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import Pipeline

from ..moments.labelled import TrainingSet
from ..moments.subsets import places_in_class, rows_of_every_class_first
from ..numerics.types import FloatArray

#: Rows that are kept, and rows that are left out.
Fold: TypeAlias = tuple[np.ndarray, np.ndarray]

# Probabilities may sum to 1 but for so much.
_ROUNDING = 1e-3


class FoldResult(NamedTuple):
    """A classifier fitted to the rows that are kept, and probabilities (n_left_out, n_classes) of the others."""

    model: Any
    proba: FloatArray


class LeftOut(NamedTuple):
    """Rows that were left out, by their places: classes, what they stand for, folds, probabilities by each classifier.

    What rows stand for sums to the number of rows that they are worth, and is in the classes as in training.
    """

    rows: np.ndarray
    codes: np.ndarray
    weights: FloatArray
    fold: np.ndarray
    probas: list[FloatArray]

    @classmethod
    def of(cls, training: TrainingSet, folds: Sequence[Fold], results: Sequence[Sequence[FoldResult]]) -> "LeftOut":
        """Return what the classifiers of the folds say; of rows that several leave out, the mean."""
        n, K = len(training.codes), len(training.labels)
        times, fold = np.zeros(n), np.zeros(n, dtype=int)
        totals = [np.zeros((n, K)) for _ in results[0]]
        for k, (_, out) in enumerate(folds):
            times[out] += 1
            fold[out] = k
            for total, result in zip(totals, results[k], strict=True):
                total[out] += result.proba
        weight = np.ones(n) if training.weight is None else training.weight
        rows = np.flatnonzero((times > 0) & (weight > 0))
        codes, weights = training.codes[rows], weight[rows]
        in_all, here = (np.bincount(c, w, minlength=K) for c, w in ((training.codes, weight), (codes, weights)))
        if not here.all():
            label = str(training.labels[here == 0][0])
            raise ValueError(f"no fold leaves out a row of class {label!r}: choose another cv.")
        weights = weights * (in_all / here)[codes]
        weights = weights * (worth_of(weights) / weights.sum())
        return cls(rows, codes, weights, fold[rows], [total[rows] / times[rows, None] for total in totals])


def worth_of(weights: FloatArray) -> float:
    """Return the number of rows that weighted ones are worth: their sum, as repetitions, or that of equal ones."""
    shares = weights / weights.sum()
    return max(float(weights.sum()), 1 / float(np.square(shares).sum()))


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
        _, places = np.unique(np.asarray(groups).astype(str), return_inverse=True)
        if not places.any():
            raise ValueError("groups must be two at least: rows of one group are left out together.")
        groups = places
        cv = StratifiedGroupKFold(min(int(cv), places.max() + 1), shuffle=True, random_state=seed)
    if hasattr(cv, "get_n_splits"):
        folds = [(np.asarray(kept), np.asarray(out)) for kept, out in cv.split(X, y, groups)]
    else:
        try:
            folds = [(np.asarray(kept, dtype=int), np.asarray(out, dtype=int)) for kept, out in cv]
        except (TypeError, ValueError):
            folds = []
    if len(folds) < 2:
        raise ValueError(f"cv must be at least 2, a splitter, or pairs of indices, got {cv!r}.")
    if any(np.isin(out, kept).any() for kept, out in folds):
        raise ValueError("cv must not leave rows out that are kept: some fold has the same row on both sides.")
    return folds


def fit_fold(
    member: Any, X: Any, y: np.ndarray, labels: np.ndarray, weight: FloatArray | None, fold: Fold
) -> FoldResult:
    """Return what a classifier that is fitted to some rows says of others."""
    kept, left_out = fold
    model = fit_with_weights(member, take_rows_of(X, kept), y[kept], None if weight is None else weight[kept])
    return FoldResult(model, proba_of(model, take_rows_of(X, left_out), labels))


def fit_all(
    members: Sequence[Any],
    training: TrainingSet,
    folds: Sequence[Fold],
    n_jobs: int | None,
    advance: Callable[[int], None],
) -> tuple[list[Any], list[list[FoldResult]]]:
    """Return members fitted to all rows, and results of each fold for each member."""
    X, codes, labels, weight = training
    y, m = labels[codes], len(members)

    def work(member: Any, fold: Fold | None) -> Any:
        if fold is None:
            return fit_with_weights(fresh(member), X, y, weight)
        return fit_fold(fresh(member), X, y, labels, weight, fold)

    def calls() -> Iterator[Any]:
        for fold in (None, *folds):
            for member in members:
                yield joblib.delayed(work)(member, fold)
                advance(1)

    found = joblib.Parallel(n_jobs=n_jobs)(calls())
    return found[:m], [found[start : start + m] for start in range(m, len(found), m)]


def fresh(member: Any) -> Any:
    """Return a classifier with the same parameters that is not fitted."""
    try:
        return clone(member)
    # Of other libraries, some change their parameters when they are made.
    except RuntimeError:
        return copy.deepcopy(member)


def fit_with_weights(model: Any, X: Any, y: np.ndarray, weight: FloatArray | None) -> Any:
    """Return a fitted classifier; weights go where they are taken, and anything else refuses them."""
    if weight is None:
        return model.fit(X, y)
    keyword = _keyword_of_weights(model)
    if keyword is None:
        raise ValueError(f"{type(model).__name__} takes no sample_weight: fit without weights.")
    return model.fit(X, y, **{keyword: weight})


def _keyword_of_weights(model: Any) -> str | None:
    """Return what fit calls weights: of a pipeline, those of its last step; None where it takes none."""
    if isinstance(model, Pipeline) and not get_config()["enable_metadata_routing"]:
        name, last = model.steps[-1]
        inner = _keyword_of_weights(last)
        return None if inner is None else f"{name}__{inner}"
    parameters = inspect.signature(model.fit).parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return "sample_weight" if takes_any or "sample_weight" in parameters else None


def proba_of(model: Any, X: Any, labels: np.ndarray) -> FloatArray:
    """Return probabilities of all labels in their order; those that a model has not seen have 0."""
    found, seen = np.asarray(model.predict_proba(X), dtype=np.float64), np.asarray(model.classes_)
    known = {label: place for place, label in enumerate(labels.tolist())}
    if not set(seen.tolist()) <= known.keys():
        raise ValueError(f"{type(model).__name__} knows other classes than y has: {seen.tolist()}, {labels.tolist()}.")
    if not (np.abs(found.sum(axis=1) - 1) < _ROUNDING).all():
        raise ValueError(f"{type(model).__name__} gives probabilities that are NaN or do not sum to 1.")
    proba = np.zeros((len(found), len(labels)))
    proba[:, [known[label] for label in seen.tolist()]] = found
    return proba


def take_rows_of(X: Any, rows: np.ndarray) -> Any:
    """Return some rows of an array, a sparse matrix, a list or a frame, as what came in."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]

"""OptimisticScoreClassifier for Dask: fit reduces blocks to sums, predictions are lazy and block by block."""

from functools import partial
from typing import Any, NamedTuple, Self

import dask.array as da
import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from ..classifiers.availability import only_if
from ..classifiers.optimistic import OptimisticScoreClassifier as Parent
from ..classifiers.parameters import check_for_sums, check_parameters
from ..classifiers.validation import check_two_classes
from ..decisions.log_scores import ScoreModel
from ..decisions.tuning import LabelledScores, ascend
from ..moments.labelled import ClassData, TrainingSet, check_targets_of_block, check_weights, comparing_labels, merge
from ..moments.sums import MomentSums
from ..numerics.types import FloatArray
from .blocks import is_frame, is_lazy, is_number, map_labelled, reduce_tree
from .lazy import Width, lazy
from .tuning import BlockScores

_FLOATS = [np.float64, np.float32]

# Integers below this are counted.
_FEW_LABELS = 1000


class OptimisticScoreClassifier(Parent):
    """`optiscore.OptimisticScoreClassifier` for Dask's arrays and data frames.

    Parameters and fitted attributes are the same, and so is the model, but for rounding. `fit` reads the data once
    (rule "tuned": twice), reduces each block to sums of size O(d^2) per class where the block is, and merges these
    in a tree. The methods that say something of samples return lazy Dask arrays for Dask's collections. Chunks may have
    unknown sizes. Whatever scheduler is current is used: a `dask.distributed.Client` of yours, or threads.

    What needs all samples of a class in one place is refused: radius "empirical", and covariance estimators other than
    None, EmpiricalCovariance, ShrunkCovariance and RidgeCovariance. NumPy arrays are treated as by the parent class.

    Examples
    --------
    >>> import dask.array as da
    >>> from optiscore.dask import OptimisticScoreClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)
    >>> model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    >>> model.predict(X).chunks  # lazy
    ((50, 50, 50),)
    >>> model.score(X, y)
    0.98

    Labels as a column of the frame that they are predicted from:

    >>> import dask.dataframe as dd
    >>> frame = dd.from_pandas(load_iris(as_frame=True).data, npartitions=3)
    >>> labelled = frame.map_partitions(lambda part: part.assign(label=model.predict(part.to_numpy())))
    >>> int(labelled.label.nunique().compute())
    3
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn moments, radii and offsets from labelled samples.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features) or dask data frame
            Samples.
        y : dask array or series of shape (n_samples,)
            Labels.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights >= 0, as in memory.

        Returns
        -------
        self : OptimisticScoreClassifier
        """
        if not is_lazy(X):
            return super().fit(X, y, sample_weight)
        self._drop_fitted()
        check_parameters(self.get_params(deep=False))
        check_for_sums(self.radius, self.covariance_estimator)
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        self._check_kind(X, reset=True)
        found = reduce_tree(map_labelled(_sums_of_block, X, y, sample_weight), _merge_sums)
        check_two_classes(found.labels)
        known = [ClassData(label, sums) for label, sums in zip(found.labels, found.sums, strict=True)]

        def tune(model: ScoreModel, priors: FloatArray) -> FloatArray:
            score = partial(_scores_of_block, model=model, labels=found.labels)
            boxes = map_labelled(score, X, y, sample_weight)
            return ascend(BlockScores(boxes, is_used_once=len(priors) == 2), priors)

        return self._learn(found.labels, known, tune)

    @only_if(Parent._check_for_blocks)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more block in memory, see the parent class; Dask's collections are for `fit`."""
        if any(map(is_lazy, (X, y, sample_weight))):
            raise ValueError("partial_fit takes blocks that are in memory; call fit on Dask's collections.")
        return Parent.partial_fit(self, X, y, classes, sample_weight)

    predict = lazy(Parent.predict, Width.ONE)
    decision_function = lazy(Parent.decision_function, Width.MARGINS)
    predict_log_proba = lazy(Parent.predict_log_proba, Width.CLASSES)
    predict_proba = lazy(Parent.predict_proba, Width.CLASSES)
    log_score_bounds = lazy(Parent.log_score_bounds, Width.PAIR)
    predict_proba_bounds = lazy(Parent.predict_proba_bounds, Width.PAIR)
    predict_set = lazy(Parent.predict_set, Width.CLASSES)
    certified_factor = lazy(Parent.certified_factor, Width.ONE)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Fraction of the samples, or of their weight, that `predict` labels right.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features) or dask data frame
            Samples.
        y : dask array or series of shape (n_samples,)
            Labels.
        sample_weight : dask array or series of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        float
        """
        if not is_lazy(X):
            return float(Parent.score(self, X, y, sample_weight))
        self._check_kind(X, reset=False)
        hits = partial(_hits_of_block, model=self._in_memory())
        right, total = reduce_tree(map_labelled(hits, X, y, sample_weight), _add_columns)
        if not total:
            raise ValueError("score needs at least one sample of positive weight.")
        return float(right / total)

    def _check_kind(self, X: Any, reset: bool) -> None:
        """Names, number and types of the features, which are known without reading any sample."""
        if not (is_frame(X) or isinstance(X, da.Array)):
            raise ValueError(f"X must be a Dask array or data frame, got a {type(X).__name__}.")
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, samples and features, got {X.ndim}.")
        if is_frame(X) and (odd := [name for name, kind in X.dtypes.items() if not is_number(kind)]):
            raise ValueError(f"columns {odd} of X hold no numbers: encode them, or leave them out.")
        if not is_frame(X) and np.isnan(X.shape[1:]).any():
            raise ValueError("the number of features of X is not known: call X.compute_chunk_sizes() first.")
        sample = X._meta if is_frame(X) else np.empty((0, *X.shape[1:]), dtype=X.dtype)
        validate_data(self, sample, dtype=_FLOATS, reset=reset, ensure_min_samples=0)

    def _in_memory(self) -> Parent:
        """The fitted classifier for one block, whose columns have no names."""
        self._check_fitted()
        model = Parent(**self.get_params(deep=False))
        hidden = {"_sums", "feature_names_in_"}
        model.__setstate__({name: value for name, value in self.__getstate__().items() if name not in hidden})
        return model


class LabelledSums(NamedTuple):
    """Labels, and the sums over the samples of each."""

    labels: np.ndarray
    sums: list[MomentSums]


def _check_block(
    X: Any, y: Any, sample_weight: Any, *, ensure_all_finite: bool = True
) -> tuple[FloatArray, np.ndarray, FloatArray | None]:
    """The samples of positive weight of one block, which may have none."""
    samples = check_array(X, dtype=_FLOATS, ensure_min_samples=0, ensure_all_finite=ensure_all_finite, input_name="X")
    if hasattr(y, "isna") and np.any(y.isna()):
        raise ValueError("Input y contains NaN. Leave out samples without a label.")
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, got {labels.ndim}.")
    check_consistent_length(samples, labels, sample_weight)
    if labels.size:
        assert_all_finite(labels, input_name="y")
    if sample_weight is None or not labels.size:
        return samples, labels, None
    weight = check_weights(sample_weight, samples, may_all_be_zero=True)
    counts = weight > 0
    return samples[counts], labels[counts], weight[counts]


def _sums_of_block(X: Any, y: Any, sample_weight: Any = None) -> LabelledSums:
    # Sums are not made of numbers that are not finite: no look at the samples is needed for that alone.
    samples, labels, weight = _check_block(X, y, sample_weight, ensure_all_finite=False)
    with comparing_labels():
        found = _distinct(labels)
    check_targets_of_block(found)
    sums = TrainingSet(samples, np.searchsorted(found, labels), found, weight).sums()
    return LabelledSums(found, [known for known in sums if known is not None])


def _distinct(labels: np.ndarray) -> np.ndarray:
    """Sorted distinct labels; counting small integers is faster than sorting them."""
    if labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() < _FEW_LABELS:
        return np.flatnonzero(np.bincount(labels)).astype(labels.dtype)
    return np.unique(labels)


def _merge_sums(parts: list[LabelledSums]) -> LabelledSums:
    filled = [part for part in parts if len(part.labels)] or parts[:1]
    labels = np.unique(np.concatenate([part.labels for part in filled]))
    merged: list[MomentSums | None] = [None] * len(labels)
    for part in filled:
        for code, sums in zip(np.searchsorted(labels, part.labels), part.sums, strict=True):
            merged[code] = merge(merged[code], sums)
    return LabelledSums(labels, [sums for sums in merged if sums is not None])


def _scores_of_block(
    X: Any, y: Any, sample_weight: Any = None, *, model: ScoreModel, labels: np.ndarray
) -> LabelledScores:
    samples, own, weight = _check_block(X, y, sample_weight)
    optimistic = model.optimistic(samples)
    return LabelledScores(optimistic, np.searchsorted(labels, own), weight)


def _hits_of_block(X: Any, y: Any, sample_weight: Any = None, *, model: Parent) -> FloatArray:
    samples, labels, weight = _check_block(X, y, sample_weight)
    if not len(labels):
        return np.zeros(2)
    hits = model.predict(samples) == labels
    return np.array([np.average(hits, weights=weight), 1.0]) * (len(hits) if weight is None else weight.sum())


def _add_columns(parts: list[FloatArray]) -> FloatArray:
    return np.sum(parts, axis=0)

"""Base of classifiers on Dask: sums of blocks, checks without reading, the model of a block, the score."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, ClassVar, NamedTuple, Self

import dask.array as da
import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_array, check_consistent_length, validate_data

from ..estimators.availability import only_if
from ..estimators.results import Results
from ..moments.labelled import (
    ClassData,
    TrainingSet,
    check_targets_of_block,
    check_two_classes,
    check_weights,
    comparing_labels,
    encode_labels,
    merge,
)
from ..moments.sums import MomentSums
from ..numerics.types import FloatArray
from .blocks import is_frame, is_lazy, is_number, lazy, map_labelled, reduce_tree

# Methods that are lazy for Dask's collections, where the classifier in memory has them.
_LAZY = (
    *("predict", "decision_function", "predict_log_proba", "predict_proba", "predict_set", "undominated"),
    *("predict_proba_bounds", "log_score_bounds", "certified_factor", "nominal_proba", "predict_proba_interval"),
    *("likelihood_ratio", "stability", "typicality", "score_samples"),
)

_FLOATS = [np.float64, np.float32]


class LazyClassifier(Results):
    """Mixin, to stand before the classifier in memory, which it names."""

    _parent: ClassVar[Any]
    _public_package = "optiscore.dask"

    def __init_subclass__(cls, **keywords: Any) -> None:
        for name in _LAZY:
            if method := getattr(cls._parent, name, None):
                setattr(cls, name, lazy(method))
        super().__init_subclass__(**keywords)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from labelled samples.

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
        self : classifier
        """
        if is_lazy(X):
            return self._fit_lazily(X, y, sample_weight)
        fitted: Self = self._parent.fit(self, X, y, sample_weight)
        return fitted

    def _fit_lazily(self, X: Any, y: Any, sample_weight: Any) -> Self:
        raise NotImplementedError

    def _known_from_blocks(
        self, X: Any, y: Any, sample_weight: Any, transform: Callable[[FloatArray], FloatArray] | None = None
    ) -> tuple[np.ndarray, list[ClassData], np.ndarray]:
        """Return labels, what is known of each class, and how many samples of each are in which block."""
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        self._check_kind(X, reset=True)
        sums = partial(sums_of_block, transform=transform)
        found = reduce_tree(map_labelled(sums, X, y, sample_weight), merge_sums)
        check_two_classes(found.labels)
        counts = np.array([[block.get(label, 0) for label in found.labels.tolist()] for block in found.blocks])
        return found.labels, [ClassData(*pair) for pair in zip(found.labels, found.sums, strict=True)], counts

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
            return float(self._parent.score(self, X, y, sample_weight))
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

    def _in_memory(self) -> Any:
        """The fitted classifier for one block, whose columns have no names."""
        self._check_fitted()
        model = self._parent(**self.get_params(deep=False))
        hidden = {"_sums", "feature_names_in_"}
        model.__setstate__({name: value for name, value in self.__getstate__().items() if name not in hidden})
        return model


def in_memory_only(partial_fit: Any, check: Callable[[Any], None]) -> Any:
    """Return partial_fit of the classifier in memory, which refuses Dask's collections."""
    method = getattr(partial_fit, "__wrapped__", partial_fit)

    @wraps(method)
    def of_block(self: Any, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        if any(map(is_lazy, (X, y, sample_weight))):
            raise ValueError("partial_fit takes blocks that are in memory; call fit on Dask's collections.")
        return method(self, X, y, classes, sample_weight)

    return only_if(check)(of_block)


class LabelledSums(NamedTuple):
    """Labels, the sums over the samples of each, and how many there are by block."""

    labels: np.ndarray
    sums: list[MomentSums]
    blocks: list[dict[Any, int]]


def check_block(
    X: Any, y: Any, sample_weight: Any = None, *, ensure_all_finite: bool = True
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


def sums_of_block(
    X: Any, y: Any, sample_weight: Any = None, *, transform: Callable[[FloatArray], FloatArray] | None = None
) -> LabelledSums:
    """Sums over the samples of each label in one block, or over what a function makes of them."""
    # Sums are not made of numbers that are not finite: no look at the samples is needed for that alone.
    samples, labels, weight = check_block(X, y, sample_weight, ensure_all_finite=transform is not None)
    if transform is not None and len(samples):
        samples = transform(samples)
    with comparing_labels():
        found, codes = encode_labels(labels)
    check_targets_of_block(found)
    sums = TrainingSet(samples, codes, found, weight).sums()
    counts = dict(zip(found.tolist(), np.bincount(codes, minlength=len(found)).tolist(), strict=True))
    return LabelledSums(found, [known for known in sums if known is not None], [counts])


def merge_sums(parts: list[LabelledSums]) -> LabelledSums:
    """The labels of all blocks, and the sums over all samples of each."""
    filled = [part for part in parts if len(part.labels)] or parts[:1]
    labels = np.unique(np.concatenate([part.labels for part in filled]))
    merged: list[MomentSums | None] = [None] * len(labels)
    for part in filled:
        for code, sums in zip(np.searchsorted(labels, part.labels), part.sums, strict=True):
            merged[code] = merge(merged[code], sums)
    blocks = [block for part in parts for block in part.blocks]
    return LabelledSums(labels, [sums for sums in merged if sums is not None], blocks)


def _hits_of_block(X: Any, y: Any, sample_weight: Any = None, *, model: Any) -> FloatArray:
    samples, labels, weight = check_block(X, y, sample_weight)
    if not len(labels):
        return np.zeros(2)
    hits = model.predict(samples) == labels
    return np.array([np.average(hits, weights=weight), 1.0]) * (len(hits) if weight is None else weight.sum())


def _add_columns(parts: list[FloatArray]) -> FloatArray:
    return np.sum(parts, axis=0)

"""Blocks on a cluster: a function of each, a tree that reduces the results to one, and methods that are lazy."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

# Results that are merged by one task.
_BRANCHES = 16


def is_lazy(collection: Any) -> bool:
    """Whether a collection is one of Dask's."""
    return bool(dask.is_dask_collection(collection))


def is_frame(collection: Any) -> bool:
    """Whether a collection is a Dask data frame or series."""
    return is_lazy(collection) and hasattr(type(collection), "to_dask_array")


def is_number(dtype: Any) -> bool:
    """Whether a column of a frame holds numbers or booleans."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(dtype) or is_bool_dtype(dtype))


def to_array(collection: Any) -> Any:
    """A frame as an array of unknown chunk sizes, one block per partition; arrays as they are."""
    if not is_frame(collection):
        return collection
    array = collection.to_dask_array()
    if array.numblocks[0] == collection.npartitions:
        return array
    # Dask joins partitions that it reads few columns of, and what belongs to them would fit no more.
    shape = (np.nan, *array.shape[1:])
    values = map(delayed(np.asarray), collection.simplify().to_delayed(optimize_graph=False))
    return da.concatenate(
        [da.from_delayed(part, shape=shape, meta=array._meta) for part in values], allow_unknown_chunksizes=True
    )


def map_labelled(function: Callable[..., Any], X: Any, y: Any, sample_weight: Any = None) -> list[Delayed]:
    """``function(X, y, sample_weight)`` of each block: one task per block, and few that make it."""
    given = [collection for collection in (X, y, sample_weight) if collection is not None]
    if all(map(is_frame, given)):
        return _map_partitions(function, given)
    samples = to_samples(X)
    aligned = [_aligned(to_array(vector), samples, name) for vector, name in _named(y, sample_weight)]
    pairs = [argument for vector in aligned for argument in (vector, "i")]
    boxes = da.blockwise(
        _boxed,
        "i",
        samples,
        "ij",
        *pairs,
        function=function,
        dtype=object,
        meta=np.empty(0, dtype=object),
        concatenate=True,
        align_arrays=False,
        adjust_chunks={"i": lambda _: 1},
    )
    return list(boxes.to_delayed().ravel())


def reduce_tree(parts: Sequence[Delayed], merge: Callable[[list[Any]], Any]) -> Any:
    """Merge the results of all blocks in a tree of tasks, and fetch the one that remains."""
    nodes, merge_boxes = list(parts), delayed(_merged, pure=False)
    while True:
        groups = [nodes[start : start + _BRANCHES] for start in range(0, len(nodes), _BRANCHES)]
        nodes = [merge_boxes(merge, group) for group in groups]
        if len(nodes) == 1:
            return nodes[0].compute()[0]


def map_boxes(function: Callable[..., Any], boxes: Sequence[Delayed], arguments: Sequence[Any]) -> list[Delayed]:
    """Return ``function(content, argument)`` of each block's earlier result and an argument of its own."""
    apply = delayed(_applied, pure=False)
    pairs = zip(boxes, arguments, strict=True)
    return [apply(function, box, delayed(argument, traverse=False)) for box, argument in pairs]


def _boxed(X: Any, *rest: Any, function: Callable[..., Any]) -> np.ndarray:
    """A result as the one entry of an array, which is what a block of an array has to be."""
    box = np.empty(1, dtype=object)
    box[0] = function(X, *rest)
    return box


def _applied(function: Callable[..., Any], box: Any, argument: Any) -> list[Any]:
    return [function(box[0], argument)]


def _merged(merge: Callable[[list[Any]], Any], boxes: list[Any]) -> list[Any]:
    return [merge([box[0] for box in boxes])]


def _map_partitions(function: Callable[..., Any], frames: list[Any]) -> list[Delayed]:
    import dask.dataframe as dd
    import pandas as pd

    if len({frame.npartitions for frame in frames}) > 1:
        raise ValueError(f"X, y and sample_weight must have the same partitions, got {_counts(frames)}.")

    def boxed(*parts: Any) -> pd.Series:
        # Its one entry, like that of an array, is found at 0.
        return pd.Series(_boxed(*parts, function=function))

    mapped = dd.map_partitions(boxed, *frames, meta=pd.Series(dtype=object), align_dataframes=False)
    return list(mapped.to_delayed())


def _counts(frames: list[Any]) -> list[int]:
    return [frame.npartitions for frame in frames]


def _named(y: Any, sample_weight: Any) -> list[tuple[Any, str]]:
    return [(y, "y")] if sample_weight is None else [(y, "y"), (sample_weight, "sample_weight")]


def to_samples(X: Any) -> Any:
    """An array whose blocks hold whole samples."""
    if is_frame(X):
        from pandas.api.types import is_extension_array_dtype

        # Columns that can hold pandas' NA would become objects.
        X = X.astype({name: np.float64 for name, kind in X.dtypes.items() if is_extension_array_dtype(kind)})
    array = to_array(X)
    return array.rechunk({1: -1}) if array.numblocks[1] > 1 else array


def _aligned(vector: Any, X: Any, name: str) -> Any:
    """A vector in blocks that go with those of X."""
    if not isinstance(vector, da.Array):
        vector = da.from_array(np.asarray(vector), chunks=-1)
    if vector.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got {vector.ndim}.")
    lengths, own = X.chunks[0], vector.chunks[0]
    unknown = np.isnan(lengths).any() or np.isnan(own).any()
    if unknown and len(lengths) != len(own):
        raise ValueError(
            f"{name} has {len(own)} blocks and X has {len(lengths)}; of unknown sizes, they cannot be aligned. "
            f"Give both in the same blocks, or as arrays of known sizes."
        )
    if unknown or own == lengths:
        return vector
    if sum(own) != sum(lengths):
        raise ValueError(f"X and {name} have inconsistent numbers of samples: {sum(lengths)} and {sum(own)}.")
    return vector.rechunk((lengths,))


def lazy(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a fitted classifier, lazy for Dask's collections and as it was for everything else."""

    @wraps(method)
    def of_samples(self: Any, X: Any, *arguments: Any, **keywords: Any) -> Any:
        if not is_lazy(X):
            return method(self, X, *arguments, **keywords)
        model = self._in_memory()
        self._check_kind(X, reset=False)
        samples = to_samples(X)

        def of_block(block: np.ndarray) -> Any:
            return method(model, block, *arguments, **keywords)

        # What one sample gets tells the types and the widths of all.
        example = of_block(np.zeros((1, samples.shape[1]), dtype=_float_type(samples.dtype)))
        name = method.__name__
        if not isinstance(example, tuple):
            return _map(of_block, samples, example, name)
        if example[0].ndim == 1:
            first = _map(lambda block: of_block(block)[0], samples, example[0], name)
            return first, _map(lambda block: of_block(block)[1], samples, example[1], name)
        wide = np.concatenate(example, axis=1)
        both = _map(lambda block: np.concatenate(of_block(block), axis=1), samples, wide, name)
        n_classes = len(model.classes_)
        return both[:, :n_classes], both[:, n_classes:]

    return of_samples


def _map(function: Callable[[np.ndarray], np.ndarray], X: Any, example: np.ndarray, name: str) -> Any:
    def of_block(block: np.ndarray) -> np.ndarray:
        return function(block) if len(block) else example[:0]

    shape: dict[str, Any] = {"drop_axis": 1} if example.ndim == 1 else {"chunks": (X.chunks[0], example.shape[1:])}
    unique = f"{name}-{uuid4().hex}"
    return da.map_blocks(of_block, X, dtype=example.dtype, meta=example[:0], name=unique, **shape)


def _float_type(dtype: Any) -> Any:
    return dtype if dtype in (np.float32, np.float64) else np.float64

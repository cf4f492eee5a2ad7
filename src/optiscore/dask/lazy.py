"""Methods that say something of samples, made lazy: block by block for Dask's collections."""

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np

from .blocks import is_lazy, to_samples


class Width(Enum):
    """How many numbers a method gives per sample."""

    ONE = "one"
    CLASSES = "one per class"
    MARGINS = "one for two classes, else one per class"
    PAIR = "two arrays of one per class"
    TWO = "two arrays of one"


def lazy(method: Callable[..., Any], width: Width) -> Callable[..., Any]:
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
        if width is Width.TWO:
            first = _map(lambda block: of_block(block)[0], samples, example[0], name)
            return first, _map(lambda block: of_block(block)[1], samples, example[1], name)
        if width is not Width.PAIR:
            return _map(of_block, samples, example, name)
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

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


def lazy(method: Callable[..., Any], width: Width) -> Callable[..., Any]:
    """The method of a fitted classifier, lazy for Dask's collections and as it was for everything else."""

    @wraps(method)
    def of_samples(self: Any, X: Any) -> Any:
        if not is_lazy(X):
            return method(self, X)
        model = self._in_memory()
        self._check_kind(X, reset=False)
        samples = to_samples(X)
        # What one sample gets tells the types and the widths of all.
        example = method(model, np.zeros((1, samples.shape[1]), dtype=_float_type(samples.dtype)))
        if width is not Width.PAIR:
            return _map(method, model, samples, example)
        both = _map(_side_by_side(method), model, samples, np.concatenate(example, axis=1), name=method.__name__)
        n_classes = len(model.classes_)
        return both[:, :n_classes], both[:, n_classes:]

    return of_samples


def _map(method: Callable[..., Any], model: Any, X: Any, example: np.ndarray, name: str | None = None) -> Any:
    def of_block(block: np.ndarray) -> np.ndarray:
        return method(model, block) if len(block) else example[:0]

    shape: dict[str, Any] = {"drop_axis": 1} if example.ndim == 1 else {"chunks": (X.chunks[0], example.shape[1:])}
    unique = f"{name or method.__name__}-{uuid4().hex}"
    return da.map_blocks(of_block, X, dtype=example.dtype, meta=example[:0], name=unique, **shape)


def _side_by_side(method: Callable[..., Any]) -> Callable[..., np.ndarray]:
    return lambda model, block: np.concatenate(method(model, block), axis=1)


def _float_type(dtype: Any) -> Any:
    return dtype if dtype in (np.float32, np.float64) else np.float64

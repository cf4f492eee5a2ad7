"""Kernels by name: linear, products over the features, and functions of the distance in units of its median.

A kernel compares rows with *anchors*: training rows, landmarks among them or, where that says the same, unit vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from ..numerics.types import FloatArray

# The median distance is that of so many rows at most, spread evenly over all.
_MEDIAN_ROWS = 500
_ROUNDING = 1e-12

# Numbers that stay in the cache of a core, and enough that threads seldom meet at the interpreter's lock.
_CACHED = 131_072


class Kernel(ABC):
    """A positive definite function of two rows."""

    def prepare(self, rows: FloatArray) -> tuple[FloatArray, float]:
        """Return anchors, which rows are compared with, and the unit of distance that the kernel takes from them."""
        return rows, 1.0

    @abstractmethod
    def __call__(self, rows: FloatArray, anchors: FloatArray, bandwidth: float) -> FloatArray:
        """Values for all pairs, of shape (n_rows, n_anchors)."""


class Linear(Kernel):
    """x'y: ridge regression on the features themselves."""

    def prepare(self, rows: FloatArray) -> tuple[FloatArray, float]:
        """Unit vectors span what the rows do, and there are fewer of them."""
        n, d = rows.shape
        return np.eye(d) if d < n else rows, 1.0

    def __call__(self, rows: FloatArray, anchors: FloatArray, bandwidth: float) -> FloatArray:
        """Values for all pairs."""
        return rows @ anchors.T


class Product(Kernel):
    """prod_j (1 + c k(x_j - y_j))/(1 + c) with c = d^(-1/2): functions of single features, of pairs, and so on.

    ``exponent(u, out)`` writes log k(u) of differences u to out.
    """

    def __init__(self, exponent: Callable[[FloatArray, FloatArray], Any]) -> None:
        self._exponent = exponent

    def __call__(self, rows: FloatArray, anchors: FloatArray, bandwidth: float) -> FloatArray:
        """Values for all pairs."""
        values = np.empty((len(rows), len(anchors)), dtype=rows.dtype)
        columns = np.ascontiguousarray(anchors.T)
        c, step = len(columns) ** -0.5, max(1, _CACHED // len(anchors))
        # Rows that are few enough to stay in the cache, and for each feature a factor.
        for start in range(0, len(rows), step):
            part = values[start : start + step]
            part[...] = 1
            factor = np.empty_like(part)
            for x, y in zip(rows[start : start + step].T, columns, strict=True):
                np.subtract(x[:, None], y, out=factor)
                self._exponent(factor, factor)
                np.exp(factor, out=factor)
                factor *= c / (1 + c)
                factor += 1 / (1 + c)
                part *= factor
        return values


def _laplacian(u: FloatArray, out: FloatArray) -> None:
    np.copysign(u, u.dtype.type(-1), out=out)


def _gaussian(u: FloatArray, out: FloatArray) -> None:
    np.multiply(u, u, out=out)
    out *= -0.5


class Radial(Kernel):
    """exp(-factor D^power), with D the Euclidean distance in units of its median; power 2 is Gaussian, 1 Laplacian."""

    def __init__(self, factor: float, power: int) -> None:
        self._factor, self._power = factor, power

    def prepare(self, rows: FloatArray) -> tuple[FloatArray, float]:
        """The unit is the median distance between two rows."""
        some = rows[:: -(-len(rows) // _MEDIAN_ROWS)]
        squared = _squared_distances(some, some)[np.triu_indices(len(some), 1)]
        if not squared.any():
            return rows, 1.0
        # Copies of a row are apart by rounding only.
        apart = squared > _ROUNDING * squared.max()
        return rows, float(np.sqrt(np.median(squared) if 2 * apart.sum() > len(squared) else squared[apart].mean()))

    def __call__(self, rows: FloatArray, anchors: FloatArray, bandwidth: float) -> FloatArray:
        """Values for all pairs."""
        values = _squared_distances(rows, anchors)
        if self._power == 1:
            np.sqrt(values, out=values)
        values *= -self._factor / bandwidth**self._power
        return np.exp(values, out=values)


def _squared_distances(rows: FloatArray, anchors: FloatArray) -> FloatArray:
    values = rows @ (-2 * anchors.T)
    values += np.einsum("ij,ij->i", rows, rows)[:, None]
    values += np.einsum("ij,ij->i", anchors, anchors)
    return np.maximum(values, 0, out=values)


#: Kernels by name.
KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "linear": Linear(),
        "product-laplacian": Product(_laplacian),
        "product-gaussian": Product(_gaussian),
        "rbf-0.0625": Radial(0.0625, 2),
        "rbf-0.25": Radial(0.25, 2),
        "rbf-1": Radial(1, 2),
        "rbf-4": Radial(4, 2),
        "laplacian-0.25": Radial(0.25, 1),
        "laplacian-1": Radial(1, 1),
    }
)

#: Lists of kernels by name.
KERNEL_LISTS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "short": ("linear", "product-laplacian", "product-gaussian"),
        "default": ("linear", "product-laplacian", "product-gaussian", "rbf-0.25", "rbf-1"),
        "long": tuple(KERNELS),
    }
)

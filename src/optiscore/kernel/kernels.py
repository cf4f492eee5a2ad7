"""Kernels by name: linear, products over the features, and functions of the distance in units of its median.

A kernel compares rows with *anchors*: training rows, landmarks among them or, where that says the same, unit vectors.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import squareform

from ..numerics.types import FloatArray

# The median distance is that of so many rows at most, spread evenly over all.
_MEDIAN_ROWS = 500
_ROUNDING = 1e-12

# Numbers that stay in the cache of a core, and enough that threads seldom meet at the interpreter's lock.
_CACHED = 131_072

# Of a column with so many values among the anchors at most, a table of logarithms is one factor of a matrix product.
_FEW_VALUES = {np.float64: 12, np.float32: 24}

# Exponentials of coordinates this far from the middle of the anchors neither overflow nor matter.
_FARTHEST = {np.float64: 600.0, np.float32: 80.0}

#: What compares rows with the anchors that it was made for: values of shape (n_rows, n_anchors).
Comparison: TypeAlias = Callable[[FloatArray], FloatArray]

#: Given rows, an array of shape (n_rows, n_columns, n_anchors) and one more to work with, fills the first one.
Filler: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


class Kernel(ABC):
    """A positive definite function of two rows."""

    def prepare(self, rows: FloatArray) -> tuple[FloatArray, float]:
        """Return anchors, which rows are compared with, and the unit of distance that the kernel takes from them."""
        return rows, 1.0

    @abstractmethod
    def against(self, anchors: FloatArray, bandwidth: float, *, single: bool = False) -> Comparison:
        """Return what compares rows with these anchors, in doubles; with ``single``, factors that are many are rounded.

        What is rounded is so whatever other rows there are: a row's values do not depend on its company.
        """

    def ratio(self, old: FloatArray, new: FloatArray, n_features: int, bandwidth: float) -> FloatArray:
        """Return by what values change where a feature's difference from the anchors was old, and is new."""
        raise NotImplementedError

    def __call__(self, rows: FloatArray, anchors: FloatArray, bandwidth: float) -> FloatArray:
        """Values for all pairs, of shape (n_rows, n_anchors)."""
        return self.against(anchors, bandwidth)(rows)


class Linear(Kernel):
    """x'y: ridge regression on the features themselves."""

    def prepare(self, rows: FloatArray) -> tuple[FloatArray, float]:
        """Unit vectors span what the rows do, and there are fewer of them."""
        n, d = rows.shape
        return np.eye(d) if d < n else rows, 1.0

    def against(self, anchors: FloatArray, bandwidth: float, *, single: bool = False) -> Comparison:
        """Return what compares rows with these anchors."""
        return lambda rows: rows @ anchors.T


class Product(Kernel):
    """prod_j (1 + c k(x_j - y_j))/(1 + c) with c = d^(-1/2): functions of single features, of pairs, and so on."""

    def __init__(self, one_feature: "OneFeature") -> None:
        self._one_feature = one_feature

    def against(self, anchors: FloatArray, bandwidth: float, *, single: bool = False) -> Comparison:
        """Return what compares rows with these anchors."""
        return _ProductComparison(self._one_feature, anchors, np.float32 if single else np.float64)

    def ratio(self, old: FloatArray, new: FloatArray, n_features: int, bandwidth: float) -> FloatArray:
        """Return (1 + c k(new))/(1 + c k(old))."""
        c = new.dtype.type(n_features**-0.5)
        changed, before = (np.exp(self._one_feature.exponent(u)) for u in (new, old))
        changed *= c
        changed += 1
        before *= c
        before += 1
        return np.divide(changed, before, out=changed)


class _ProductComparison:
    """A product kernel against anchors: columns of few values as one matrix product, factors of the others one by one.

    For a column of values v_0, v_1, ... in the anchors, log f(x - y) is log f(x - v_0) plus the sum over k of
    [y = v_k] (log f(x - v_k) - log f(x - v_0)), exactly and for every x. In single precision the terms are rounded to
    multiples of a power of 2 whose sums have no more digits than the precision: whatever their order, they are exact.
    """

    def __init__(self, one_feature: "OneFeature", anchors: FloatArray, dtype: Any) -> None:
        d = anchors.shape[1]
        c = d**-0.5
        self._dtype, self._n_anchors, self._log_factor = dtype, len(anchors), partial(_log_factor, one_feature, c)
        distinct = [np.unique(column) for column in anchors.T]
        is_few = np.array([len(values) <= _FEW_VALUES[dtype] for values in distinct])
        self._few, self._many = np.flatnonzero(is_few), np.flatnonzero(~is_few)
        self._first = np.array([distinct[j][0] for j in self._few])
        later = [(i, value) for i, j in enumerate(self._few) for value in distinct[j][1:]]
        self._places = np.array([i for i, _ in later], dtype=int)
        self._later = np.array([value for _, value in later])
        self._is_later = (anchors.T[self._few[self._places]] == self._later[:, None]).astype(dtype)
        # No sum of terms, and no part of one, is larger than the number of columns times log(1 + c).
        bits = int(np.ceil(np.log2(len(self._few) * np.log1p(c)))) if self._few.size else 0
        self._grain = 2.0 ** (bits - np.finfo(dtype).nmant - 1) if dtype is np.float32 else 0.0
        if self._many.size:
            self._fill = one_feature.factors(anchors[:, self._many], c, dtype)

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Values for all pairs."""
        values = self._of_few(rows[:, self._few]) if self._few.size else None
        if self._many.size:
            factors = self._of_many(rows[:, self._many])
            values = factors if values is None else np.multiply(values, factors, out=values)
        assert values is not None
        return values.astype(np.float64, copy=False)

    def _of_few(self, columns: FloatArray) -> FloatArray:
        first = self._log_factor(columns - self._first)
        later = self._log_factor(columns[:, self._places] - self._later) - first[:, self._places]
        total = first.sum(axis=1)
        if self._grain:
            later, total = (self._grain * np.round(terms / self._grain) for terms in (later, total))
        values = later.astype(self._dtype) @ self._is_later
        values += total.astype(self._dtype)[:, None]
        return np.exp(values, out=values)

    def _of_many(self, columns: FloatArray) -> FloatArray:
        values = np.empty((len(columns), self._n_anchors), dtype=self._dtype)
        step = min(max(1, _CACHED // (self._n_anchors * columns.shape[1])), len(columns))
        # Two of them, used again: memory that is new each time would take half of the time.
        buffers = np.empty((2, step, columns.shape[1], self._n_anchors), dtype=self._dtype)
        for start in range(0, len(columns), step):
            part = slice(start, min(start + step, len(columns)))
            factors = self._fill(columns[part], *buffers[:, : part.stop - start])
            np.multiply.reduce(factors, axis=1, out=values[part])
        return values


def _log_factor(one_feature: "OneFeature", c: float, u: FloatArray) -> FloatArray:
    """log((1 + c k(u))/(1 + c))."""
    return np.log1p(c * np.exp(one_feature.exponent(u))) - np.log1p(c)


class OneFeature(ABC):
    """A kernel k of one feature."""

    @abstractmethod
    def exponent(self, u: FloatArray) -> FloatArray:
        """Return log k(u)."""

    @abstractmethod
    def factors(self, columns: FloatArray, c: float, dtype: Any) -> Filler:
        """Return what fills an array with (1 + c k(x - y))/(1 + c) for rows x and anchors y."""


class Gaussian(OneFeature):
    """exp(-u^2/2)."""

    def exponent(self, u: FloatArray) -> FloatArray:
        """Return -u^2/2."""
        return -0.5 * np.square(u)

    def factors(self, columns: FloatArray, c: float, dtype: Any) -> Filler:
        """Return what makes factors of rows."""
        anchors = np.ascontiguousarray(columns.T * np.sqrt(0.5), dtype=dtype)
        part, rest = dtype(c / (1 + c)), dtype(1 / (1 + c))

        def factors(rows: FloatArray, u: FloatArray, other: FloatArray) -> FloatArray:
            np.subtract((rows * np.sqrt(0.5)).astype(dtype)[:, :, None], anchors, out=u)
            np.multiply(u, u, out=u)
            np.negative(u, out=u)
            np.exp(u, out=u)
            u *= part
            u += rest
            return u

        return factors


class Laplacian(OneFeature):
    """exp(-|u|)."""

    def exponent(self, u: FloatArray) -> FloatArray:
        """Return -|u|."""
        return -np.abs(u)

    def factors(self, columns: FloatArray, c: float, dtype: Any) -> Filler:
        """Return what makes factors of rows: exp(-|x - y|) is the smaller of e^x e^(-y) and e^(-x) e^y."""
        lowest, highest = columns.min(axis=0), columns.max(axis=0)
        middle, farthest = 0.5 * (lowest + highest), _FARTHEST[dtype]
        if (highest - lowest).max() > farthest:
            return self._plain_factors(columns, c, dtype)
        part, rest = c / (1 + c), dtype(1 / (1 + c))
        growing = np.ascontiguousarray(part * np.exp((columns - middle).T), dtype=dtype)
        falling = np.ascontiguousarray(part * np.exp((middle - columns).T), dtype=dtype)

        def factors(rows: FloatArray, u: FloatArray, other: FloatArray) -> FloatArray:
            # What is farther out has the kernel value 0 but for rounding.
            x = np.exp((rows - middle).clip(-farthest, farthest))
            np.multiply(x.astype(dtype)[:, :, None], falling, out=u)
            np.multiply((1 / x).astype(dtype)[:, :, None], growing, out=other)
            np.minimum(u, other, out=u)
            u += rest
            return u

        return factors

    def _plain_factors(self, columns: FloatArray, c: float, dtype: Any) -> Filler:
        anchors = columns.T

        def factors(rows: FloatArray, u: FloatArray, other: FloatArray) -> FloatArray:
            k = np.exp(self.exponent(rows[:, :, None] - anchors))
            return ((1 + c * k) / (1 + c)).astype(dtype, copy=False)

        return factors


class Radial(Kernel):
    """exp(-factor D^power), with D the Euclidean distance in units of its median; power 2 is Gaussian, 1 Laplacian."""

    def __init__(self, factor: float, power: int) -> None:
        self._factor, self._power = factor, power

    def prepare(self, rows: FloatArray) -> tuple[FloatArray, float]:
        """The unit is the median distance between two rows."""
        some = rows[:: -(-len(rows) // _MEDIAN_ROWS)]
        return rows, _typical_distance(squareform(_squared_distances(some, some), checks=False))

    def against(self, anchors: FloatArray, bandwidth: float, *, single: bool = False) -> Comparison:
        """Return what compares rows with these anchors."""
        scale = -self._factor / bandwidth**self._power
        if self._power == 1:
            return lambda rows: np.exp(scale * np.sqrt(_squared_distances(rows, anchors)))
        turned, lengths = -2 * scale * anchors.T, scale * np.einsum("ij,ij->i", anchors, anchors)

        def values(rows: FloatArray) -> FloatArray:
            exponents = rows @ turned
            exponents += scale * np.einsum("ij,ij->i", rows, rows)[:, None]
            exponents += lengths
            np.minimum(exponents, 0, out=exponents)
            return np.exp(exponents, out=exponents)

        return values

    def ratio(self, old: FloatArray, new: FloatArray, n_features: int, bandwidth: float) -> FloatArray:
        """Return exp(-factor (new^2 - old^2)), of the Gaussian kernel."""
        assert self._power == 2
        exponents = np.square(old) - np.square(new)
        exponents *= exponents.dtype.type(self._factor / bandwidth**2)
        return np.exp(exponents, out=exponents)


def _typical_distance(squared: FloatArray) -> float:
    """Return the median of distances; where most are rounding, the root of the mean of the others' squares."""
    if not squared.any():
        return 1.0
    # Copies of a row are apart by rounding only.
    apart = squared > _ROUNDING * squared.max()
    return float(np.sqrt(np.median(squared) if 2 * apart.sum() > len(squared) else squared[apart].mean()))


def _squared_distances(rows: FloatArray, anchors: FloatArray) -> FloatArray:
    values = rows @ (-2 * anchors.T)
    values += np.einsum("ij,ij->i", rows, rows)[:, None]
    values += np.einsum("ij,ij->i", anchors, anchors)
    return np.maximum(values, 0, out=values)


#: Kernels by name.
KERNELS: Mapping[str, Kernel] = MappingProxyType(
    {
        "linear": Linear(),
        "product-laplacian": Product(Laplacian()),
        "product-gaussian": Product(Gaussian()),
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

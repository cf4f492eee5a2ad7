"""Squared Mahalanobis distances of rows to classes: one product whitens all classes that lie near each other."""

from typing import Any

import numpy as np

from .arrays import Array, take_rows, to_host
from .backend import squared_lengths
from .types import FloatArray

# Classes are whitened around one origin if none is farther from it than this, in units of its spread: so much precision
# is lost at most, and much time gained.
_NEAR = {np.float64: 1e3, np.float32: 30.0}

# Rows of larger squared distance from every class are summed in one order, whatever their company: rounding in
# proportion to the distance would show in their probabilities.
_FAR = {np.float64: 1e4, np.float32: 1e6}

# Rows farther than this from every class are taken at this distance in the same direction: beyond, the differences
# between the classes are lost in rounding.
_REACH = {np.float64: 1e14, np.float32: 1e5}
_SHARED_REACH = {np.float64: 1e6, np.float32: 3e2}

# Bytes of whitened rows of all classes that are made at a time: they stay in the second-level cache.
_WHITENING_BYTES = 512 * 1024

# Rows of triangular factors that are multiplied at a time: what lies right of the diagonal block is skipped. So many
# rows of all classes together leave memory for some hundred samples.
_PANEL, _TALLEST = 64, 256

# Far rows that are worked on together.
_FAR_ROWS = 1024


class ClassDistances:
    """alpha_c(x) = |W_c (x - m_c)|^2 for all classes c, with means m_c and inverse lower Cholesky factors W_c."""

    def __init__(self, means: FloatArray, whiteners: FloatArray) -> None:
        # The layout of an array decides about the rounding of products, and copies keep no other.
        self.means, self.whiteners = np.ascontiguousarray(means), np.ascontiguousarray(whiteners)
        self._groups: dict[Any, list[_Group]] = {np.float64: self._group(np.float64)}

    def __call__(self, X: Array) -> FloatArray:
        """Return distances (n_classes, n_samples) on the host, in the type of X and finite."""
        if not isinstance(X, np.ndarray):
            alpha = squared_lengths(X, self.means, self.whiteners)
        else:
            alpha = np.empty((len(self.means), len(X)), dtype=X.dtype)
            if X.dtype.type not in self._groups:
                self._groups[X.dtype.type] = self._group(X.dtype.type)
            with np.errstate(over="ignore", invalid="ignore"):
                for group in self._groups[X.dtype.type]:
                    group.fill(alpha, X)
        return limited(alpha, X, self.means, self.whiteners, _REACH)

    def _group(self, dtype: Any) -> "list[_Group]":
        """Return classes that lie near each other in units of their own spread, around the mean of their means."""
        groups, left = [], np.arange(len(self.means))
        most = max(1, _TALLEST // min(self.means.shape[1], _PANEL))
        while left.size:
            for origin in (self.means[left].mean(axis=0), self.means[left[0]]):
                shifts = self.whiteners[left] @ (self.means[left] - origin)[:, :, None]
                near = (np.abs(shifts) <= _NEAR[dtype]).all(axis=(1, 2))
                if near.any():
                    break
            # Around its own mean a class is near, whatever becomes of the others.
            near[0] |= not near.any()
            for first in range(0, np.count_nonzero(near), most):
                classes = left[near][first : first + most]
                groups.append(_Group(classes, origin, self.means[classes], self.whiteners[classes], dtype))
            left = left[~near]
        return groups


class SharedDistances:
    """The same where all classes share one whitener W: rows are whitened once."""

    def __init__(self, means: FloatArray, whitener: FloatArray) -> None:
        self.means, self._whitener = np.ascontiguousarray(means), np.ascontiguousarray(whitener)
        self.centers: FloatArray = (means - means[0]) @ whitener.T

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return distances (n_classes, n_samples) in the type of X."""
        with np.errstate(over="ignore", invalid="ignore"):
            eta = self._whitener.astype(X.dtype, copy=False) @ (X - self.means[0].astype(X.dtype)).T
            alpha = np.empty((len(self.means), len(X)), dtype=X.dtype)
            for center, row in zip(self.centers.astype(X.dtype), alpha, strict=True):
                apart = eta - center[:, None]
                np.einsum("ij,ij->j", apart, apart, out=row)
        return limited(alpha, X, self.means, self._whitener[None], _SHARED_REACH)


class _Group:
    """Some classes around one origin: with z = (1, x - origin), W_c (x - m_c) is (W_c (origin - m_c), W_c) z.

    Of large triangles some rows are multiplied at a time, up to their last column.
    """

    def __init__(
        self, classes: np.ndarray, origin: FloatArray, means: FloatArray, whiteners: FloatArray, dtype: Any
    ) -> None:
        self._n = len(classes)
        # A slice, where it does, is filled without a copy.
        in_order = slice(int(classes[0]), int(classes[-1]) + 1)
        self._place: slice | np.ndarray = in_order if in_order.stop - in_order.start == self._n else classes
        self._origin = origin.astype(dtype)[:, None]
        # In single precision the origin is rounded; what it lacks goes into the shift.
        shifts = whiteners @ (self._origin.astype(np.float64)[:, 0] - means)[:, :, None]
        rows = np.concatenate([shifts, whiteners], axis=2)
        d = len(origin)
        self._panels = [
            rows[:, first : first + _PANEL, : first + _PANEL + 1].reshape(-1, min(first + _PANEL, d) + 1).astype(dtype)
            for first in range(0, d, _PANEL)
        ]

    def fill(self, alpha: FloatArray, X: FloatArray) -> None:
        """Fill the rows of these classes."""
        n, d = X.shape
        step = min(max(1, _WHITENING_BYTES // (X.itemsize * len(self._panels[0]))), max(n, 1))
        deviations, whitened = np.empty((d + 1, step), X.dtype), np.empty((len(self._panels[0]), step), X.dtype)
        deviations[0] = 1
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            size = rows.stop - start
            z = deviations[:, :size]
            np.subtract(X[rows].T, self._origin, out=z[1:])
            lengths = np.zeros((self._n, size), dtype=X.dtype)
            for panel in self._panels:
                eta = np.matmul(panel, z[: panel.shape[1]], out=whitened[: len(panel), :size])
                np.multiply(eta, eta, out=eta)
                lengths += np.add.reduce(eta.reshape(self._n, -1, size), axis=1)
            alpha[self._place, rows] = lengths


def limited(
    alpha: FloatArray, X: Array, means: FloatArray, whiteners: FloatArray, reach: dict[Any, float]
) -> FloatArray:
    """Return squared distances (n_classes, n) of rows X, finite, and those of far rows whatever their company is.

    Whiteners are of shape (n_classes, d, d), or (1, d, d) where they are shared.
    """
    dtype = alpha.dtype.type
    ceiling = float(np.finfo(dtype).max ** 0.9)
    far = np.flatnonzero(~(alpha.min(axis=0) <= _FAR[dtype]))
    for start in range(0, len(far), _FAR_ROWS):
        rows = far[start : start + _FAR_ROWS]
        found = _far_away(to_host(take_rows(X, rows)).astype(np.float64), means, whiteners, reach[dtype])
        alpha[:, rows] = np.minimum(found, ceiling)
    if far.size < alpha.shape[1] and not alpha.max(initial=0) <= ceiling:
        alpha[~(alpha <= ceiling)] = ceiling
    return alpha


def _far_away(X: FloatArray, means: FloatArray, whiteners: FloatArray, reach: float) -> FloatArray:
    """Return distances of rows that are taken at most ``reach`` away from the nearest class, in the same direction."""
    origin = means.mean(axis=0)
    # X - origin may exceed the range of numbers.
    half = 0.5 * X - 0.5 * origin
    size = np.abs(half).max(axis=1)
    unit = half / size[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(_in_order(whiteners, unit[None])).min(axis=0)
        steps = np.minimum(2 * size, reach / lengths)
        alpha = _in_order(whiteners, steps[:, None] * unit + (origin - means)[:, None, :])
    return np.nan_to_num(alpha, copy=False, nan=np.inf, posinf=np.inf)


def _in_order(whiteners: FloatArray, deviations: FloatArray) -> FloatArray:
    """Return |W_c v|^2 for deviations (n_classes or 1, n, d); sums run in one order for every number of rows."""
    n_classes, n, d = max(len(whiteners), len(deviations)), *deviations.shape[1:]
    total = np.zeros((n_classes, n))
    for i in range(d):
        eta = np.zeros((n_classes, n))
        for j in range(i + 1):
            eta += whiteners[:, i, j, None] * deviations[:, :, j]
        total += eta * eta
    return total

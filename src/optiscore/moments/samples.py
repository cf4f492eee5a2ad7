"""Moments of samples in memory with many features: the covariance is one product, the rest is read off the samples."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..numerics.blocks import map_threads
from ..numerics.types import FloatArray
from .central import CentralMoments, constant_features

#: From this many features on it is faster to read the samples twice than to sum products of squares.
MANY_FEATURES = 40

# Bytes of samples that are worked on together, and how many there are at least: products of fewer are slow.
_BLOCK_BYTES, _FEWEST_ROWS = 1024 * 1024, 256

# Samples that tell where a class is.
_PILOT = 256

# Ranges within which fourth powers, and their sums, neither under- nor overflow.
_SMALLEST, _LARGEST = 2.0**-200, 2.0**200


class ClassRows(NamedTuple):
    """The samples of one class among all of them, their weights, and a point near them that deviations refer to."""

    X: FloatArray
    rows: np.ndarray
    weight: FloatArray | None
    origin: FloatArray

    @classmethod
    def of(cls, X: FloatArray, rows: np.ndarray, weight: FloatArray | None) -> Self:
        """Rows of all samples, with the weights of all samples; some of them tell where the class is."""
        pilot = X.take(rows[:: -(-len(rows) // _PILOT)], axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            return cls(X, rows, weight, pilot.mean(axis=0, dtype=np.float64))

    def split(self, parts: int) -> list[Self]:
        """The same in parts."""
        return [self._replace(rows=rows) for rows in np.array_split(self.rows, min(parts, len(self.rows)))]

    def deviations(self) -> Iterator[tuple[FloatArray, FloatArray | None]]:
        """Blocks of deviations from the origin, with weights; each overwrites the one before."""
        d = self.X.shape[1]
        step = min(max(_FEWEST_ROWS, _BLOCK_BYTES // (8 * d)), len(self.rows))
        taken, deviations = np.empty((step, d), self.X.dtype), np.empty((step, d))
        for start in range(0, len(self.rows), step):
            rows = self.rows[start : start + step]
            self.X.take(rows, axis=0, out=taken[: len(rows)], mode="clip")
            u = np.subtract(taken[: len(rows)], self.origin, out=deviations[: len(rows)])
            yield u, None if self.weight is None else self.weight[rows]


class _Sums(NamedTuple):
    """Weight, first and second powers of deviations, and their range."""

    weight: float
    first: FloatArray
    second: FloatArray
    lowest: FloatArray
    highest: FloatArray

    @classmethod
    def of(cls, samples: ClassRows) -> Self:
        d = samples.X.shape[1]
        weight, first, second = 0.0, np.zeros(d), np.zeros((d, d))
        lowest, highest = np.full(d, np.inf), np.full(d, -np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            for u, w in samples.deviations():
                np.minimum(lowest, u.min(axis=0), out=lowest)
                np.maximum(highest, u.max(axis=0), out=highest)
                weight += len(u) if w is None else float(w.sum())
                first += np.ones(len(u)) @ u if w is None else w @ u
                if w is not None:
                    u *= np.sqrt(w)[:, None]
                second += u.T @ u
        return cls(weight, first, second, lowest, highest)

    # Sums are added, where tuples would be joined.
    def __add__(self, other: Self) -> Self:  # type: ignore[override]
        return type(self)(
            self.weight + other.weight,
            self.first + other.first,
            self.second + other.second,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
        )


class SampleMoments(CentralMoments):
    """Moments of one class, or of the deviations of several classes from their means, read off samples where asked for.

    ``parts`` are samples with their means as origins, and factors on their weights; others are as in `CentralMoments`.
    """

    def __init__(
        self,
        parts: "Sequence[tuple[ClassRows, float]]",
        weight_sum: float,
        mean: FloatArray,
        second: FloatArray,
        lowest: FloatArray,
        highest: FloatArray,
        threads: int,
    ) -> None:
        self._parts, self._second, self._threads = tuple(parts), second, threads
        self.weight_sum, self.n_features, self.mean = weight_sum, len(mean), mean
        self.unit, self.lowest, self.highest = np.ones_like(mean), lowest, highest
        resolution = max(float(np.finfo(samples.X.dtype).eps) for samples, _ in parts)
        self.is_constant = constant_features(mean, lowest, highest, resolution)

    def second(self) -> FloatArray:
        """E[v_j v_k]."""
        return self._second

    def fourth(self) -> FloatArray:
        """E[v_j^4]."""

        def fourth_powers(u: FloatArray, weight: FloatArray | None) -> FloatArray:
            np.square(u, out=u)
            np.square(u, out=u)
            return (np.ones(len(u)) if weight is None else weight) @ u

        return self._average(fourth_powers)

    def fourth_length(self, weights: FloatArray) -> float:
        """E[(sum_j w_j v_j^2)^2], for weights w_j >= 0."""
        scale = np.sqrt(weights)

        def squared_lengths(u: FloatArray, weight: FloatArray | None) -> FloatArray:
            u *= scale
            lengths = np.einsum("ij,ij->i", u, u)
            return np.array(lengths @ lengths if weight is None else lengths**2 @ weight)

        return float(self._average(squared_lengths))

    def centred(self, weight_sum: float | None = None) -> Self:
        """Moments of the deviations from the mean, with the weights scaled to another total if one is given."""
        factor = 1.0 if weight_sum is None else weight_sum / self.weight_sum
        return type(self)(
            [(samples, factor * scale) for samples, scale in self._parts],
            factor * self.weight_sum,
            np.zeros_like(self.mean),
            self._second,
            self.lowest - self.mean,
            self.highest - self.mean,
            self._threads,
        )

    def __add__(self, other: Self) -> Self:
        """Moments of the deviations of both."""
        total = self.weight_sum + other.weight_sum
        return type(self)(
            (*self._parts, *other._parts),
            total,
            self.mean,
            (self.weight_sum * self._second + other.weight_sum * other._second) / total,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            self._threads,
        )

    def _average(self, function: Callable[[FloatArray, FloatArray | None], FloatArray]) -> FloatArray:
        """Sum of a function over blocks of deviations, which it may overwrite, divided by the total weight."""
        pieces = [(piece, factor) for samples, factor in self._parts for piece in samples.split(self._threads)]

        def work(item: tuple[ClassRows, float]) -> Any:
            samples, factor = item
            return factor * sum(function(*block) for block in samples.deviations())

        total: Any = sum(map_threads(work, pieces, self._threads))
        return total / self.weight_sum


def moments_of_classes(
    X: FloatArray, weight: FloatArray | None, members: Sequence[np.ndarray], threads: int
) -> list[SampleMoments] | None:
    """Moments of the rows of each class, or None if fourth powers of some feature would leave the range of numbers."""
    classes = [ClassRows.of(X, rows, weight) for rows in members]
    pieces = [samples.split(threads) for samples in classes]
    found = iter(map_threads(_Sums.of, [piece for part in pieces for piece in part], threads))
    sums = [sum((next(found) for _ in part[1:]), next(found)) for part in pieces]
    if not all(_is_in_range(each) for each in sums):
        return None
    return [_around_mean(samples, each, threads) for samples, each in zip(classes, sums, strict=True)]


def _is_in_range(sums: _Sums) -> bool:
    reach = np.maximum(sums.highest, -sums.lowest)
    return bool(((reach < _LARGEST) & ((reach > _SMALLEST) | (reach == 0))).all())


def _around_mean(samples: ClassRows, sums: _Sums, threads: int) -> SampleMoments:
    """From sums around the origin to moments around the mean."""
    shift = sums.first / sums.weight
    second = sums.second / sums.weight - shift * shift[:, None]
    origin, mean = samples.origin, samples.origin + shift
    lowest, highest = origin + sums.lowest, origin + sums.highest
    return SampleMoments([(samples._replace(origin=mean), 1.0)], sums.weight, mean, second, lowest, highest, threads)

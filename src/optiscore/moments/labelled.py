"""Labelled samples, and what is known of each class: its sums and, where they are at hand, its samples."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import pairwise
from numbers import Real
from operator import add
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length

from ..numerics.arrays import Array, in_place, take_rows, to_host
from ..numerics.blocks import map_threads, n_threads
from ..numerics.types import FloatArray
from .central import CentralMoments
from .samples import MANY_FEATURES, moments_of_classes
from .sums import MomentSums

#: The rows of one class, and their weights where there are any.
Rows: TypeAlias = tuple[FloatArray, FloatArray | None]

# So that sums of weights times fourth powers stay far within the range of numbers.
_LARGEST_WEIGHT = 1e100


# Integers within this range are counted, not sorted.
_SMALL_RANGE = 100_000


class ClassData(NamedTuple):
    """Moments of one class, and its rows where all samples are in memory."""

    label: Any
    sums: CentralMoments
    rows: Callable[[], Rows] | None = None

    def samples(self) -> Rows:
        """The rows of the class; settings that need them are refused where there are none."""
        assert self.rows is not None
        return self.rows()


def check_weights(sample_weight: Any, samples: Any, *, may_all_be_zero: bool = False) -> FloatArray:
    """Weights >= 0, one per sample; a block of samples, unlike a whole training set, may have none that counts."""
    if isinstance(sample_weight, Real):
        sample_weight = np.full(len(samples), sample_weight)
    weight = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        allow_nd=True,
        ensure_min_samples=0,
        input_name="sample_weight",
    )
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim} dimensions.")
    check_consistent_length(samples, weight)
    if (weight < 0).any():
        raise ValueError("Negative values in data passed to `sample_weight`: weights must be >= 0.")
    if not may_all_be_zero and not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if weight.max(initial=0) > _LARGEST_WEIGHT:
        raise ValueError(
            f"Sample weights must be at most {_LARGEST_WEIGHT:g}, got {weight.max():g}: sums over the samples would "
            f"overflow. Divide all weights by a number."
        )
    return weight


@contextmanager
def comparing_labels() -> Iterator[None]:
    """Within, labels are put in order; says so where they have none."""
    try:
        yield
    except TypeError:
        raise ValueError(
            "y holds labels that cannot be compared, such as text beside numbers, None or bytes. Make them all text or "
            "all numbers, and leave out samples without a label."
        ) from None


def encode_labels(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct labels, and the index of each label among them; integers of a small range without sorting."""
    if labels.dtype.kind in "iu" and labels.size:
        # Differences of signed integers may need more bits than they have.
        wide = labels.astype(np.int64, copy=False) if labels.dtype.kind == "i" else labels
        lowest = wide.min()
        if int(wide.max()) - int(lowest) < _SMALL_RANGE:
            places = (wide - lowest).astype(np.int32)
            is_there = np.bincount(places) > 0
            classes = np.flatnonzero(is_there).astype(wide.dtype) + lowest
            return classes.astype(labels.dtype), (np.cumsum(is_there, dtype=np.int32) - 1)[places]
    return np.unique(labels, return_inverse=True)


def check_targets_of_block(distinct: np.ndarray) -> None:
    """Refuse distinct labels that are no classes.

    scikit-learn sees so few at a time that it does not warn of many labels for few samples: blocks have few samples.
    """
    for start in range(0, len(distinct), 20):
        check_classification_targets(distinct[start : start + 20])


def check_two_classes(classes: np.ndarray) -> np.ndarray:
    """Refuse fewer than two labels."""
    if (n := len(classes)) < 2:
        raise ValueError(
            f"at least two classes with samples of positive weight are needed, got {n} "
            f"{'class' if n == 1 else 'classes'}: {classes.tolist()}. Add samples of another class."
        )
    return classes


def merge(one: MomentSums | None, other: MomentSums | None) -> MomentSums | None:
    """Sums over the samples of both, where either may have none."""
    return other if one is None else one if other is None else one + other


class TrainingSet(NamedTuple):
    """Samples, their classes as indices into the labels, and their weights where there are any; X on any device.

    The labels are those of samples of positive weight; a sample of weight 0 with another label has the class -1.
    """

    X: Array
    codes: np.ndarray
    labels: np.ndarray
    weight: FloatArray | None

    def take(self, rows: np.ndarray) -> Self:
        """Some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        return self._replace(X=take_rows(self.X, rows), codes=self.codes[rows], weight=weight)

    def counted(self) -> Self:
        """The samples of positive weight."""
        if self.weight is None or (self.weight > 0).all():
            return self
        return self.take(np.flatnonzero(self.weight))

    def by_class(self) -> list[ClassData]:
        """Return moments of each class, which must have samples; sums that merge are not needed here."""
        members, X, moments = self._members(), in_place(self.X), None
        if isinstance(X, np.ndarray) and X.shape[1] >= MANY_FEATURES:
            moments = moments_of_classes(X, self.weight, members, n_threads(X.size))
        known: Sequence[CentralMoments | None] = moments or self._sums(members)
        return [
            ClassData(label, each, partial(self._rows, rows))
            for label, each, rows in zip(self.labels, known, members, strict=True)
            if each is not None
        ]

    def sums(self) -> list[MomentSums | None]:
        """Sums over the samples of each class, None where there are none."""
        return self._sums(self._members())

    def _members(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.codes == code) for code in range(len(self.labels))]

    def _sums(self, members: list[np.ndarray]) -> list[MomentSums | None]:
        """Sums over the rows of each class, parts of which are summed by threads of their own."""
        X = in_place(self.X)
        threads = n_threads(X.size) if isinstance(X, np.ndarray) else 1
        parts = [np.array_split(rows, min(threads, len(rows))) if len(rows) else [] for rows in members]
        sums_of = partial(MomentSums.from_rows, X, self.weight)
        sums = map_threads(sums_of, [rows for part in parts for rows in part], threads)
        ends = np.cumsum([0, *map(len, parts)])
        return [reduce(add, sums[start:stop]) if stop > start else None for start, stop in pairwise(ends)]

    def _rows(self, rows: np.ndarray) -> Rows:
        return to_host(take_rows(self.X, rows)), None if self.weight is None else self.weight[rows]

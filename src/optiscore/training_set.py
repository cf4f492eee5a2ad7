"""Labelled samples, and what is known of each class: its sums and, where they are at hand, its samples."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ._typing import FloatArray
from .array_api import Array, in_place, is_numpy, like, namespace_of, to_host
from .device_sums import sums_on_device
from .moment_sums import MomentSums
from .threads import map_threads, n_threads

#: The rows of one class, and their weights where there are any.
Rows: TypeAlias = tuple[FloatArray, FloatArray | None]


class ClassData(NamedTuple):
    """What is known of one class; its rows are there only where all samples are in memory."""

    label: Any
    sums: MomentSums
    rows: Callable[[], Rows] | None = None

    def samples(self) -> Rows:
        """The rows of the class; settings that need them are refused where there are none."""
        assert self.rows is not None
        return self.rows()


def check_weights(sample_weight: Any, samples: Any, *, may_all_be_zero: bool = False) -> FloatArray:
    """Weights >= 0, one per sample; a block of samples, unlike a whole training set, may have none that counts."""
    if may_all_be_zero and np.shape(sample_weight) == (len(samples),) and not np.any(sample_weight):
        return np.zeros(len(samples))
    return _check_sample_weight(sample_weight, samples, dtype=np.float64, ensure_non_negative=True)


@contextmanager
def comparing_labels() -> Iterator[None]:
    """Within, labels are put in order; says so where they have none."""
    try:
        yield
    except TypeError:
        raise ValueError(
            "y holds labels that cannot be compared, such as text beside numbers or None. Make them all of one type, "
            "and leave out samples without a label."
        ) from None


def check_targets_of_block(distinct: np.ndarray) -> None:
    """Refuse distinct labels that are no classes.

    scikit-learn sees so few at a time that it does not warn of many labels for few samples: blocks have few samples.
    """
    for start in range(0, len(distinct), 20):
        check_classification_targets(distinct[start : start + 20])


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
        return self._replace(X=self._take(rows), codes=self.codes[rows], weight=weight)

    def counted(self) -> Self:
        """The samples of positive weight."""
        if self.weight is None or (self.weight > 0).all():
            return self
        return self.take(np.flatnonzero(self.weight))

    def by_class(self) -> list[ClassData]:
        """What is known of each class; each must have samples."""
        members = self._members()
        return [
            ClassData(label, sums, partial(self._rows, rows))
            for label, sums, rows in zip(self.labels, self._sums(members), members, strict=True)
            if sums is not None
        ]

    def sums(self) -> list[MomentSums | None]:
        """Sums over the samples of each class, None where there are none."""
        return self._sums(self._members())

    def _members(self) -> list[np.ndarray]:
        return [np.flatnonzero(self.codes == code) for code in range(len(self.labels))]

    def _sums(self, members: list[np.ndarray]) -> list[MomentSums | None]:
        """Sums over the rows of each class, parts of which are summed by threads of their own."""
        X = in_place(self.X)
        if not is_numpy(X):
            return [sums_on_device(X, rows, self.weight) if len(rows) else None for rows in members]
        threads = n_threads(X.size)
        split = [np.array_split(rows, min(threads, len(rows))) if len(rows) else [] for rows in members]
        parts = [part for parts in split for part in parts]
        sums = iter(map_threads(lambda rows: MomentSums.of_rows(X, self.weight, rows), parts, threads))
        return [reduce(merge, (next(sums) for _ in parts), None) for parts in split]

    def _rows(self, rows: np.ndarray) -> Rows:
        return to_host(self._take(rows)), None if self.weight is None else self.weight[rows]

    def _take(self, rows: np.ndarray) -> Array:
        return self.X[rows] if is_numpy(self.X) else namespace_of(self.X).take(self.X, like(rows, self.X), axis=0)

"""One pass over a training table: what its columns and labels are, and as many of its rows as memory shall hold."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import Choices, Column, ColumnSurvey
from .preparation import labelled_rows, labels_of
from .tables import read_blocks

# Beyond so many bytes, or if it need not fit in memory, so many random rows stand for the whole table.
_IN_MEMORY_BYTES, _SAMPLE_ROWS = 512 * 1024 * 1024, 200_000

# The sample has so many rows of every class, or all of them.
_FEWEST_OF_A_CLASS = 20

# A column that the user says nothing of is what it looks like.
NOTHING_SAID = Choices()

# A column with more distinct values than this is no target.
_MOST_LABELS = 100_000


@dataclass(frozen=True)
class Survey:
    """A table as one pass over its blocks shows it."""

    #: Its labelled rows without their labels, or a random sample of them.
    table: pa.Table
    #: The labels of these rows.
    labels: np.ndarray
    #: Whether these are all rows.
    is_whole: bool
    #: What each column is, in all rows.
    columns: list[Column]
    #: How many rows each label has.
    counts: dict[Any, int]
    #: Numbers of rows with and without a label.
    n_rows: int
    n_unlabelled: int


def survey_table(
    path: str,
    target: str,
    choices: Choices = NOTHING_SAID,
    *,
    decimal: str = ".",
    may_sample: bool,
    seed: int,
    advance: Callable[[int], None] = lambda n_rows: None,
) -> Survey:
    """Read a table once; where it is large, a random sample of rows may do.

    ``advance`` is told how many rows were read.
    """
    # What is no file, such as a pipe, cannot be read a second time.
    is_file = path != "-" and Path(path).is_file()
    sample = _Sample(seed, _IN_MEMORY_BYTES if may_sample and is_file else None)
    surveyor = _Surveyor(path, target, choices, sample)
    for block in read_blocks(path, decimal, (target, *choices.ids)):
        surveyor.add(block)
        advance(block.num_rows)
    return surveyor.result()


class _Surveyor:
    """Counts and a sample of a table, growing block by block."""

    def __init__(self, path: str, target: str, choices: Choices, sample: "_Sample") -> None:
        self._path, self._target, self._choices, self._sample = path, target, choices, sample
        self._surveys: dict[str, ColumnSurvey] = {}
        self._spellings: Counter[Any] = Counter()
        self._n_rows = self._n_unlabelled = 0

    def result(self) -> Survey:
        """Return the survey of all blocks together."""
        path, target = self._path, self._target
        if not self._n_rows + self._n_unlabelled:
            raise ValueError(f"{path} has no rows.")
        if not self._n_rows:
            raise ValueError(f"{path} has no row with a label in column {target!r}.")
        rows = self._sample.table()
        table = rows.drop_columns([target])
        if not table.num_columns:
            raise ValueError(f"{path} has no column but {target!r}.")
        distinct, counts = self._count_labels(rows[target].type)
        return Survey(
            table,
            labels_of(rows[target], distinct.dtype.kind == "i"),
            self._sample.is_whole,
            [self._surveys[name].result(name, self._choices) for name in table.column_names]
            + [Column(name, "dropped", 0, 0, False) for name in self._choices.drop],
            counts,
            self._n_rows,
            self._n_unlabelled,
        )

    def _count_labels(self, kind: pa.DataType) -> tuple[np.ndarray, dict[Any, int]]:
        """Labels as they are spelled, and how many rows each has."""
        distinct = labels_of(pa.chunked_array([pa.array(list(self._spellings), type=kind)]))
        found = Counter[Any]()
        for label, count in zip(distinct.tolist(), self._spellings.values(), strict=True):
            found[label] += count
        return distinct, dict(sorted(found.items()))

    def add(self, block: pa.Table) -> None:
        """Look at one more block."""
        target = self._target
        labelled = labelled_rows(block, target, self._path)
        self._choices.check(block.column_names, target, self._path)
        if self._choices.drop:
            labelled = labelled.drop_columns(list(self._choices.drop))
        self._n_rows += labelled.num_rows
        self._n_unlabelled += block.num_rows - labelled.num_rows
        is_early = self._are_first_of_their_class(labelled[target])
        for counted in pc.value_counts(labelled[target]).to_pylist():
            self._spellings[counted["values"]] += counted["counts"]
        if len(self._spellings) > _MOST_LABELS:
            raise ValueError(f"column {target!r} has more than {_MOST_LABELS} distinct values: choose another target.")
        for name in labelled.column_names:
            if name != target:
                self._surveys.setdefault(name, ColumnSurvey()).add(name, labelled[name])
        self._sample.add(labelled, is_early)

    def _are_first_of_their_class(self, labels: pa.ChunkedArray) -> np.ndarray:
        """Which rows are needed in the sample, so that it has some of every class."""
        if all(self._spellings[label] >= _FEWEST_OF_A_CLASS for label in pc.unique(labels).to_pylist()):
            return np.zeros(len(labels), dtype=bool)
        column = labels.to_pandas()
        earlier = column.map(lambda label: self._spellings[label]).to_numpy()
        return earlier + column.groupby(column).cumcount().to_numpy() < _FEWEST_OF_A_CLASS


class _Sample:
    """All rows while they are few; beyond a number of bytes, those with the smallest random keys."""

    def __init__(self, seed: int, max_bytes: int | None) -> None:
        self._rng, self._max_bytes = np.random.default_rng(seed), max_bytes
        self._parts: list[pa.Table] = []
        self._keys: list[np.ndarray] = []
        self.is_whole, self._limit, self._n_rows = True, np.inf, _SAMPLE_ROWS

    def add(self, rows: pa.Table, is_needed: np.ndarray) -> None:
        keys = np.where(is_needed, -1.0, self._rng.random(rows.num_rows))
        chosen = keys < self._limit
        self._parts.append(rows if chosen.all() else rows.filter(pa.array(chosen)))
        self._keys.append(keys[chosen])
        if self.is_whole and self._max_bytes is not None:
            self._switch(self._max_bytes)
        if not self.is_whole and sum(map(len, self._keys)) > 2 * self._n_rows:
            self._compact()

    def table(self) -> pa.Table:
        if not self.is_whole:
            self._compact()
        return pa.concat_tables(self._parts, promote_options="default")

    def _switch(self, max_bytes: int) -> None:
        """From all rows to a sample, if they are too many; of wide rows, to a smaller one."""
        size = sum(part.nbytes for part in self._parts)
        self.is_whole = size <= max_bytes
        fitting = max_bytes * sum(map(len, self._keys)) // (4 * max(size, 1))
        self._n_rows = min(_SAMPLE_ROWS, max(fitting, 1))

    def _compact(self) -> None:
        keys, n = np.concatenate(self._keys), self._n_rows
        if len(keys) > n:
            # Rows that are needed have keys below 0 and always stay.
            self._limit = max(float(np.partition(keys, n)[n]), 0.0)
        chosen = keys < self._limit
        rows = pa.concat_tables(self._parts, promote_options="default").filter(pa.array(chosen))
        # Copied, so that the blocks that the rows come from are let go.
        self._parts, self._keys = [rows.combine_chunks()], [keys[chosen]]

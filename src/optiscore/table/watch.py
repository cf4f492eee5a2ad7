"""Features of a table that drift is told by: values, missing cells and categories, by column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import pandas as pd

from ..drift import DriftReference, Shift
from .columns import Column
from .texts import MISSING_TEXT

# Categories that fewer training rows have are not watched by themselves, and of each column at most so many.
_FEWEST_OF_A_VALUE, _MOST_VALUES = 5, 30

# All columns together raise so many false alarms.
_LEVEL = 0.05

# What is surely there, but smaller than this in standard deviations, is no drift that matters.
_LEAST_CHANGE = 0.1

# Farther deviations are clipped.
_MOST_CHANGE = 2.5

VALUE, MISSING, IS = "value", "missing", "is"


class ColumnShift(NamedTuple):
    """A column that moved: in words, in which rows, how surely, and whether so far that its unit may have changed."""

    column: str
    words: str
    rows: str
    p_value: float
    is_far: bool = False


class TableDrift(NamedTuple):
    """Whether the rows of a table drifted, with at most five false alarms in a hundred for all columns together."""

    p_value: float | None
    moved: list[ColumnShift]

    @property
    def sentence(self) -> str:
        """Return a sentence for rows in which no column moved so that it matters."""
        if self.p_value is None:
            return "drift cannot be assessed: too few rows, or no columns that are watched"
        if self.p_value <= _LEVEL:
            return f"no drift that matters: columns moved, but by less than {_LEAST_CHANGE} standard deviations"
        return f"no drift: differences as large as these are common by chance (p = {self.p_value:.2f})"

    @property
    def columns(self) -> list[str]:
        """Names of the columns that moved, surest first."""
        return list(dict.fromkeys(each.column for each in self.moved))


@dataclass(frozen=True)
class Watch:
    """Features that are watched, and their statistics in training."""

    #: What: its value, whether it is missing, or whether it is a value of a category.
    entries: list[list[str]]
    #: Their statistics in training.
    reference: DriftReference

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, columns: Sequence[Column], predicted: np.ndarray, n_classes: int) -> Self:
        """From the training rows, and what is predicted for them by models that have not seen them."""
        entries = [entry for column in columns if column.is_used for entry in _entries(column, frame[column.name])]
        return cls(entries, DriftReference.from_rows(_features(entries, frame), predicted, n_classes))

    def compare(self, frame: pd.DataFrame, predicted: np.ndarray, labels: Sequence[str]) -> TableDrift:
        """Which columns of later rows moved."""
        found = self.reference.compare(_features(self.entries, frame), predicted)
        told: dict[tuple[str, int | None], ColumnShift] = {}
        # Where a feature moves, its distance from the median does, too; the place says more.
        for shift in sorted(found.found(_LEVEL), key=lambda each: each.is_spread):
            entry = self.entries[shift.feature]
            if abs(shift.change) >= _LEAST_CHANGE:
                rows = "all rows" if shift.label is None else f"predicted {labels[shift.label]}"
                is_far = entry[1] == VALUE and abs(shift.change) >= _MOST_CHANGE
                moved = ColumnShift(entry[0], _in_words(entry, shift), rows, shift.p_value, is_far)
                told.setdefault((entry[0], shift.label), moved)
        # Where columns moved in all rows, other rows get each label, and what moves within labels may follow from that.
        everywhere = [each for (_, group), each in told.items() if group is None]
        return TableDrift(found.p_value, sorted(everywhere or told.values(), key=lambda each: each.p_value))


def _entries(column: Column, values: pd.Series) -> list[list[str]]:
    """Of text of many values only missing cells are watched: new values are what it consists of."""
    if column.kind in ("number", "date"):
        return [[column.name, VALUE, ""], [column.name, MISSING, ""]]
    if column.kind == "text":
        return [[column.name, IS, MISSING_TEXT]]
    counts = values.value_counts()
    common = counts[counts >= _FEWEST_OF_A_VALUE].index[:_MOST_VALUES]
    # Of two values each tells what the other does.
    return [[column.name, IS, value] for value in common[: 1 if len(counts) == 2 else None]]


def _features(entries: Sequence[Sequence[str]], frame: pd.DataFrame) -> np.ndarray:
    """A column of numbers per entry; missing numbers stay missing."""
    features = np.empty((len(frame), len(entries)))
    for j, (name, what, value) in enumerate(entries):
        cells = frame[name]
        features[:, j] = cells if what == VALUE else cells.isna() if what == MISSING else cells == value
    return features


def _in_words(entry: Sequence[str], shift: Shift) -> str:
    _, what, value = entry
    is_up = shift.change > 0
    if what == MISSING:
        return "missing more often" if is_up else "missing less often"
    if what == IS:
        return f"{'more' if is_up else 'less'} often {value!r}"
    if shift.is_spread:
        return "values farther from the training median" if is_up else "values nearer to the training median"
    size = f"{abs(shift.change):.2g}" if abs(shift.change) < _MOST_CHANGE else f"more than {_MOST_CHANGE}"
    return f"{'larger' if is_up else 'smaller'} by {size} standard deviations"

"""Columns of a table: what kind each is, what it resembles, and what the user says of it."""

import re
from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from .dates import seconds
from .tables import COMMA_NUMBER, are_integers, check_name, numbers

#: Text columns with more distinct values than this are encoded by what they tell about the label.
MANY_VALUES = 30

#: Distinct values are counted up to about this number.
MOST_COUNTED = 100_000

#: Names of columns in predictions.
RESERVED = {
    *("predicted", "probability", "stability", "certified factor", "typicality", "abstain", "reason"),
    *("nominal probability", "interval from", "interval to", "undominated"),
}

#: Kinds of columns that a model is trained on, and kinds that are left out, with the reason.
USED = ("number", "category", "text", "date")
LEFT_OUT = MappingProxyType(
    {
        "constant": "left out: all values are the same, or missing",
        "row number": "left out: it numbers the rows; --use takes it in",
        "unique": "left out: every row has a value of its own; --use takes it in",
        "dropped": "left out: --drop",
        "id": "left out: --id; copied into predictions",
    }
)

_TREATMENTS = MappingProxyType(
    {
        "category": "a column per value; rare and new values together",
        "text": "how often each class goes with the value, cross-fitted",
        "date": "days since 1970, month and weekday",
    }
)

# What row indices are called by those who write tables: pandas, and R.
_ROW_NUMBERS = re.compile(r"|__index_level_\d+__|Unnamed: \d+|rownames|row\.names", re.IGNORECASE)

# Whether each row has a value of its own says something from so many rows on.
_FEWEST_UNIQUE = 20

# Text of which such a part of the distinct values are numbers was probably meant to be numbers.
_MOSTLY = 0.8
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
_GROUPED = r"^\s*[-+]?[1-9]\d{0,2}(,\d{3})*(\.\d+)?\s*$"
_PERCENTAGE = r"^\s*[-+]?\d+([.,]\d+)?\s*%\s*$"
_DATE = r"^\s*\d{1,2}([/.-])\d{1,2}([/.-])(\d{4}|\d{2})\b"
DECIMAL_COMMAS, NUMBERS, LABEL = "decimal commas", "numbers", "the label"
GROUPED, PERCENTAGES, DATES = "numbers in groups", "percentages", "dates"

# That a column tells all labels says something if each of its values, or each class, has so many rows.
_FEWEST_TELLING = 5

# Integers with so few distinct values may be codes.
_FEWEST_CODES, _MOST_CODES = 3, 12


class Choices(NamedTuple):
    """Columns that the user wants left out, taken as categories, used whatever they look like, or kept as ids."""

    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    def check(self, names: Sequence[str], target: str, path: str) -> None:
        """Refuse columns that are not there, the target, and one column in two places."""
        chosen = [*self.drop, *self.categorical, *self.ids]
        for name in set(self.ids) & RESERVED:
            raise ValueError(f"column {name!r} cannot be an id, since predictions have one of that name: rename it.")
        for name in (*chosen, *self.use):
            if name == target:
                raise ValueError(f"column {name!r} is the target: it cannot be dropped, used or be an id.")
            check_name(name, names, path)
        for name, count in Counter([*chosen, *(set(self.use) - set(self.categorical))]).items():
            if count > 1:
                raise ValueError(f"column {name!r} is named by two options that exclude each other.")


class Column(NamedTuple):
    """A column as it was when the model was trained.

    It may resemble something else: text may be numbers with decimal commas, or numbers but for a few cells; and any
    column may be another form of the label.
    """

    name: str
    kind: str
    n_distinct: int
    n_missing: int
    is_integer: bool
    resembles: str = ""

    @property
    def is_used(self) -> bool:
        """Whether the model is trained on it."""
        return self.kind in USED

    @property
    def may_be_codes(self) -> bool:
        """Whether its numbers may stand for categories."""
        return self.kind == "number" and self.is_integer and _FEWEST_CODES <= self.n_distinct <= _MOST_CODES

    def treatment(self, numbers: str) -> str:
        """Return the treatment in words; numbers are treated by the model."""
        if not self.is_used:
            return LEFT_OUT[self.kind]
        done = numbers if self.kind == "number" else _TREATMENTS[self.kind]
        if not self.n_missing:
            return done
        filled = "median" if self.kind in ("number", "date") else "a value of their own"
        return f"{done}; {filled} for {self.n_missing:,} missing"


class ColumnSurvey:
    """The kind of a column, found block by block: it is of a kind if all its blocks are."""

    def __init__(self) -> None:
        self._distinct: pa.Array | None = None
        self._is_boolean = False
        self._are_numbers = self._are_dates = self._are_integers = True
        self._n_null = self._n_not_numbers = self._n_counted = 0

    def add(self, name: str, column: pa.ChunkedArray) -> None:
        """Look at one more block."""
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise ValueError(f"column {name!r} holds {kind} values, which cannot be used: leave it out with --drop.")
        self._is_boolean |= pa.types.is_boolean(kind)
        self._n_null += column.null_count
        self._count_distinct(column)
        if self._are_numbers:
            values = numbers(column)
            self._are_numbers = values is not None
            if values is not None:
                self._n_not_numbers += int(np.isnan(values).sum())
                self._are_integers = self._are_integers and are_integers(values)
        self._are_dates = self._are_dates and seconds(column) is not None

    def result(self, name: str, choices: Choices) -> Column:
        """The column in all blocks."""
        are_numbers = self._are_numbers and not self._is_boolean
        n_distinct = 0 if self._distinct is None else len(self._distinct)
        n_missing = self._n_not_numbers if are_numbers else self._n_null
        kind = self._kind(name, n_distinct, choices)
        resembles = _resemblance(self._distinct) if kind in ("category", "text", "unique") and not are_numbers else ""
        return Column(name, kind, n_distinct, n_missing, are_numbers and self._are_integers, resembles)

    def _kind(self, name: str, n_distinct: int, choices: Choices) -> str:
        if name in choices.ids:
            return "id"
        if n_distinct <= 1:
            return "constant"
        by_values = "category" if n_distinct <= MANY_VALUES else "text"
        if name in choices.categorical:
            return by_values
        are_numbers = self._are_numbers and not self._is_boolean
        if name not in choices.use:
            if _ROW_NUMBERS.fullmatch(name):
                return "row number"
            are_measured = (are_numbers and not self._are_integers) or (self._are_dates and not are_numbers)
            if n_distinct == self._n_counted >= _FEWEST_UNIQUE and not are_measured:
                return "unique"
        if are_numbers:
            return "number"
        return "date" if self._are_dates else by_values

    def _count_distinct(self, column: pa.ChunkedArray) -> None:
        known = column.drop_null()
        if self._distinct is None:
            self._distinct = pc.unique(known)
        elif len(self._distinct) < MOST_COUNTED:
            self._distinct = pc.unique(pa.chunked_array([self._distinct, *known.chunks], type=column.type))
        else:
            return
        self._n_counted += len(known)


def _resemblance(values: pa.Array) -> str:
    """Return the kind of most of the distinct values of text, if that is something else than text."""
    if not pa.types.is_string(values.type) or len(values) < _FEWEST_UNIQUE:
        return ""
    for pattern, what in ((_PERCENTAGE, PERCENTAGES), (_DATE, DATES)):
        if pc.mean(pc.match_substring_regex(values, pattern)).as_py() >= _MOSTLY:
            return what
    # A comma before a point can only be one between thousands.
    has_groups = pc.any(pc.match_substring_regex(values, r",\d{3}\.")).as_py()
    if has_groups and pc.mean(pc.match_substring_regex(values, f"{_GROUPED}|{_NUMBER}")).as_py() >= _MOSTLY:
        return GROUPED
    with_commas, plain = (pc.match_substring_regex(values, pattern) for pattern in (COMMA_NUMBER, _NUMBER))
    if pc.mean(pc.or_(with_commas, plain)).as_py() < _MOSTLY:
        return ""
    # Integers may be either, and so may 1.234: the other cells decide.
    n_commas = pc.sum(pc.and_(with_commas, pc.match_substring(values, ","))).as_py()
    n_points = pc.sum(pc.and_(pc.and_not(plain, with_commas), pc.match_substring(values, "."))).as_py()
    return DECIMAL_COMMAS if n_commas > n_points else NUMBERS


def mark_labels(columns: Sequence[Column], frame: pd.DataFrame, codes: np.ndarray) -> list[Column]:
    """Columns, where those that tell the label of every row are marked."""
    return [
        column._replace(resembles=LABEL) if column.is_used and _tells(frame[column.name], column, codes) else column
        for column in columns
    ]


def _tells(values: pd.Series, column: Column, codes: np.ndarray) -> bool:
    """Whether the classes are separate intervals of a column's numbers, or each of its values is of one class."""
    if np.bincount(codes).min() < _FEWEST_TELLING or values.isna().any():
        return False
    by_value = pd.Series(codes).groupby(values.to_numpy())
    if not (by_value.nunique() == 1).all():
        return False
    if column.kind in ("number", "date"):
        return int((np.diff(by_value.first().to_numpy()) != 0).sum()) == codes.max()
    return len(values) >= _FEWEST_TELLING * len(by_value)

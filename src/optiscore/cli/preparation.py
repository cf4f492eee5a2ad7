"""Columns of a table made ready for a classifier: what kind each is, and what is done to it."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn import __version__ as sklearn_version
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, TargetEncoder

from ..features.dates import expand_dates, name_dates
from ..plotting.pipelines import classifier_and_samples
from .tables import column_of, numbers

#: Text columns with more distinct values than this are encoded by what they tell about the label.
MANY_VALUES = 30

#: Distinct values are counted up to about this number.
MOST_COUNTED = 100_000


#: What is done to the columns of each kind, in words.
KINDS = MappingProxyType(
    {
        "number": "as it is; missing values become the median",
        "category": "one column per value; rare, new and missing values together",
        "text": "how often each class goes with the value, cross-fitted",
        "date": "days since 1970, month and weekday; missing values become the median",
        "constant": "left out: all values are the same",
    }
)


class Column(NamedTuple):
    """A column as it was when the model was trained."""

    name: str
    kind: str
    n_distinct: int
    n_missing: int

    @property
    def treatment(self) -> str:
        """What is done to it, in words."""
        return KINDS[self.kind]


class ColumnSurvey:
    """What a column is, found block by block: it is of a kind if all its blocks are."""

    def __init__(self) -> None:
        self._distinct: pa.Array | None = None
        self._is_boolean = False
        self._are_numbers = self._are_dates = True
        self._n_null = self._n_not_numbers = 0

    def add(self, name: str, column: pa.ChunkedArray) -> None:
        """Look at one more block."""
        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise ValueError(f"column {name!r} holds {kind} values, which cannot be used: leave it out.")
        self._is_boolean |= pa.types.is_boolean(kind)
        self._n_null += column.null_count
        self._count_distinct(column)
        if self._are_numbers:
            values = numbers(column)
            self._are_numbers = values is not None
            self._n_not_numbers += 0 if values is None else int(np.isnan(values).sum())
        self._are_dates = self._are_dates and _seconds(column) is not None

    def result(self, name: str) -> Column:
        """The column in all blocks."""
        n_distinct = 0 if self._distinct is None else len(self._distinct)
        if n_distinct <= 1:
            return Column(name, "constant", n_distinct, self._n_null)
        if self._are_numbers and not self._is_boolean:
            return Column(name, "number", n_distinct, self._n_not_numbers)
        if self._are_dates:
            return Column(name, "date", n_distinct, self._n_null)
        return Column(name, "category" if n_distinct <= MANY_VALUES else "text", n_distinct, self._n_null)

    def _count_distinct(self, column: pa.ChunkedArray) -> None:
        if self._distinct is None:
            self._distinct = pc.unique(column.drop_null())
        elif len(self._distinct) < MOST_COUNTED:
            known = pa.chunked_array([self._distinct, *column.drop_null().chunks], type=column.type)
            self._distinct = pc.unique(known)


def _seconds(column: pa.ChunkedArray) -> np.ndarray | None:
    """Seconds since 1970 of dates and times; None if some cell is none."""
    for kind in (pa.timestamp("us"), pa.date32()):
        try:
            stamps = column.cast(kind, safe=False).cast(pa.timestamp("us"))
        # Values that are no dates, or a type that is never one.
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
        return stamps.cast(pa.int64()).to_pandas().to_numpy(dtype=np.float64) / 1e6
    return None


def to_frame(table: pa.Table, columns: Sequence[Column], path: str) -> pd.DataFrame:
    """The columns that the model was trained on, in types that its pipeline knows."""
    names = table.column_names
    used = [column for column in columns if column.kind != "constant"]
    if table.schema.metadata == {b"absent": b"zero"}:
        absent = [column.name for column in used if column.name not in names and column.name[:1] == "x"]
        table = pa.table({n: table[n] for n in names} | {n: np.zeros(table.num_rows) for n in absent})
    return pd.DataFrame({c.name: _values(c, column_of(table, c.name, path), path) for c in used})


def _values(known: Column, column: pa.ChunkedArray, path: str) -> Any:
    if known.kind == "number":
        values = numbers(column)
    elif known.kind == "date":
        values = _seconds(column)
    else:
        text = _with_plain_booleans(column.cast(pa.string()))
        return text.to_pandas().astype(object).where(text.is_valid().to_pandas(), "(missing)").to_numpy()
    if values is None:
        raise ValueError(f"{path}: column {known.name!r} was a {known.kind} in training; {_culprit(known, column)}.")
    if not np.isfinite(values[~np.isnan(values)]).all() or (np.abs(values[~np.isnan(values)]) > 1e100).any():
        raise ValueError(f"{path}: column {known.name!r} holds numbers beyond 1e100; rescale or mark them as missing.")
    return values


def _with_plain_booleans(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Booleans spelled alike, whether they come from a text file or not."""
    lowered = pc.utf8_lower(text)
    return pc.if_else(pc.is_in(lowered, pa.array(["true", "false"])), lowered, text)


@contextmanager
def new_values_allowed() -> Iterator[None]:
    """Values that were not in training join the rare ones, as the account of the columns says: no warning."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        yield


def classifier_and_rows(pipeline: Pipeline, frame: pd.DataFrame) -> tuple[Any, np.ndarray]:
    """The classifier at the end of a pipeline, and rows as it sees them."""
    with new_values_allowed():
        return classifier_and_samples(pipeline, frame)


def _culprit(known: Column, column: pa.ChunkedArray) -> str:
    read = numbers if known.kind == "number" else _seconds
    for row, value in enumerate(column.to_pylist()):
        if value is not None and read(pa.chunked_array([[value]])) is None:
            return f"the value {str(value)[:40]!r} is none (row {row + 1} of its block)"
    return "some value is none"


def vectoriser(columns: Sequence[Column], seed: int) -> ColumnTransformer:
    """A transformer from frames to numbers."""
    by_kind: dict[str, list[str]] = {}
    for column in columns:
        by_kind.setdefault(column.kind, []).append(column.name)
    steps: Mapping[str, Any] = {
        "number": SimpleImputer(strategy="median", keep_empty_features=True),
        "date": make_pipeline(
            SimpleImputer(strategy="median", keep_empty_features=True),
            FunctionTransformer(expand_dates, feature_names_out=name_dates),
        ),
        "category": OneHotEncoder(
            handle_unknown="infrequent_if_exist",
            min_frequency=3,
            max_categories=MANY_VALUES,
            drop="if_binary",
            sparse_output=False,
        ),
        "text": _target_encoder(seed),
    }
    used = [(kind, step, by_kind[kind]) for kind, step in steps.items() if kind in by_kind]
    if not used:
        raise ValueError("no column tells the rows apart: all are constant.")
    return ColumnTransformer(used, verbose_feature_names_out=False)


def _target_encoder(seed: int) -> TargetEncoder:
    """Cross-fitted on five random folds; scikit-learn takes a splitter from 1.9 on, and drops the other parameters."""
    if tuple(map(int, sklearn_version.split(".")[:2])) >= (1, 9):
        return TargetEncoder(cv=KFold(5, shuffle=True, random_state=seed))
    return TargetEncoder(cv=5, shuffle=True, random_state=seed)


def make_model(columns: Sequence[Column], classifier: Any, seed: int) -> Pipeline:
    """One pipeline from frames to labels."""
    return Pipeline([("columns", vectoriser(columns, seed)), ("classifier", classifier)])


def labelled_rows(table: pa.Table, target: str, path: str) -> pa.Table:
    """The rows that have a label."""
    column = column_of(table, target, path)
    is_known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        is_known = pc.and_(is_known, pc.invert(pc.fill_null(pc.is_nan(column), True)))
    return table.filter(is_known)


def labels_of(column: pa.ChunkedArray, as_numbers: bool | None = None) -> np.ndarray:
    """Labels: integers where all are spelled as such ("7", not "007"), else text; or as the model has them."""
    text = _with_plain_booleans(column.cast(pa.string())).to_pylist()
    values = None if pa.types.is_boolean(column.type) else numbers(column)
    if values is None or not ((np.abs(values) < 2**53) & (values == np.round(values))).all():
        return np.array(text, dtype=str)
    if as_numbers is None:
        as_numbers = pa.types.is_floating(column.type) or all(str(int(float(label))) == label for label in text)
    return values.astype(np.int64) if as_numbers else np.array(text, dtype=str)

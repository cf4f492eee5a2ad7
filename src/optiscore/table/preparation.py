"""Columns and labels of a table made ready for a classifier."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from sklearn import __version__ as sklearn_version
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

from .columns import MANY_VALUES, Column
from .dates import DateParts, seconds
from .tables import are_integers, column_of, numbers
from .texts import MISSING_TEXT, CellTexts


def to_frame(table: pa.Table, columns: Sequence[Column], path: str) -> pd.DataFrame:
    """The columns that the model was trained on, in types that its pipeline knows."""
    used = [column for column in columns if column.is_used]
    missing = [column.name for column in used if column.name not in table.column_names]
    if len(missing) > 1:
        raise ValueError(
            f"{path} lacks {len(missing)} columns that the model was trained on: {', '.join(map(repr, missing[:10]))}"
            f"{' and more' if len(missing) > 10 else ''}."
        )
    return pd.DataFrame({c.name: _values(c, column_of(table, c.name, path), path) for c in used})


def _values(known: Column, column: pa.ChunkedArray, path: str) -> Any:
    if known.kind == "number":
        values = numbers(column)
    elif known.kind == "date":
        values = seconds(column)
    else:
        text = _with_plain_booleans(column.cast(pa.string()))
        codes = numbers(column) if known.is_integer else None
        if codes is not None and are_integers(codes):
            # Codes are the same however they are spelled: 1 and 1.0.
            return np.array([MISSING_TEXT if np.isnan(code) else str(int(code)) for code in codes], dtype=object)
        return text.to_pandas().astype(object).where(text.is_valid().to_pandas(), MISSING_TEXT).to_numpy()
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
        # Of older versions of scikit-learn, whose encodings by labels want more rows of each class than there may be.
        warnings.filterwarnings("ignore", "The least populated class in y", UserWarning)
        yield


def count_unseen(pipeline: Pipeline, frame: pd.DataFrame) -> dict[str, int]:
    """How many rows hold values of categories and texts that no training row had, by column."""
    found = {}
    for kind, encoder, names in pipeline[0].transformers_:
        if kind in ("category", "text"):
            for name, known in zip(names, encoder[-1].categories_, strict=True):
                found[name] = int((~frame[name].isin(known)).sum())
    return {name: count for name, count in found.items() if count}


def _culprit(known: Column, column: pa.ChunkedArray) -> str:
    read = numbers if known.kind == "number" else seconds
    for value in column.to_pylist():
        if value is not None and read(pa.chunked_array([[value]])) is None:
            return f"the value {str(value)[:40]!r} is none"
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
            DateParts(),
        ),
        # The command's frames hold such text already; those of whoever loads the pipeline in Python may not.
        "category": make_pipeline(
            CellTexts(),
            OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                min_frequency=3,
                max_categories=MANY_VALUES,
                drop="if_binary",
                sparse_output=False,
            ),
        ),
        "text": make_pipeline(CellTexts(), _target_encoder(seed)),
    }
    used = [(kind, step, by_kind[kind]) for kind, step in steps.items() if kind in by_kind]
    if not used:
        raise ValueError(
            "no column tells the rows apart: all are constant or left out. --use takes a column in; numbers with "
            "decimal commas need --decimal ','."
        )
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
    return table.filter(has_label(table, target, path))


def has_label(table: pa.Table, target: str, path: str) -> pa.ChunkedArray:
    """Which rows have a label."""
    column = column_of(table, target, path)
    is_known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        is_known = pc.and_(is_known, pc.invert(pc.fill_null(pc.is_nan(column), True)))
    return is_known


def encode(pipeline: Pipeline, frame: pd.DataFrame) -> np.ndarray:
    """Rows as the classifier sees them.

    A category of two values is one column of 0 and 1; a value that training did not have is neither, and lies between.
    """
    with new_values_allowed():
        X = np.asarray(pipeline[:-1].transform(frame))
    place = pipeline[0].output_indices_.get("category", slice(0, 0)).start
    for name, known, rare in _encoded_categories(pipeline):
        n_columns = len(known) - len(rare) + bool(len(rare))
        if n_columns == 2 and not len(rare):
            X[~frame[name].isin(known).to_numpy(), place] = 0.5
        place += 1 if n_columns == 2 else n_columns
    return X


def _encoded_categories(pipeline: Pipeline) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, values and rare values of each column that is encoded by categories."""
    for kind, encoder, names in pipeline[0].transformers_:
        if kind == "category":
            known = encoder[-1].categories_, encoder[-1].infrequent_categories_
            for name, all_values, rare in zip(names, *known, strict=True):
                yield name, all_values, np.empty(0) if rare is None else rare


def labels_of(column: pa.ChunkedArray, as_numbers: bool | None = None) -> np.ndarray:
    """Labels: integers where all are spelled as such ("7", "7.0", not "007"), else text; or as the model has them."""
    text = [label.strip() for label in _with_plain_booleans(column.cast(pa.string())).to_pylist()]
    values = None if pa.types.is_boolean(column.type) else numbers(column)
    if values is None or np.isnan(values).any() or not are_integers(values):
        return np.array(text, dtype=str)
    if as_numbers is None:
        as_numbers = pa.types.is_floating(column.type) or all(
            str(int(float(label))) == re.sub(r"\.0+$", "", label) for label in text
        )
    return values.astype(np.int64) if as_numbers else np.array(text, dtype=str)


def check_classes_of(target: str, labels: Sequence[Any], n_rows: int) -> None:
    """Refuse distinct labels that look like measurements."""
    if _looks_continuous(labels, n_rows):
        raise ValueError(
            f"column {target!r} looks continuous ({len(labels):,} distinct numbers in {n_rows:,} rows), and this "
            f"command predicts classes: choose another target, or make classes of it, such as low and high."
        )


def _looks_continuous(labels: Sequence[Any], n_rows: int) -> bool:
    """Many numbers, with decimals, or with few rows each."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return False
    if (numbers != np.round(numbers)).any():
        return len(labels) > 10
    return len(labels) > 20 and n_rows < 5 * len(labels)

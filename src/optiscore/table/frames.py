"""Tables in memory: from a data frame of any library to Arrow, and back to the library that it came from."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa

#: What a table in memory is called in messages.
NAME = "the table"


class TableInMemory(str):
    """The name of a table whose rows are at hand: it stands where functions that read take the path of a file."""

    __slots__ = ("table",)
    table: pa.Table

    def __new__(cls, table: pa.Table, name: str = NAME) -> "TableInMemory":
        """Return the name with its rows."""
        named = super().__new__(cls, name)
        named.table = table
        return named


def to_arrow(frame: Any) -> pa.Table:
    """Return the columns of a data frame, a dict or an array with two dimensions; row indices are no columns."""
    try:
        if isinstance(frame, pd.DataFrame):
            named = frame.set_axis([str(name) for name in frame.columns], axis=1)
            return pa.Table.from_pandas(named, preserve_index=False)
        if isinstance(frame, Mapping):
            return pa.table({str(name): column for name, column in frame.items()})
        # Early streams of polars end the process where a column is of categories.
        if hasattr(frame, "to_arrow"):
            return frame.to_arrow()
        if hasattr(frame, "__arrow_c_stream__") or isinstance(frame, pa.Table):
            return pa.table(frame)
        X = np.asarray(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ValueError(f"{NAME} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if X.ndim != 2:
        raise ValueError(f"{NAME} must be a data frame, a dict of columns or an array of two dimensions, got {X.ndim}.")
    return pa.table({f"x{j}": column for j, column in enumerate(X.T)})


def with_target(table: pa.Table, y: Any) -> tuple[pa.Table, str]:
    """Return a table with a column of labels, and its name."""
    name = str(getattr(y, "name", None) or "label")
    while name in table.column_names:
        name += "_"
    labels = np.asarray(y)
    if labels.shape != (table.num_rows,):
        raise ValueError(f"y must have one label for each of the {table.num_rows} rows, got shape {labels.shape}.")
    try:
        return table.append_column(name, pa.array(labels, from_pandas=True)), name
    except pa.ArrowException as error:
        raise ValueError(f"y cannot be read: {' '.join(str(error).split())[:200]}") from None


def coded_columns(table: pa.Table) -> tuple[str, ...]:
    """Return names of columns that are coded by a dictionary: categories, whatever their values are."""
    return tuple(field.name for field in table.schema if pa.types.is_dictionary(field.type))


def like(frame: Any, columns: Mapping[str, np.ndarray]) -> Any:
    """Return columns as a frame of the library that a frame is of, with its index; pandas for anything else."""
    if isinstance(frame, pd.DataFrame):
        return pd.DataFrame(dict(columns), index=frame.index)
    known = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(known, nw.DataFrame):
        return pd.DataFrame(dict(columns))
    plain = {
        name: [list(cell) if isinstance(cell, tuple) else cell for cell in column.tolist()]
        for name, column in columns.items()
    }
    return nw.from_dict(plain, backend=nw.get_native_namespace(known)).to_native()

"""One row out per row in: label, probability, bounds, certified factor, plausible labels, and whether to abstain."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa

from ..classifiers.assessment import assess
from ..moments.labelled import encode_labels
from .table_model import TableModel
from .tables import read_blocks, table_writer

# Sets of so many classes are numbers that can be counted instead of sorted.
_COUNTED = 16


def predict_file(
    trained: TableModel, source: str, out: str, abstain_below: float, advance: Callable[[int], None]
) -> int:
    """Predict all rows of a table in blocks; the number of rows."""
    n_rows = 0
    # While a block is written, the next one is read and predicted.
    with table_writer(out) as write, ThreadPoolExecutor(1) as background:
        written: Future[Any] = background.submit(bool)
        for table in read_blocks(source):
            predictions = predict_table(trained, table, source, abstain_below)
            written.result()
            written = background.submit(write, predictions)
            n_rows += table.num_rows
            advance(table.num_rows)
        written.result()
        if not n_rows:
            raise ValueError(f"{source} has no rows.")
    return n_rows


def predict_table(trained: TableModel, table: pa.Table, source: str, abstain_below: float) -> pa.Table:
    """Predictions for the rows of a table."""
    said, classes = assess(trained.classifier, trained.features(table, source)), trained.classifier.classes_
    columns: dict[str, Any] = {"predicted": classes[said.predicted], "probability": said.proba.max(axis=1)}
    for c, label in enumerate(classes):
        columns[f"lower {label}"], columns[f"upper {label}"] = said.lower[:, c], said.upper[:, c]
    columns["certified factor"] = said.certified_factor
    columns["plausible"] = _join(said.plausible, classes)
    columns["abstain"] = said.certified_factor < abstain_below
    return pa.table(columns)


def _join(plausible: np.ndarray, classes: np.ndarray) -> pa.Array:
    """The plausible labels of each row as text; there are few different sets, each of which is spelled out once."""
    members: np.ndarray
    if len(classes) <= _COUNTED:
        sets, place = encode_labels(plausible @ (1 << np.arange(len(classes))))
        members = sets[:, None] >> np.arange(len(classes)) & 1
    else:
        packed, place = np.unique(np.packbits(plausible, axis=1), axis=0, return_inverse=True)
        members = np.unpackbits(packed, axis=1, count=len(classes))
    texts = ["|".join(str(label) for label in classes[row.astype(bool)]) for row in members]
    return pa.DictionaryArray.from_arrays(place.ravel(), texts).cast(pa.string())

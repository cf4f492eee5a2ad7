"""One row out per row in: label, probability, bounds, certified radius, plausible labels, and whether to abstain."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from .preparation import transform
from .tables import TableWriter, read_blocks
from .training import Trained, frame_of


def predict_file(trained: Trained, source: str, out: str, abstain_below: float, advance: Callable[[int], None]) -> int:
    """Predict all rows of a table in blocks; the number of rows."""
    n_rows = 0
    with TableWriter(out) as writer:
        for table in read_blocks(source):
            writer.write(predict_table(trained, table, source, abstain_below))
            n_rows += table.num_rows
            advance(table.num_rows)
        if not n_rows:
            raise ValueError(f"{source} has no rows.")
    return n_rows


def predict_table(trained: Trained, table: pa.Table, source: str, abstain_below: float) -> pa.Table:
    """Predictions for the rows of a table."""
    pipeline = trained["pipeline"]
    X = transform(pipeline, frame_of(trained, table, source))
    model = pipeline[-1]
    labels, radius = model.predict(X), model.certified_radius(X)
    lower, upper = model.predict_proba_bounds(X)
    columns: dict[str, Any] = {
        "predicted": labels,
        "probability": model.predict_proba(X).max(axis=1),
    }
    for c, label in enumerate(model.classes_):
        columns[f"lower {label}"], columns[f"upper {label}"] = lower[:, c], upper[:, c]
    columns["certified radius"] = radius
    columns["plausible"] = _join(model.predict_set(X), model.classes_)
    columns["abstain"] = radius < abstain_below
    return pa.table(columns)


def _join(plausible: np.ndarray, classes: np.ndarray) -> pa.Array:
    """The plausible labels of each row as text; there are few different sets, each of which is spelled out once."""
    codes = plausible @ (1 << np.arange(len(classes), dtype=object)) if len(classes) > 62 else None
    if codes is None:
        codes = plausible @ (np.int64(1) << np.arange(len(classes)))
    sets, place = np.unique(codes, return_inverse=True)
    texts = ["|".join(str(label) for c, label in enumerate(classes) if int(code) >> c & 1) for code in sets]
    return pa.array(np.array(texts, dtype=object)[place], type=pa.string())

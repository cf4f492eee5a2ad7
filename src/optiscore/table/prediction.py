"""One row out per row in: label, probability, certainty in every sense that the model has, and whether to abstain."""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..moments.labelled import encode_labels
from .answers import PROBABILITY, Answers, abstentions, ask
from .table_model import TableModel
from .tables import column_of, read_blocks, table_writer

# Sets of so many classes are numbers that can be counted instead of sorted.
_COUNTED = 16


class OutputOptions(NamedTuple):
    """Options of predictions."""

    #: Rows below one of these abstain.
    thresholds: dict[str, float]
    #: Columns to copy.
    keep: Sequence[str] = ()
    #: Level of the interval of the posterior, if there shall be one.
    interval: float | None = None
    #: Whether the probability of every class is told.
    all_probabilities: bool = False
    #: What stands before the decimals in text files.
    decimal: str = "."


@dataclass
class Tally:
    """Counts of predictions, reasons and new values."""

    n_rows: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)


def predict_file(
    trained: TableModel, source: str, out: str, wanted: OutputOptions, advance: Callable[[int], None]
) -> Tally:
    """Predict all rows of a table in blocks."""
    if wanted.interval is not None and not hasattr(trained.classifier, "predict_proba_interval"):
        raise ValueError(f"--interval: the {trained.kind} model has no intervals; train with --model moderated.")
    tally = Tally()
    # While a block is written, the next one is read and predicted.
    with table_writer(out) as write, ThreadPoolExecutor(1) as background:
        written: Future[Any] = background.submit(bool)
        for table in read_blocks(source, wanted.decimal, (*trained.ids, *wanted.keep)):
            predictions = predict_table(trained, table, source, wanted, tally)
            written.result()
            written = background.submit(write, predictions)
            advance(table.num_rows)
        written.result()
        if not tally.n_rows:
            raise ValueError(f"{source} has no rows.")
    return tally


def predict_table(trained: TableModel, table: pa.Table, source: str, wanted: OutputOptions, tally: Tally) -> pa.Table:
    """Predictions for the rows of a table."""
    frame = trained.frame(table, source)
    X = trained.features(frame)
    answers, classes = ask(trained.classifier, X), trained.classifier.classes_
    reasons = abstentions(answers.certainty, wanted.thresholds)
    columns: dict[str, Any] = {"predicted": classes[answers.predicted], PROBABILITY: _of_predicted(answers)}
    columns |= answers.certainty
    if wanted.interval is not None:
        columns |= _interval(trained.classifier, X, answers.predicted, wanted.interval)
    if wanted.all_probabilities:
        columns |= {f"{PROBABILITY} {label}": answers.proba[:, c] for c, label in enumerate(classes)}
    if answers.bounds is not None:
        columns |= _bounds(answers, classes)
    columns |= {"abstain": reasons != "", "reason": reasons}
    tally.n_rows += len(reasons)
    tally.labels.update(dict(zip(trained.labels, np.bincount(answers.predicted, minlength=len(classes)), strict=True)))
    tally.reasons.update(reasons.tolist())
    tally.unseen.update(trained.count_unseen(frame))
    return pa.table(_kept(trained, table, source, wanted.keep, columns) | columns)


def _of_predicted(answers: Answers) -> np.ndarray:
    return answers.proba[np.arange(len(answers.predicted)), answers.predicted]


def _kept(
    trained: TableModel, table: pa.Table, source: str, keep: Sequence[str], columns: dict[str, Any]
) -> dict[str, Any]:
    """Ids, and columns to copy."""
    names = dict.fromkeys([*trained.ids, *keep])
    for name in names:
        if name in columns:
            raise ValueError(f"{source}: column {name!r} cannot be kept, since predictions have one of that name.")
    return {name: column_of(table, name, source) for name in names}


def _interval(classifier: Any, X: np.ndarray, predicted: np.ndarray, level: float) -> dict[str, np.ndarray]:
    """The posterior of the predicted label with the moments taken as exact, and its interval."""
    rows = np.arange(len(predicted))
    lower, upper = classifier.predict_proba_interval(X, level)
    nominal = {}
    if hasattr(classifier, "nominal_proba"):
        nominal = {"nominal probability": classifier.nominal_proba(X)[rows, predicted]}
    return {
        **nominal,
        "interval from": lower[rows, predicted],
        "interval to": upper[rows, predicted],
    }


def _bounds(answers: Answers, classes: np.ndarray) -> dict[str, Any]:
    said = answers.bounds
    assert said is not None
    columns: dict[str, Any] = {}
    for c, label in enumerate(classes):
        columns[f"lower {label}"], columns[f"upper {label}"] = said.lower[:, c], said.upper[:, c]
    return columns | {"undominated": _join(said.undominated, classes)}


def _join(undominated: np.ndarray, classes: np.ndarray) -> pa.Array:
    """The undominated labels of each row as text; there are few different sets, each of which is spelled out once."""
    members: np.ndarray
    if len(classes) <= _COUNTED:
        sets, place = encode_labels(undominated @ (1 << np.arange(len(classes))))
        members = sets[:, None] >> np.arange(len(classes)) & 1
    else:
        packed, place = np.unique(np.packbits(undominated, axis=1), axis=0, return_inverse=True)
        members = np.unpackbits(packed, axis=1, count=len(classes))
    texts = ["|".join(str(label) for label in classes[row.astype(bool)]) for row in members]
    return pa.DictionaryArray.from_arrays(place.ravel(), texts).cast(pa.string())

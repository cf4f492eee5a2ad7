"""Remarks on a trained model for a person who would rely on it: classes it never names, evidence it lacks."""

from types import MappingProxyType

import numpy as np

from .columns import DATES, DECIMAL_COMMAS, GROUPED, LABEL, NUMBERS, PERCENTAGES
from .selection import OPTIMISTIC
from .table_model import Interval, TableModel, proportion

# A larger part of the rows that are copies is told.
_MANY_COPIES = 0.02


#: What to do about columns that resemble something else.
_RESEMBLANCES = MappingProxyType(
    {
        DECIMAL_COMMAS: "numbers with decimal commas? --decimal , reads them.",
        GROUPED: "numbers with commas between thousands? Without these, the column is used as numbers.",
        PERCENTAGES: "percentages? Without the percent signs, the column is used as numbers.",
        DATES: "dates? Written as 2020-01-31, they are used as such.",
        NUMBERS: "numbers, but for some cells? Empty these, and the column is used as numbers.",
        LABEL: "tells the label of every row by itself. Is it known when predictions are made? If not, --drop it: what "
        "the model reaches with it is too good.",
    }
)


def left_out_accuracy(trained: TableModel) -> Interval:
    """Accuracy on training rows that were left out."""
    table = np.array(trained.confusion)
    return proportion(int(table.trace()), int(table.sum()))


def majority(trained: TableModel) -> tuple[str, float]:
    """The most frequent class of the training rows that were left out, and its fraction."""
    sizes = np.array(trained.confusion).sum(axis=1)
    return trained.labels[int(sizes.argmax())], float(sizes.max() / sizes.sum())


def recalls(trained: TableModel) -> list[Interval]:
    """Fraction of each class that was named right when left out."""
    table = np.array(trained.confusion)
    return [proportion(int(right), int(n)) for right, n in zip(table.diagonal(), table.sum(axis=1), strict=True)]


def no_better_than_majority(trained: TableModel) -> bool:
    """Whether one answer for all rows would have been right as often; classes count by priors that were given."""
    if (priors := trained.given_priors) is not None:
        return float(np.dot(priors, [recall.value for recall in recalls(trained)])) <= max(priors)
    return left_out_accuracy(trained).value <= majority(trained)[1]


def remarks(trained: TableModel) -> list[str]:
    """Sentences, the heaviest first."""
    said = [
        f"{_listed(names)}: {words}"
        for what, words in _RESEMBLANCES.items()
        if (names := [column.name for column in trained.columns if column.resembles == what])
    ]
    label, share = majority(trained)
    if no_better_than_majority(trained):
        said.append(
            f"The model is no better than always answering {label!r}, which is right on {100 * share:.1f} % of rows."
        )
    named = np.array(trained.confusion).sum(axis=0)
    if never := [name for name, count in zip(trained.labels, named, strict=True) if not count]:
        said.append(f"It never predicts {', '.join(map(repr, never))}.")
    if trained.n_certain == 0:
        what = "certified factor above 1" if trained.kind == OPTIMISTIC else "stability above 0.95"
        said.append(f"No training row has a {what}: no decision is sure. More rows or fewer columns would help.")
    said += [f"{name} could not be trained for comparison: {why}" for name, why in trained.failed_peers.items()]
    if trained.n_copies > _MANY_COPIES * (trained.n_sampled or trained.n_rows):
        said.append(
            f"{trained.n_copies:,} rows are exact copies of others: if they are no new observations, the accuracy is "
            f"too good, since copies are on both sides of a fold."
        )
    if trained.holds_rows:
        said.append("The model file holds training rows in the clear: --no-rows rules that out.")
    said += [
        f"Column {column.name!r} holds {column.n_distinct} distinct integers: if these are codes, "
        f"--categorical {column.name!r} treats them as such."
        for column in trained.columns
        if column.may_be_codes
    ]
    said += [
        f"Column {column.name!r} is a date, in which later rows will always have drifted: --drop {column.name!r}?"
        for column in trained.columns
        if column.kind == "date"
    ]
    return said


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"Column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names[:5]))}{more}"

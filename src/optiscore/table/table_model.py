"""A model that was trained on a table: the pipeline, what it is compared with, and what is known of the table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.stats import binomtest
from sklearn.pipeline import Pipeline

from ..files import model_files
from .columns import Column
from .preparation import count_unseen, encode, to_frame
from .seen_rows import SeenRows
from .selection import BOOSTING, KERNEL, MODERATED, OPTIMISTIC
from .watch import Watch

#: What the model does to numbers, in words.
_NUMBERS = {
    MODERATED: "power transform, standardised",
    KERNEL: "standardised, and as normal scores of its ranks",
    OPTIMISTIC: "as it is",
}


class Interval(NamedTuple):
    """A number with the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether there is a number."""
        return self.value == self.value

    @property
    def percent(self) -> str:
        """The number as a percentage."""
        return percent(self.value)

    @property
    def percent_range(self) -> str:
        """The interval in percent."""
        return f"{100 * self.low:.1f} to {100 * self.high:.1f}" if self.is_known else "-"


def percent(fraction: float) -> str:
    """A fraction as a percentage; "-" where it is unknown."""
    return f"{100 * fraction:.1f} %" if fraction == fraction else "-"


UNKNOWN = Interval(float("nan"), float("nan"), float("nan"))


def proportion(count: int, of: int) -> Interval:
    """A fraction with Wilson's interval."""
    if not of:
        return UNKNOWN
    found = binomtest(count, of).proportion_ci(0.95, method="wilson")
    return Interval(count / of, float(found.low), float(found.high))


@dataclass(frozen=True)
class TableModel:
    """A model that was trained on a table, and the facts about both that `optiscore fit` saves."""

    #: From frames to labels.
    pipeline: Pipeline
    #: Which model it ends in.
    kind: str
    #: The models that were compared, on rows left out.
    tried: list[tuple[str, float, float]]
    #: Why this one was taken; empty where there was no choice.
    reason: str
    #: How rows were left out.
    how: str
    #: Other classifiers, trained on the same features.
    peers: dict[str, Any]
    #: Those that could not be trained, and why.
    failed_peers: dict[str, str]
    #: What drift is told by.
    watch: Watch
    #: What training rows are told by.
    seen: SeenRows
    #: The columns of the table.
    columns: list[Column]
    #: Names of the column of labels and of the file, and what stands before decimals in text files.
    target: str
    source: str
    decimal: str
    #: Numbers of rows with and without a label.
    n_rows: int
    n_unlabelled: int
    #: Number of random rows that stand for all in encodings and accuracy; None where these come from all rows.
    n_sampled: int | None
    #: Sorted by label.
    class_counts: list[tuple[Any, int]]
    #: Training rows by class and by prediction of models that have not seen them.
    confusion: list[list[int]]
    #: How many of these rows have a stability above 0.95, or a certified factor above 1; None where the model has
    #: neither.
    n_certain: int | None
    #: Training rows that are exact copies of earlier ones.
    n_copies: int
    #: Typicality that all but a few training rows have when they are left out.
    least_typical: float

    @property
    def classifier(self) -> Any:
        """The classifier at the end of the pipeline."""
        return self.pipeline[-1]

    @property
    def given_priors(self) -> list[float] | None:
        """Class probabilities that the user set, so that rows count by them; None where they are those of training."""
        return None if getattr(self.classifier, "priors", None) is None else list(self.classifier.priors_)

    @property
    def labels(self) -> list[str]:
        """The labels as text."""
        return [str(label) for label in self.classifier.classes_]

    @property
    def ids(self) -> list[str]:
        """Columns that tell rows apart and go into predictions."""
        return [column.name for column in self.columns if column.kind == "id"]

    @property
    def holds_rows(self) -> bool:
        """Whether the file has training rows in it."""
        return self.kind not in (MODERATED, OPTIMISTIC, BOOSTING)

    def treatment(self, column: Column) -> str:
        """Return the treatment of a column in words."""
        return column.treatment(_NUMBERS.get(self.kind, "as it is"))

    def frame(self, table: pa.Table, path: str) -> pd.DataFrame:
        """The columns that the model uses, in types that it knows."""
        return to_frame(table, self.columns, path)

    def features(self, frame: pd.DataFrame) -> np.ndarray:
        """Rows as the classifier sees them."""
        return encode(self.pipeline, frame)

    def count_unseen(self, frame: pd.DataFrame) -> dict[str, int]:
        """Rows with values of categories and texts that no training row had, by column."""
        return count_unseen(self.pipeline, frame)

    def with_priors(self, priors: Any) -> Self:
        """Return the model for other class probabilities."""
        *steps, (name, classifier) = self.pipeline.steps
        return replace(self, pipeline=Pipeline([*steps, (name, classifier.with_priors(priors))]))

    def save(self, path: str, trusted: Sequence[str] = ()) -> None:
        """Write a model file."""
        model_files.save(self, path, trusted=trusted)

    @classmethod
    def load(cls, path: str, trusted: Sequence[str] = ()) -> Self:
        """Read a model file."""
        model = model_files.load(path, trusted=trusted)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds an estimator without a table; use optiscore.load in Python.")
        try:
            model.try_one_row()
        # Whatever a damaged member leads to.
        except Exception as error:
            raise ValueError(f"{path} is refused: {' '.join(str(error).split())}") from error
        return model

    def try_one_row(self) -> None:
        """Refuse a model whose parts do not go together: a row of missing values gets no answer from one of them."""
        nothing = pa.nulls(1, pa.string())
        table = pa.table({column.name: nothing for column in self.columns})
        frame = self.frame(table, "a row of missing values")
        X = self.features(frame)
        for name, classifier in {"the classifier": self.classifier, **self.peers}.items():
            if not np.array_equal(classifier.classes_, self.classifier.classes_):
                raise ValueError(f"{name} knows other classes than the classifier")
            if not np.isfinite(classifier.predict_proba(X)).all():
                raise ValueError(f"{name} has no finite answer to a row")
        if len(self.watch.reference.counts) != len(self.labels):
            raise ValueError("what is watched must be known for every class")
        self.watch.compare(frame, np.zeros(1, dtype=np.intp), self.labels)

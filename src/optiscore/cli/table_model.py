"""A model that was trained on a table: the pipeline, what it is compared with, and what is known of the table."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from .. import io
from .preparation import Column, classifier_and_rows, to_frame


@dataclass(frozen=True)
class TableModel:
    """What `optiscore fit` saves.

    Parameters
    ----------
    pipeline : Pipeline
        From frames to labels.
    peers : dict of str to estimator
        Other classifiers, trained on the same features.
    groups : list
        Moments of the training rows by predicted label, for drift.
    columns : list of Column
        The columns of the table.
    target, source : str
        Names of the column of labels and of the file.
    n_rows, n_unlabelled : int
        Numbers of rows with and without a label.
    n_sampled : int or None
        Number of random rows that stand for all in encodings and accuracy; None where these come from all rows.
    class_counts : list of (label, number of rows)
        Sorted by label.
    fold_accuracies : list of float
        Accuracy on each fold of a cross-validation.
    """

    pipeline: Pipeline
    peers: dict[str, Any]
    groups: list[Any]
    columns: list[Column]
    target: str
    source: str
    n_rows: int
    n_unlabelled: int
    n_sampled: int | None
    class_counts: list[tuple[Any, int]]
    fold_accuracies: list[float]

    @property
    def classifier(self) -> Any:
        """The classifier at the end of the pipeline."""
        return self.pipeline[-1]

    def features(self, table: pa.Table, path: str) -> np.ndarray:
        """Rows of a table as the classifier sees them."""
        return classifier_and_rows(self.pipeline, to_frame(table, self.columns, path))[1]

    def save(self, path: str) -> None:
        """Write a model file: plain values and estimators."""
        state = {field.name: getattr(self, field.name) for field in fields(self)}
        state["columns"] = [list(column) for column in self.columns]
        state["class_counts"] = [list(pair) for pair in self.class_counts]
        io.save(state, path)

    @classmethod
    def load(cls, path: str) -> Self:
        """Read a model file."""
        state = io.load(path)
        names = {field.name for field in fields(cls)}
        if not isinstance(state, dict) or state.keys() != names or not isinstance(state["pipeline"], Pipeline):
            raise ValueError(f"{path} holds an estimator without a table; use optiscore.io.load in Python.")
        state["columns"] = [Column(*column) for column in state["columns"]]
        state["class_counts"] = [(label, count) for label, count in state["class_counts"]]
        return cls(**state)

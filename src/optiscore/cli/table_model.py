"""A model that was trained on a table: the pipeline, what it is compared with, and what is known of the table."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.pipeline import Pipeline

from .. import io
from ..moments.factors import check_covariance, check_mean
from .preparation import KINDS, Column, classifier_and_rows, to_frame


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
        try:
            check_table_state(state)
            state["columns"] = [Column(*column) for column in state["columns"]]
            state["class_counts"] = [(label, count) for label, count in state["class_counts"]]
            model = cls(**state)
            model.try_one_row()
        # Whatever a damaged member leads to.
        except Exception as error:
            raise ValueError(f"{path} is refused: {' '.join(str(error).split())}") from error
        return model

    def try_one_row(self) -> None:
        """Refuse a model whose parts do not go together: a row of missing values gets no answer from one of them."""
        nothing = pa.nulls(1, pa.string())
        X = self.features(pa.table({column.name: nothing for column in self.columns}), "a row of missing values")
        for name, classifier in {"the classifier": self.classifier, **self.peers}.items():
            if not np.array_equal(classifier.classes_, self.classifier.classes_):
                raise ValueError(f"{name} knows other classes than the classifier")
            if not np.isfinite(classifier.predict_proba(X)).all():
                raise ValueError(f"{name} has no finite answer to a row")
        for group in filter(None, self.groups):
            check_covariance(group[1], "a covariance in groups", len(check_mean(group[0], "a mean in groups")))
            if len(group[0]) != X.shape[1]:
                raise ValueError("groups must have as many features as the classifier")


def check_table_state(state: dict[str, Any]) -> None:
    """Refuse what cannot be known of a table."""
    for name in ("target", "source"):
        if not isinstance(state[name], str):
            raise ValueError(f"{name} must be text")
    for name in ("n_rows", "n_unlabelled"):
        if not _is_count(state[name]):
            raise ValueError(f"{name} must be a number >= 0")
    if not (state["n_sampled"] is None or _is_count(state["n_sampled"])):
        raise ValueError("n_sampled must be None or a number >= 0")
    for column in _check_list(state["columns"], "columns"):
        described = isinstance(column, list) and len(column) == 4 and isinstance(column[0], str)
        if not described or column[1] not in KINDS or not all(map(_is_count, column[2:])):
            raise ValueError("columns must be described by a name, a kind and two numbers each")
    for pair in _check_list(state["class_counts"], "class_counts"):
        if not (isinstance(pair, list) and len(pair) == 2 and _is_count(pair[1])):
            raise ValueError("class_counts must hold labels with numbers of rows")
    for accuracy in _check_list(state["fold_accuracies"], "fold_accuracies"):
        if not (isinstance(accuracy, float) and 0 <= accuracy <= 1):
            raise ValueError("fold_accuracies must lie between 0 and 1")
    if not isinstance(state["peers"], dict):
        raise ValueError("peers must be a dict")
    for group in _check_list(state["groups"], "groups"):
        if not (group is None or (isinstance(group, list) and len(group) == 2)):
            raise ValueError("groups must hold a mean and a covariance each")
    n_groups = len(state["pipeline"][-1].classes_) + 1
    if len(state["groups"]) != n_groups:
        raise ValueError(f"groups must have {n_groups} items, one per class and one for all rows")


def _check_list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list")
    return value


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0

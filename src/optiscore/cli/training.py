"""From a table to a trained model: classes, columns, the pipeline, what it reaches, and what it is compared with."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

from .. import io
from ..experiments.methods import linear_discriminant, logistic_regression
from .drift import training_groups
from .preparation import (
    Column,
    classifier_and_rows,
    describe,
    labelled_rows,
    labels_of,
    make_model,
    new_values_allowed,
    to_frame,
)
from .tables import read_table

#: A trained model as it is saved: the pipeline, what it is compared with, and what is known of the training table.
Trained = dict[str, Any]


def train(path: str, target: str, classifier: Any, seed: int) -> Trained:
    """Read a table and train on it."""
    whole = read_table(path)
    table, target_column = labelled_rows(whole, target, path)
    if not table.num_columns:
        raise ValueError(f"{path} has no column but {target!r}.")
    labels = labels_of(target_column)
    counts = _count(labels, target)
    columns = describe(table)
    frame = to_frame(table, columns, path)
    model = make_model(columns, classifier, seed)
    folds = StratifiedKFold(min(5, *counts.values()), shuffle=True, random_state=seed)
    with new_values_allowed():
        scores = cross_val_score(model, frame, labels, cv=folds, error_score="raise")
    # Encodings of text by the labels are cross-fitted for training; the others must be trained on the same.
    crossfitted = clone(model[:-1]).fit_transform(frame, labels)
    return {
        "pipeline": model.fit(frame, labels),
        "baselines": _baselines(crossfitted, labels),
        "groups": training_groups(*classifier_and_rows(model, frame)),
        "columns": [list(column) for column in columns],
        "target": target,
        "source": Path(path).name,
        "rows": len(labels),
        "rows without label": whole.num_rows - len(labels),
        "counts": [list(pair) for pair in counts.items()],
        "cross-validated accuracy": scores.tolist(),
    }


def _count(labels: np.ndarray, target: str) -> dict[Any, int]:
    found, sizes = np.unique(labels, return_counts=True)
    if len(found) < 2:
        raise ValueError(f"column {target!r} must hold at least two classes, got {found.tolist()}.")
    if len(found) > max(10, min(100, len(labels) // 2)):
        raise ValueError(
            f"column {target!r} has {len(found)} distinct values in {len(labels)} rows, too many for "
            f"classes: choose another target, or group them."
        )
    if sizes.min() < 2:
        lone = found[sizes.argmin()]
        raise ValueError(f"class {str(lone)!r} of column {target!r} has one row only: add rows or leave it out.")
    return dict(zip(found.tolist(), sizes.tolist(), strict=True))


def _baselines(X: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """QDA, LDA and logistic regression as scikit-learn has them; QDA with a little ridge, for singular classes."""
    makers = {
        "QDA": QuadraticDiscriminantAnalysis(reg_param=1e-3),
        "LDA": linear_discriminant(),
        "logistic": logistic_regression(),
    }
    fitted = {}
    for name, model in makers.items():
        # What these methods have to say about the columns is shown by their results.
        with warnings.catch_warnings(action="ignore"):
            try:
                fitted[name] = model.fit(X, labels)
            # A method that cannot be trained on these columns is left out of the comparison.
            except (ValueError, np.linalg.LinAlgError):
                continue
    return fitted


def columns_of(trained: Trained) -> list[Column]:
    """The columns that a trained model knows."""
    return [Column(*column) for column in trained["columns"]]


def load(path: str) -> Trained:
    """A trained model from its file."""
    trained = io.load(path)
    if not isinstance(trained, dict) or not isinstance(trained.get("pipeline"), Pipeline) or "groups" not in trained:
        raise ValueError(f"{path} holds an estimator without a table; use optiscore.io.load in Python.")
    return trained


def frame_of(trained: Trained, table: pa.Table, path: str) -> Any:
    """A table as the pipeline knows it."""
    return to_frame(table, columns_of(trained), path)

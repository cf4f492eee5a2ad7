"""From a table to a trained model: classes, columns, the pipeline, what it reaches, and what it is compared with."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .. import io
from .drift import training_groups
from .preparation import Column, describe, labels_of, make_model, new_values_allowed, to_frame, transform
from .tables import nearest, read_table

#: A trained model as it is saved: the pipeline, what it is compared with, and what is known of the training table.
Trained = dict[str, Any]


def train(path: str, target: str, classifier: Any, seed: int) -> Trained:
    """Read a table and train on it."""
    table = read_table(path)
    if target not in table.column_names:
        raise ValueError(f"{path} has no column {target!r}.{nearest(target, table.column_names)}")
    labelled = pc.is_valid(table[target])
    dropped = table.num_rows - pc.sum(labelled).as_py()
    table = table.filter(labelled)
    labels = labels_of(table[target])
    table = table.drop_columns([target])
    if not table.num_columns:
        raise ValueError(f"{path} has no column but {target!r}.")
    counts = _count(labels, target)
    columns = describe(table)
    frame = to_frame(table, columns, path)
    model = make_model(columns, classifier, seed)
    folds = StratifiedKFold(min(5, *counts.values()), shuffle=True, random_state=seed)
    with new_values_allowed():
        scores = cross_val_score(model, frame, labels, cv=folds, error_score="raise")
    model.fit(frame, labels)
    # Encodings of text by the labels are cross-fitted for training; the others must be trained on the same.
    crossfitted = clone(model[:-1]).fit_transform(frame, labels)
    return {
        "pipeline": model,
        "baselines": _baselines(crossfitted, labels),
        "groups": training_groups(model[-1], transform(model, frame)),
        "columns": [list(column) for column in columns],
        "target": target,
        "source": Path(path).name,
        "rows": len(labels),
        "rows without label": dropped,
        "counts": [[_plain(label), count] for label, count in counts.items()],
        "cross-validated accuracy": scores.tolist(),
        "seed": seed,
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
    return dict(zip(found, sizes.tolist(), strict=True))


def _baselines(X: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """QDA, LDA and logistic regression as scikit-learn has them; QDA with a little ridge, for singular classes."""
    makers = {
        "QDA": QuadraticDiscriminantAnalysis(reg_param=1e-3),
        "LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    }
    fitted = {}
    for name, model in makers.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label

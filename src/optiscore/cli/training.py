"""From a table to a trained model: classes, columns, the pipeline, what it reaches, and what it is compared with."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

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
    labelled_rows,
    labels_of,
    make_model,
    new_values_allowed,
    to_frame,
)
from .survey import Survey
from .tables import read_blocks

#: A trained model as it is saved: the pipeline, what it is compared with, and what is known of the training table.
Trained = dict[str, Any]


#: Given what is being done, a context that yields a function to tell how many more rows are done.
Watch: TypeAlias = Callable[[str], AbstractContextManager[Callable[[int], None]]]


def train(path: str, target: str, classifier: Any, seed: int, watch: Watch) -> Trained:
    """Read a table and train on it; beyond what memory shall hold, block by block if the classifier can."""
    with watch("reading") as advance:
        survey = Survey(path, target, may_sample=hasattr(classifier, "partial_fit"), seed=seed, advance=advance)
    _check_counts(survey.counts, target)
    columns, labels = survey.columns, survey.labels
    frame = to_frame(survey.table, columns, path)
    model = make_model(columns, classifier, seed)
    folds = StratifiedKFold(min(5, *np.unique(labels, return_counts=True)[1]), shuffle=True, random_state=seed)
    with new_values_allowed():
        scores = cross_val_score(model, frame, labels, cv=folds, error_score="raise")
    # Encodings of text by the labels are cross-fitted for training; the others must be trained on the same.
    crossfitted = clone(model[:-1]).fit_transform(frame, labels)
    model.fit(frame, labels)
    if not survey.is_whole:
        with watch("training") as advance:
            model.set_params(classifier=_fit_blocks(model, columns, path, target, survey.counts, advance))
    return {
        "pipeline": model,
        "baselines": _baselines(crossfitted, labels),
        "groups": training_groups(*classifier_and_rows(model, frame)),
        "columns": [list(column) for column in columns],
        "target": target,
        "source": Path(path).name,
        "rows": survey.n_rows,
        "sampled rows": None if survey.is_whole else len(labels),
        "rows without label": survey.n_unlabelled,
        "counts": [list(pair) for pair in survey.counts.items()],
        "cross-validated accuracy": scores.tolist(),
    }


def _fit_blocks(
    model: Pipeline,
    columns: list[Column],
    path: str,
    target: str,
    counts: dict[Any, int],
    advance: Callable[[int], None],
) -> Any:
    """The classifier of a pipeline, trained on all rows; their encodings are those of the pipeline."""
    classes = np.array(list(counts))
    classifier = clone(model[-1])
    for block in read_blocks(path):
        rows = labelled_rows(block, target, path)
        if rows.num_rows:
            with new_values_allowed():
                X = model[:-1].transform(to_frame(rows, columns, path))
            classifier.partial_fit(X, labels_of(rows[target], classes.dtype.kind == "i"), classes)
        advance(block.num_rows)
    return classifier


def _check_counts(counts: dict[Any, int], target: str) -> None:
    n_rows = sum(counts.values())
    if len(counts) < 2:
        raise ValueError(f"column {target!r} must hold at least two classes, got {list(counts)}.")
    if len(counts) > max(10, min(100, n_rows // 2)):
        raise ValueError(
            f"column {target!r} has {len(counts)} distinct values in {n_rows} rows, too many for "
            f"classes: choose another target, or group them."
        )
    lone = min(counts, key=counts.__getitem__)
    if counts[lone] < 2:
        raise ValueError(f"class {str(lone)!r} of column {target!r} has one row only: add rows or leave it out.")


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

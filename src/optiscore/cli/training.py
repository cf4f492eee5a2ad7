"""From a table to a trained model: classes, columns, the pipeline, what it reaches, and what it is compared with."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline

from ..classifiers.peers import linear_discriminant, logistic_regression, quadratic_discriminant
from ..drift import training_groups
from .preparation import (
    Column,
    classifier_and_rows,
    labelled_rows,
    labels_of,
    make_model,
    new_values_allowed,
    to_frame,
)
from .survey import survey_table
from .table_model import TableModel
from .tables import read_blocks

#: Given what is being done, a context that yields a function to tell how many more rows are done.
Watch: TypeAlias = Callable[[str], AbstractContextManager[Callable[[int], None]]]


def train(path: str, target: str, classifier: Any, seed: int, watch: Watch) -> TableModel:
    """Read a table and train on it; beyond what memory shall hold, block by block if the classifier can."""
    with watch("reading") as advance:
        may_sample = hasattr(classifier, "partial_fit")
        survey = survey_table(path, target, may_sample=may_sample, seed=seed, advance=advance)
    _check_counts(survey.counts, target)
    columns, labels = survey.columns, survey.labels
    frame = to_frame(survey.table, columns, path)
    model = make_model(columns, classifier, seed)
    folds = StratifiedKFold(min(5, *np.unique(labels, return_counts=True)[1]), shuffle=True, random_state=seed)
    # Encodings of text by the labels are cross-fitted here: the classifier and the others are trained on the same.
    features = model[:-1].fit_transform(frame, labels)
    model[-1].fit(features, labels)
    with new_values_allowed():
        # Only such encodings know the labels, and must not know those of the rows that judge.
        judged = (model, frame) if any(column.kind == "text" for column in columns) else (model[-1], features)
        scores = cross_val_score(*judged, labels, cv=folds, error_score="raise")
    if not survey.is_whole:
        with watch("training") as advance:
            model.set_params(classifier=_fit_blocks(model, columns, path, target, survey.counts, advance))
    return TableModel(
        pipeline=model,
        peers=_fit_peers(features, labels),
        groups=training_groups(*classifier_and_rows(model, frame)),
        columns=columns,
        target=target,
        source=Path(path).name,
        n_rows=survey.n_rows,
        n_unlabelled=survey.n_unlabelled,
        n_sampled=None if survey.is_whole else len(labels),
        class_counts=list(survey.counts.items()),
        fold_accuracies=scores.tolist(),
    )


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


def _fit_peers(X: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """QDA, LDA and logistic regression as scikit-learn has them."""
    makers = {"QDA": quadratic_discriminant, "LDA": linear_discriminant, "logistic": logistic_regression}
    fitted = {}
    for name, make in makers.items():
        # What these methods have to say about the columns is shown by their results.
        with warnings.catch_warnings(action="ignore"):
            try:
                fitted[name] = make().fit(X, labels)
            # A method that cannot be trained on these columns is left out of the comparison.
            except (ValueError, np.linalg.LinAlgError):
                continue
    return fitted

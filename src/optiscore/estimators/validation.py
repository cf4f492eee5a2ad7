"""Labelled samples as users give them, checked: a training set in memory, or one block of it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..moments.labelled import (
    TrainingSet,
    check_targets_of_block,
    check_two_classes,
    check_weights,
    comparing_labels,
    encode_labels,
)
from ..numerics.arrays import Array, float_types, to_host
from ..numerics.types import FloatArray


def validate_training(estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
    """The samples that count; samples of weight 0 are left out, and labels that have no others."""
    return validate_all(estimator, X, y, sample_weight).counted()


def validate_all(estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> TrainingSet:
    """All samples, with the labels of those that count."""
    points, given = validate_data(estimator, X, y, dtype=float_types(X))
    labels = to_host(given)
    with comparing_labels():
        check_classification_targets(labels)
    weight = None if sample_weight is None else check_weights(to_host(sample_weight), labels)
    classes, codes = encode_labels(labels)
    if weight is not None:
        present = np.bincount(codes, weights=weight) > 0
        classes, codes = classes[present], np.where(present, np.cumsum(present) - 1, -1)[codes]
    check_two_classes(classes)
    return TrainingSet(points, codes, classes, weight)


def validate_block(
    estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
) -> tuple[Array, np.ndarray, FloatArray | None]:
    """Samples where they are, and on the host labels and weights where there are any."""
    points, given = validate_data(estimator, X, y, dtype=float_types(X), reset=reset)
    labels = to_host(given)
    with comparing_labels():
        check_targets_of_block(np.unique(labels))
    if sample_weight is None:
        return points, labels, None
    return points, labels, check_weights(to_host(sample_weight), labels, may_all_be_zero=True)


def check_known_labels(labels: np.ndarray, classes: np.ndarray) -> None:
    """Refuse labels that are not among the classes."""
    if unknown := sorted(set(labels.tolist()) - set(classes.tolist())):
        listed = f"{unknown[:5]}{' and more' if len(unknown) > 5 else ''}"
        raise ValueError(f"y holds labels that are not in classes {classes.tolist()}: {listed}.")

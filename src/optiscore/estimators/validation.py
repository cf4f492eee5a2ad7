"""Checks of what users give: labelled samples, in memory or block by block, and class probabilities."""

from collections.abc import Mapping, Sequence
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


def validate_training(
    estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, keep_all: bool = False
) -> TrainingSet:
    """Return the samples that count: those of weight 0 are left out, unless all are kept, and labels without others."""
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
    training = TrainingSet(points, codes, classes, weight)
    return training if weight is None or keep_all else training.counted()


def validate_block(
    estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
) -> tuple[Array, np.ndarray, FloatArray | None]:
    """Return samples where they are, and on the host labels and weights where there are any."""
    points, given = validate_data(estimator, X, y, dtype=float_types(X), reset=reset)
    labels = to_host(given)
    with comparing_labels():
        check_targets_of_block(np.unique(labels))
    if sample_weight is None:
        return points, labels, None
    return points, labels, check_weights(to_host(sample_weight), labels, may_all_be_zero=True)


def check_known_labels(labels: np.ndarray, classes: np.ndarray) -> None:
    """Raise if there are labels that are not among the classes."""
    if unknown := sorted(set(labels.tolist()) - set(classes.tolist())):
        listed = f"{unknown[:5]}{' and more' if len(unknown) > 5 else ''}"
        raise ValueError(f"y holds labels that are not in classes {classes.tolist()}: {listed}.")


def resolve_priors(priors: Any, labels: Sequence[Any], class_count: FloatArray) -> FloatArray:
    """Return class probabilities: those given, as an array or by label, equal ones, or the fractions of the samples."""
    if priors is None:
        return class_count / class_count.sum()
    return check_priors(by_label(priors, labels, "priors"), len(labels))


def check_priors(priors: Any, n_classes: int | None = None) -> FloatArray:
    """Return probabilities that sum to 1; before labels are known, whether they can be."""
    if isinstance(priors, str):
        if priors != "equal":
            raise ValueError(f"priors must be 'equal', numbers, a dict by label or None, got {priors!r}.")
        return np.full(n_classes or 2, 1 / (n_classes or 2))
    given = numbers_per_class(list(priors.values()) if isinstance(priors, Mapping) else priors, "priors", n_classes)
    if not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
        raise ValueError(f"priors must be positive and sum to 1, got {given.tolist()} with sum {given.sum():g}.")
    return given / given.sum()


def by_label(values: Any, labels: Sequence[Any], name: str) -> Any:
    """Return the values of a dict in the order of the labels, and anything else as it is."""
    if not isinstance(values, Mapping):
        return values
    if set(values) != set(labels):
        listed, given = (
            [each.item() if isinstance(each, np.generic) else each for each in v] for v in (labels, values)
        )
        raise ValueError(f"{name} must have one entry per class {listed}, got the labels {given}.")
    return [values[label] for label in labels]


def numbers_per_class(values: Any, name: str, n_classes: int | None) -> FloatArray:
    """Return one finite number per class, of which there may be any number."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {values!r}.") from None
    if n_classes is not None and array.shape != (n_classes,):
        raise ValueError(f"{name} must hold one number for each of the {n_classes} classes, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers, got {values!r}.")
    return array

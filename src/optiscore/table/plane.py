"""A picture of rows in two dimensions: the plane in which the predicted classes differ most, or the two features."""

from typing import Any, NamedTuple

import numpy as np

from ..numerics.types import FloatArray
from .answers import abstentions, ask


class Picture(NamedTuple):
    """Coordinates of rows, names of the axes, and the decisions behind them where the plane is all there is."""

    #: Where the rows lie; of shape (n_rows, 2).
    coordinates: FloatArray
    #: What the axes are.
    axes: tuple[str, str]
    #: A grid: "x", "y", predicted classes and whether the model decides there, if the rows have two features.
    background: dict[str, Any] | None


def draw(classifier: Any, X: FloatArray, predicted: np.ndarray, names: list[str], thresholds: Any) -> Picture | None:
    """The picture of rows; None where they have one feature only."""
    if X.shape[1] < 2:
        return None
    if X.shape[1] == 2:
        return Picture(X, (names[0], names[1]), regions(classifier, X, thresholds))
    axes = ("first discriminant direction", "second direction")
    return Picture(discriminant_coordinates(X, predicted), axes, None)


def discriminant_coordinates(X: FloatArray, groups: np.ndarray) -> FloatArray:
    """The first two discriminant directions; where there is one only, the second is that of the largest spread.

    In coordinates in which the spread within the groups is the identity, the means lie in the directions of the largest
    spread between them.
    """
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    members = groups[:, None] == np.unique(groups)
    means = (members / members.sum(axis=0)).T @ Z
    within = Z - members @ means
    values, vectors = np.linalg.eigh(within.T @ within / len(Z) + 0.05 * np.eye(Z.shape[1]))
    whitened = Z @ vectors / np.sqrt(values)
    centres = members @ ((members / members.sum(axis=0)).T @ whitened)
    first = _leading(centres) if members.shape[1] > 1 else _leading(whitened)
    rest = np.eye(Z.shape[1]) - np.outer(first, first)
    second = _leading((centres if members.shape[1] > 2 else Z @ vectors) @ rest)
    return whitened @ np.stack([first, second]).T


def _leading(rows: FloatArray) -> FloatArray:
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][0]


def regions(classifier: Any, X: FloatArray, thresholds: Any, resolution: int = 120) -> dict[str, Any]:
    """Predicted classes, and where the model decides, on a grid around rows of two features."""
    low, high = np.quantile(X, [0.005, 0.995], axis=0)
    margin = 0.15 * (high - low) + 1e-9
    x, y = (np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True))
    answers = ask(classifier, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    decided = abstentions(answers.certainty, thresholds) == ""
    shape = resolution, resolution
    return {"x": x, "y": y, "labels": answers.predicted.reshape(shape), "decided": decided.reshape(shape)}

"""A plane through the feature space that shows the classes best, and the decisions on it."""

from typing import Any, NamedTuple

import numpy as np

from ..numerics.types import FloatArray
from ..plotting.pipelines import decisions


class Plane(NamedTuple):
    """Points centre + a basis_0 + b basis_1; the coordinates (a, b) of a sample x are directions' (x - centre)."""

    centre: FloatArray
    basis: FloatArray
    directions: FloatArray

    def project(self, X: FloatArray) -> FloatArray:
        """Coordinates of samples."""
        return (X - self.centre) @ self.directions.T

    def points(self, coordinates: FloatArray) -> FloatArray:
        """Samples at coordinates."""
        return self.centre + coordinates @ self.basis


def discriminant_plane(model: Any) -> Plane:
    """The first two discriminant directions; with two classes, the second is where the spreads differ most.

    In coordinates in which the pooled covariance is the identity, the means lie in the directions of the largest
    between-class scatter.
    """
    priors, means, covariances = model.priors_, model.means_, model.covariances_
    lower = np.linalg.cholesky(np.tensordot(priors, covariances, axes=1))
    whiten = np.linalg.inv(lower)
    centre = priors @ means
    deviations = (means - centre) @ whiten.T
    between = (priors[:, None] * deviations).T @ deviations
    shapes = whiten @ covariances @ whiten.T - np.eye(means.shape[1])
    unlike = np.tensordot(priors, shapes @ shapes, axes=1)
    first = _leading(between)
    rest = np.eye(len(first)) - np.outer(first, first)
    across = rest @ between @ rest
    second = _leading(across if np.trace(across) > 1e-9 * np.trace(between) else rest @ unlike @ rest + 1e-12 * rest)
    axes = np.stack([first, second])
    return Plane(centre, axes @ lower.T, axes @ whiten)


def _leading(matrix: FloatArray) -> FloatArray:
    return np.linalg.eigh(matrix)[1][:, -1]


def regions(model: Any, plane: Plane, coordinates: FloatArray, resolution: int = 120) -> dict[str, Any]:
    """Predicted classes and certified points on a grid around coordinates."""
    low, high = np.quantile(coordinates, [0.005, 0.995], axis=0)
    margin = 0.25 * (high - low) + 1e-9
    x, y = (np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True))
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    labels, certified = (part.reshape(resolution, resolution) for part in decisions(model, plane.points(grid)))
    return {"x": x, "y": y, "labels": labels, "certified": certified}

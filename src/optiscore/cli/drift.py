"""Is the data at hand still what the model was trained on? The divergence of its moments, against the radii."""

from typing import Any, NamedTuple

import numpy as np

from ..covariance import standardised_ledoit_wolf
from ..divergence import moment_divergence
from ..radii import clt_radius


class Drift(NamedTuple):
    """Divergence of a group of rows from the training moments, and what it is compared with.

    The radius covers the error of the training moments. Moments of few rows are off by chance, too: their own radius
    is the allowance for that.
    """

    group: str
    rows: int
    divergence: float | None
    radius: float
    allowance: float | None

    @property
    def verdict(self) -> str:
        """In words."""
        if self.divergence is None or self.allowance is None:
            return "too few rows to tell"
        if self.divergence <= self.radius:
            return "inside the ball that the guarantee covers"
        if self.divergence <= self.radius + self.allowance:
            return "outside, but by no more than so few rows are off by chance"
        return "outside the ball: the guarantee does not cover these rows"


def measure_drift(model: Any, X: np.ndarray, predicted: np.ndarray, n_training: int) -> list[Drift]:
    """Per class, by predicted label, and for all rows against the mixture of the classes."""
    groups = [
        _drift(f"predicted {label}", X[predicted == c], model.means_[c], model.covariances_[c], float(model.radii_[c]))
        for c, label in enumerate(model.classes_)
    ]
    mean = model.priors_ @ model.means_
    spread = model.means_ - mean
    within = np.tensordot(model.priors_, model.covariances_, axes=1)
    mixture = within + (model.priors_[:, None] * spread).T @ spread
    return [*groups, _drift("all rows", X, mean, mixture, clt_radius(n_training, X.shape[1]))]


def _drift(group: str, X: np.ndarray, mean: np.ndarray, covariance: np.ndarray, radius: float) -> Drift:
    n, d = X.shape
    if n < d + 2:
        return Drift(group, n, None, radius, None)
    here = X.mean(axis=0)
    unit = np.sqrt(np.diagonal(covariance))
    S = standardised_ledoit_wolf(X, here, unit)
    return Drift(group, n, float(moment_divergence(mean, covariance, here, S)), radius, clt_radius(n, d))

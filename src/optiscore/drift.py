"""Is the data at hand still what the model was trained on? The divergence of its moments, against the radii."""

from typing import Any, NamedTuple

import numpy as np

from .ambiguity.divergence import moment_divergence
from .ambiguity.radii import clt_radius, empirical_radius
from .moments.covariance import standardised_ledoit_wolf
from .moments.sums import MomentSums

_MAX_SIMULATED = 5_000


class Drift(NamedTuple):
    """Divergence of a group of rows from the training moments, and what it is compared with.

    The radius covers the error of the training moments. The moments of few rows are off by chance, too: the allowance
    is what 95 of 100 such groups stay below that come from the training moments, enlarged for tails that are heavier
    than Gaussian ones.
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


def training_groups(model: Any, X: np.ndarray) -> list[Any]:
    """Mean and covariance of the training rows by predicted label, and of all of them.

    Rows that are predicted as a class are not the class: what lies beyond the boundary is cut off. Later rows are
    therefore compared with the training rows that got the same label.
    """
    predicted = model.predict(X)
    parts = [*(X[predicted == label] for label in model.classes_), X]
    return [_moments(part) if len(part) >= 2 else None for part in parts]


def _moments(X: np.ndarray) -> list[Any]:
    sums = MomentSums.from_samples(X)
    return [sums.mean, standardised_ledoit_wolf(sums, np.ones(X.shape[1]))]


def measure_drift(model: Any, groups: list[Any], n_training: int, X: np.ndarray) -> list[Drift]:
    """Per class, by predicted label, and for all rows."""
    predicted = model.predict(X)
    names = [f"predicted {label}" for label in model.classes_]
    parts = [X[predicted == label] for label in model.classes_]
    radii = [*model.radii_.tolist(), clt_radius(n_training, X.shape[1])]
    together = zip([*names, "all rows"], [*parts, X], groups, radii, strict=True)
    return [_drift(name, part, group, radius) for name, part, group, radius in together]


def _drift(name: str, X: np.ndarray, group: Any, radius: float) -> Drift:
    n, d = X.shape
    if group is None or n < d + 2:
        return Drift(name, n, None, radius, None)
    mean, covariance = group
    found = _divergence(X, mean, covariance)
    tails = empirical_radius(X, mean=X.mean(axis=0), covariance=covariance) / clt_radius(n, d)
    return Drift(name, n, found, radius, _by_chance(n, mean, covariance) * max(1.0, tails))


def _divergence(X: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float:
    sums = MomentSums.from_samples(X)
    S = standardised_ledoit_wolf(sums, np.sqrt(np.diagonal(covariance)))
    return float(moment_divergence(mean, covariance, sums.mean, S))


def _by_chance(n: int, mean: np.ndarray, covariance: np.ndarray) -> float:
    """95 % quantile of the divergence of n Gaussian samples; of many, that of fewer, since it falls as 1/n."""
    rng, m = np.random.default_rng(0), min(n, _MAX_SIMULATED)
    lower = np.linalg.cholesky(covariance)
    drawn = [_divergence(mean + rng.normal(size=(m, len(mean))) @ lower.T, mean, covariance) for _ in range(60)]
    return float(np.quantile(drawn, 0.95)) * m / n

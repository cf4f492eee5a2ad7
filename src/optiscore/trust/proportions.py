"""Proportions of the classes among new rows without labels, from a classifier's probabilities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import helmert
from scipy.special import chdtrc, ndtri

from ..numerics.types import FloatArray

# Rows in the training proportions that are added: of few rows, small classes would vanish.
_PSEUDO_ROWS = 10.0

_ROUNDS, _TOLERANCE = 2000, 1e-9

_LEVEL = 0.9


@dataclass(frozen=True, eq=False)
class ClassProportions:
    """Estimated proportions of the classes, which print as a table; `priors` is what `with_priors` takes.

    Attributes
    ----------
    labels : sequence
        Labels of the classes.
    training : ndarray of shape (n_classes,)
        Proportions in training.
    priors : ndarray of shape (n_classes,)
        Proportions among the new rows.
    low, high : ndarray of shape (n_classes,)
        Ends of their 90 % intervals.
    p_value : float
        How often as much would be seen if the proportions were those of training.
    """

    labels: Sequence[Any]
    training: FloatArray
    priors: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: float

    def __str__(self) -> str:
        """Return a table in percent, and the p-value of no change."""
        width = max(5, *(len(str(label)) for label in self.labels))
        columns = (self.training, self.priors, self.low, self.high)
        rows = [
            f"{label!s:<{width}}" + "".join(f"{100 * column[k]:10.1f}" for column in columns)
            for k, label in enumerate(self.labels)
        ]
        head = f"{'class':<{width}}" + "".join(f"{name:>10}" for name in ("training", "new", "from", "to"))
        return "\n".join([head, *rows, f"p-value of no change: {self.p_value:.2g}"])


def estimate_proportions(
    proba: FloatArray, left_out: FloatArray, weights: FloatArray, labels: Sequence[Any]
) -> ClassProportions:
    """Return the proportions w of new rows with probabilities p (n_rows, n_classes) of a calibrated classifier.

    The mean log of sum_k p_k w_k/pi_k is largest, pi the mean of left-out probabilities of training rows, with ten more
    rows in the training proportions (Saerens, Latinne, Decaestecker 2002, with a prior). Within each class nothing must
    have changed. The p-value is that of the difference of mean probabilities, whose covariance the left-out ones tell;
    weights say what each of these stands for.
    """
    weights = weights / weights.max()
    # A class of hardly any rows has half a row at least.
    pi = np.maximum(np.average(left_out, axis=0, weights=weights), 0.5 / len(left_out))
    pi /= pi.sum()
    ratio = np.maximum(proba, 1e-12) / pi
    w = pi
    for _ in range(_ROUNDS):
        share = ratio * w
        share /= share.sum(axis=1, keepdims=True)
        new = (share.sum(axis=0) + _PSEUDO_ROWS * pi) / (len(proba) + _PSEUDO_ROWS)
        done, w = np.abs(new - w).max() < _TOLERANCE, new
        if done:
            break
    low, high = _interval(ratio, w, pi)
    return ClassProportions(labels, pi, w, low, high, _p_value(proba, left_out, weights))


def _interval(ratio: FloatArray, w: FloatArray, pi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ends from the curvature of the posterior, on the scale of log odds."""
    B = helmert(len(w)).T
    u = ratio / (ratio @ w)[:, None]
    curvature = B.T @ (u.T @ u + np.diag(_PSEUDO_ROWS * pi / w**2)) @ B
    variance = np.einsum("ki,ij,kj->k", B, np.linalg.inv(curvature), B)
    middle, reach = np.log(w) - np.log1p(-w), ndtri(0.5 + 0.5 * _LEVEL) * np.sqrt(variance) / (w * (1 - w))
    low, high = (1 / (1 + np.exp(-(middle + sign * reach).clip(-700, 700))) for sign in (-1, 1))
    return low, high


def _p_value(proba: FloatArray, left_out: FloatArray, weights: FloatArray) -> float:
    B = helmert(proba.shape[1]).T
    apart = B.T @ (proba.mean(axis=0) - np.average(left_out, axis=0, weights=weights))
    # Rows of unequal weights are worth as many fewer.
    n_effective = weights.sum() ** 2 / np.square(weights).sum()
    spread = np.atleast_2d(np.cov(left_out @ B, rowvar=False, aweights=weights))
    # Of a class that left-out rows say nothing of, the proportion is known to a row.
    spread = spread * (1 / len(proba) + 1 / n_effective) + np.eye(len(B.T)) / n_effective**2
    values, vectors = np.linalg.eigh(spread)
    kept = values > 1e-9 * max(values.max(), 1e-300)
    return float(chdtrc(kept.sum(), np.sum((vectors.T @ apart)[kept] ** 2 / values[kept]))) if kept.any() else 1.0

"""Calibration of any classifier's probabilities by few numbers, drawn towards none at all, and whether it pays.

With z_k = b log p_k + a_k, probabilities are the softmax of z: one slope b, and an intercept a_k for each class. The
log loss of left-out rows plus the penalty of a Gaussian prior on log b and on the intercepts is least. Of two classes
this is a slope and an intercept on the log odds.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize

from ..numerics.types import FloatArray
from ..trust.probabilities import normalise

# Standard deviations of the prior of log b and of an intercept, for so many rows; of more rows the prior fades.
_SLOPE, _INTERCEPT = 0.5, 0.3

# Parts that calibration is tried on, fitted to the others.
_N_PARTS = 5

# A gain of the log loss is believed from so many standard errors on.
_CHANCE = 1.0

# Probabilities below this part of a row say no more.
_LEAST = 0.01


class VectorScaling(NamedTuple):
    """Slope of log probabilities, intercepts of the classes, and the least probability that is told from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.crossfit.calibration import VectorScaling
    >>> half = VectorScaling(0.5, np.zeros(2), 1e-6)
    >>> half(np.array([[0.9, 0.1]])).round(2)
    array([[0.75, 0.25]])
    """

    slope: float
    intercepts: FloatArray
    least: float

    @classmethod
    def fit(cls, proba: FloatArray, codes: np.ndarray, weights: FloatArray, *, has_intercepts: bool = True) -> Self:
        """Return the scaling of least penalised log loss of left-out probabilities (n_rows, n_classes)."""
        n, K = proba.shape
        least = least_probability(weights)
        L, rows, total = np.log(np.maximum(proba, least)), np.arange(n), weights.sum()

        def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
            b, a = np.exp(parameters[0]), parameters[1:]
            log_p = normalise((b * L + a).T).T
            missing = np.exp(log_p) * weights[:, None]
            missing[rows, codes] -= weights
            penalty = 0.5 * (parameters[0] / _SLOPE) ** 2 + 0.5 * np.square(a / _INTERCEPT).sum()
            slope = np.array([b * np.sum(missing * L) + parameters[0] / _SLOPE**2])
            gradient = np.concatenate([slope, missing.sum(axis=0) + a / _INTERCEPT**2])
            if not has_intercepts:
                gradient[1:] = 0
            return float(penalty - weights @ log_p[rows, codes]) / total, gradient / total

        found = minimize(loss, np.zeros(K + 1), jac=True, method="L-BFGS-B", options={"maxiter": 200})
        return cls(float(np.exp(found.x[0])), found.x[1:], least)

    def __call__(self, proba: FloatArray) -> FloatArray:
        """Return calibrated probabilities."""
        return np.exp(normalise((self.slope * np.log(np.maximum(proba, self.least)) + self.intercepts).T).T)


class Calibrator(NamedTuple):
    """An object with fit and predict, as a calibration."""

    fitted: Any

    def __call__(self, proba: FloatArray) -> FloatArray:
        """Return what it predicts."""
        return np.asarray(self.fitted.predict(proba), dtype=np.float64)


def choose_calibration(
    proba: FloatArray, codes: np.ndarray, weights: FloatArray, fold: np.ndarray
) -> VectorScaling | None:
    """Return a scaling where it lessens the log loss of rows that it was not fitted to by more than chance, or None.

    Rows of one fold are in one part: what hangs together stays together.
    """
    least = least_probability(weights)
    plain = losses_of(proba, codes, least)
    scaled = np.empty_like(plain)
    parts = fold % _N_PARTS
    for part in np.unique(parts):
        there, here = parts != part, parts == part
        if not there.any():
            return None
        scaling = VectorScaling.fit(proba[there], codes[there], weights[there])
        scaled[here] = losses_of(scaling(proba[here]), codes[here], least)
    if not is_gain(plain - scaled, weights):
        return None
    return VectorScaling.fit(proba, codes, weights)


def is_gain(gain: FloatArray, weights: FloatArray) -> bool:
    """Return whether the mean of gains is above 0 by more than chance; weights sum to what the rows are worth."""
    mean = np.average(gain, weights=weights)
    error = np.sqrt(np.average(np.square(gain - mean), weights=weights) / weights.sum())
    return bool(mean > _CHANCE * error)


def least_probability(weights: FloatArray) -> float:
    """Return the least probability that is told from 0: a hundredth of a row."""
    return float(_LEAST / weights.sum())


def losses_of(proba: FloatArray, codes: np.ndarray, least: float) -> FloatArray:
    """Return log losses of rows, where no probability is below the least one."""
    return -np.log(np.maximum(proba[np.arange(len(codes)), codes], least))

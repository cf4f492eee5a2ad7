"""The certified radius: how far all ambiguity sets may grow before a decision can be wrong."""

import numpy as np

from ._typing import FloatArray
from .model import ScoreModel
from .rootfinding import find_root
from .scores import RADIUS_CEILING, Side

# The factor is searched from where the largest radius is negligible to where scores saturate, in a safe range.
_SMALLEST_RADIUS, _LARGEST_FACTOR = 1e-30, 1e250

# The smallest positive number that is safe to divide.
_NOTHING = 1e-300


def largest_certified_factor(
    model: ScoreModel, alpha: FloatArray, decided: np.ndarray, log_priors: FloatArray
) -> FloatArray:
    """The largest common factor s on the radii under which each decision stays certified.

    The decision for class a is certified if log pi_a + log f_a^min > log pi_b + log f_b^max for all b != a, with the
    radii s rho_c. The margin decreases in s, since the worst score falls and the best ones rise.

    Parameters
    ----------
    model : ScoreModel
        Scores, radii and volumes.
    alpha : ndarray of shape (n_classes, n_samples)
        Squared distances.
    decided : ndarray of shape (n_samples,)
        The decided classes.
    log_priors : ndarray of shape (n_classes,)
        Log class probabilities.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 where the nominal decision is another one, infinity where the decision is certified for every factor.
    """
    alpha, n = alpha.astype(np.float64), decided.size
    weights = log_priors + model.log_volumes

    def margin(s: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        return _margin(model, s, alpha[:, samples], decided[samples], weights)

    everyone = np.arange(n)
    nominal = margin(np.zeros(n), everyone)[0]
    factor = np.where(nominal > 0, np.inf, 0.0)
    widest = float(model.radii.max())
    if widest == 0:
        return factor
    reach = np.log(_LARGEST_FACTOR)
    low, high = np.clip(np.log([_SMALLEST_RADIUS, RADIUS_CEILING]) - np.log(widest), -reach, reach)
    at_low, at_high = (margin(np.full(n, np.exp(z)), everyone)[0] for z in (low, high))
    factor[at_low <= 0] = 0.0
    inside = np.flatnonzero((at_low > 0) & (at_high <= 0))

    def used_up(z: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Logarithm of the share of the nominal margin that is lost at s = exp(z): nearly straight in z."""
        s = np.exp(z)
        left, decrease = margin(s, samples)
        lost = np.maximum(nominal[samples] - left, _NOTHING)
        share = np.log(lost) - np.log(nominal[samples])
        # A margin that stays at 0 was used up where it first got there: the search has to go on to the left.
        return np.where(left == 0, _NOTHING, share), s * (decrease / lost)

    roots = find_root(used_up, np.full(inside.size, low), np.full(inside.size, high), (inside,))
    if not roots.converged.all():
        raise ArithmeticError("a certified radius was not found; please report the model and the sample.")
    factor[inside] = np.exp(roots.root)
    return factor


def _margin(
    model: ScoreModel, s: FloatArray, alpha: FloatArray, decided: np.ndarray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Worst log score of the decided class minus the best of its rivals, and the margin's decrease per unit of s."""
    best, rise = np.empty(alpha.shape), np.empty(alpha.shape)
    worst, fall = np.empty(s.size), np.empty(s.size)
    for c, rho in enumerate(model.radii):
        mine = decided == c
        best[c], rise[c] = _log_score(model, "optimistic", s, rho, alpha[c])
        worst[mine], fall[mine] = _log_score(model, "pessimistic", s[mine], rho, alpha[c, mine])
    best += weights[:, None]
    samples = np.arange(s.size)
    best[decided, samples] = -np.inf
    rival = best.argmax(axis=0)
    return worst + weights[decided] - best[rival, samples], fall + rise[rival, samples]


def _log_score(
    model: ScoreModel, side: Side, s: FloatArray, rho: float, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log score at radius s rho and the size of its derivative by s: rho gamma times the slope of the logarithm."""
    extreme = model.score.at(side, s * rho, model.n_features)
    gamma, value, _ = extreme.solve(alpha)
    slope = np.abs(extreme.log_slope_of(value)) * rho * np.where(np.isinf(gamma), 0.0, gamma)
    return extreme.log_of(value), slope

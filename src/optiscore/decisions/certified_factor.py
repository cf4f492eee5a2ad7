"""The certified factor: how far all ambiguity sets may grow before a decision can be wrong."""

import numpy as np

from ..numerics.root_finding import find_root
from ..numerics.types import FloatArray
from ..scores import RADIUS_CEILING, Side
from .log_scores import ScoreModel

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
    margins = _Margins(model, alpha.astype(np.float64), decided, log_priors + model.log_volumes)
    everyone = np.arange(decided.size)
    factor = np.where(margins.nominal > 0, np.inf, 0.0)
    widest = float(model.radii.max())
    if widest == 0:
        return factor
    reach = np.log(_LARGEST_FACTOR)
    low, high = np.clip(np.log([_SMALLEST_RADIUS, RADIUS_CEILING]) - np.log(widest), -reach, reach)
    at_low, at_high = (margins.at(np.full(decided.size, np.exp(z)), everyone)[0] for z in (low, high))
    factor[at_low <= 0] = 0.0
    inside = np.flatnonzero((at_low > 0) & (at_high <= 0))
    roots = find_root(margins.log_used_up, np.full(inside.size, low), np.full(inside.size, high), (inside,))
    if not roots.converged.all():
        raise ArithmeticError("a certified factor was not found; please report the model and the sample.")
    factor[inside] = np.exp(roots.root)
    return factor


class _Margins:
    """Margins of decided classes over their rivals, as functions of the factor s on all radii."""

    def __init__(self, model: ScoreModel, alpha: FloatArray, decided: np.ndarray, weights: FloatArray) -> None:
        self._model, self._alpha, self._decided, self._weights = model, alpha, decided, weights
        self.nominal = self.at(np.zeros(decided.size), np.arange(decided.size))[0]

    def at(self, s: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Worst log score of the decided class minus the best of its rivals, and its decrease per unit of s."""
        alpha, decided, weights = self._alpha[:, samples], self._decided[samples], self._weights
        best, rise = np.empty(alpha.shape), np.empty(alpha.shape)
        worst, fall = np.empty(s.size), np.empty(s.size)
        for c, rho in enumerate(self._model.radii):
            mine = decided == c
            best[c], rise[c] = _log_score(self._model, "optimistic", s, rho, alpha[c])
            worst[mine], fall[mine] = _log_score(self._model, "pessimistic", s[mine], rho, alpha[c, mine])
        best += weights[:, None]
        each = np.arange(s.size)
        best[decided, each] = -np.inf
        rival = best.argmax(axis=0)
        return worst + weights[decided] - best[rival, each], fall + rise[rival, each]

    def log_used_up(self, z: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Logarithm of the fraction of the nominal margin lost at s = exp(z), nearly straight in z, and its slope."""
        s = np.exp(z)
        left, decrease = self.at(s, samples)
        lost = np.maximum(self.nominal[samples] - left, _NOTHING)
        fraction = np.log(lost) - np.log(self.nominal[samples])
        # A margin that stays at 0 was used up where it first got there: the search has to go on to the left.
        return np.where(left == 0, _NOTHING, fraction), s * (decrease / lost)


def _log_score(
    model: ScoreModel, side: Side, s: FloatArray, rho: float, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log score at radius s rho and the size of its derivative by s: rho gamma times the slope of the logarithm."""
    extreme = model.likelihood.at(side, s * rho, model.n_features)
    gamma, value, _ = extreme.solve(alpha)
    slope = np.abs(extreme.log_slope_of(value)) * rho * np.where(np.isinf(gamma), 0.0, gamma)
    return extreme.log_of(value), slope

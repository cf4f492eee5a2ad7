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
    pairs = _Pairs(model, alpha.astype(np.float64), decided, log_priors + model.log_volumes)
    factor = np.where(pairs.nominal > 0, np.inf, 0.0)
    widest = float(model.radii.max())
    if widest == 0:
        return factor
    reach = np.log(_LARGEST_FACTOR)
    low, high = np.clip(np.log([_SMALLEST_RADIUS, RADIUS_CEILING]) - np.log(widest), -reach, reach)
    # Most decisions fall to the rival that is nominally best. Where another one has overtaken by then, it comes next.
    contested = np.flatnonzero(factor)
    while contested.size:
        found = pairs.first_fall(contested, low, high)
        less = found < factor[contested]
        factor[contested[less]] = found[less]
        contested = pairs.overtaken(contested[less], np.clip(factor[contested[less]], np.exp(low), np.exp(high)))
    return factor


class _Pairs:
    """Margins of decided classes over one rival each, as functions of the factor s on all radii."""

    def __init__(self, model: ScoreModel, alpha: FloatArray, decided: np.ndarray, weights: FloatArray) -> None:
        self._model, self._alpha, self._decided, self._weights = model, alpha, decided, weights
        nominal = np.stack([_log_score(model, "optimistic", np.zeros(row.size), 0.0, row)[0] for row in alpha])
        nominal += weights[:, None]
        each = np.arange(decided.size)
        own = nominal[decided, each]
        nominal[decided, each] = -np.inf
        self.rival = nominal.argmax(axis=0)
        self.nominal: FloatArray = own - nominal[self.rival, each]
        # The margin over each rival, at radius 0.
        self._gaps = own - nominal

    def first_fall(self, samples: np.ndarray, low: float, high: float) -> FloatArray:
        """The factor at which the rival of each sample catches up: 0 or infinity where that is not between the ends."""
        ends = (np.full(samples.size, np.exp(z)) for z in (low, high))
        at_low, at_high = (self._margin(s, samples)[0] for s in ends)
        factor = np.where(at_low <= 0, 0.0, np.inf)
        inside = (at_low > 0) & (at_high <= 0)
        n = np.count_nonzero(inside)
        roots = find_root(self._log_used_up, np.full(n, low), np.full(n, high), (samples[inside],))
        if not roots.converged.all():
            raise ArithmeticError("a certified factor was not found; please report the model and the sample.")
        factor[inside] = np.exp(roots.root)
        return factor

    def overtaken(self, samples: np.ndarray, s: FloatArray) -> np.ndarray:
        """Samples for which a rival other than the one just tried is ahead at s, which becomes the one to try."""
        worst = self._side("pessimistic", self._decided[samples], s, samples)[0]
        lead, rival = np.zeros(samples.size), self.rival[samples]
        for b in range(len(self._alpha)):
            others = (self._decided[samples] != b) & (rival != b)
            ahead = np.full(samples.size, -np.inf)
            best = self._side("optimistic", np.full(others.sum(), b), s[others], samples[others])[0]
            ahead[others] = best - worst[others]
            more = ahead > lead
            lead[more], self.rival[samples[more]] = ahead[more], b
        return samples[lead > 0]

    def _margin(self, s: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Worst log score of the decided class minus the best of its rival, and its decrease per unit of s."""
        worst, fall = self._side("pessimistic", self._decided[samples], s, samples)
        best, rise = self._side("optimistic", self.rival[samples], s, samples)
        return worst - best, fall + rise

    def _side(
        self, side: Side, classes: np.ndarray, s: FloatArray, samples: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        """Extreme log score of one class per sample, with its weight, and the size of its derivative by s."""
        alpha, rho = self._alpha[classes, samples], self._model.radii[classes]
        score, slope = _log_score(self._model, side, s, rho, alpha)
        return score + self._weights[classes], slope

    def _log_used_up(self, z: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Logarithm of the fraction of the nominal margin lost at s = exp(z), nearly straight in z, and its slope."""
        s = np.exp(z)
        left, decrease = self._margin(s, samples)
        nominal = self._gaps[self.rival[samples], samples]
        lost = np.maximum(nominal - left, _NOTHING)
        fraction = np.log(lost) - np.log(nominal)
        # A margin that stays at 0 was used up where it first got there: the search has to go on to the left.
        return np.where(left == 0, _NOTHING, fraction), s * (decrease / lost)


def _log_score(
    model: ScoreModel, side: Side, s: FloatArray, rho: FloatArray | float, alpha: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log score at radius s rho and the size of its derivative by s: rho gamma times the slope of the logarithm."""
    extreme = model.likelihood.at(side, s * rho, model.n_features)
    gamma, value, _ = extreme.solve(alpha)
    slope = np.abs(extreme.log_slope_of(value)) * rho * np.where(np.isinf(gamma), 0.0, gamma)
    return extreme.log_of(value), slope

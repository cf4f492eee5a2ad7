"""The certified factor: how far all ambiguity sets may grow before a decision can be wrong."""

import numpy as np

from ..numerics.root_finding import find_root
from ..numerics.types import FloatArray
from .log_scores import LogScores, ScoreModel
from .scores.base import RADIUS_CEILING
from .scores.registry import Side

# The factor is searched from where the largest radius is negligible to where scores saturate, in a safe range.
_SMALLEST_RADIUS, _LARGEST_FACTOR = 1e-30, 1e250

# Roots this close to the ends of the search are taken for the ends; tables of scores are at least so exact.
_END, _SLACK = 1e-6, 1e-5

# The smallest positive number that is safe to divide.
_NOTHING = 1e-300


def largest_certified_factor(
    model: ScoreModel, scores: LogScores, decided: np.ndarray, log_priors: FloatArray
) -> FloatArray:
    """Return the largest common factor s on the radii under which each decision stays certified.

    The decision for class a is certified if log pi_a + log f_a^min > log pi_b + log f_b^max for all b != a, with the
    radii s rho_c. The margin decreases in s, since the worst score falls and the best ones rise. The factor is 0 where
    the nominal decision is another one, infinity where the decision is certified for every factor.
    """
    pairs = _Pairs(model, scores, decided, log_priors)
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

    def __init__(self, model: ScoreModel, scores: LogScores, decided: np.ndarray, log_priors: FloatArray) -> None:
        self._model, self._alpha, self._decided = model, scores.alpha.astype(np.float64), decided
        self._weights = log_priors + model.log_volumes
        nominal, _ = _log_score(model, "optimistic", np.zeros(self._alpha.shape), 0.0, self._alpha)
        nominal += self._weights[:, None]
        each = np.arange(decided.size)
        own = nominal[decided, each]
        # Best log scores at s = 1, and how much more than at s = 0 that is.
        self._best = scores.optimistic + log_priors[:, None]
        self._gain = self._best - nominal
        nominal[decided, each] = -np.inf
        self.rival = nominal.argmax(axis=0)
        self.nominal: FloatArray = own - nominal[self.rival, each]
        # The margin over each rival, at radius 0.
        self._gaps = own - nominal

    def first_fall(self, samples: np.ndarray, low: float, high: float) -> FloatArray:
        """Return the factor at which the rival of each sample catches up: 0 or infinity beyond the ends."""
        factor = np.full(samples.size, np.inf)
        falls = self._margin(np.full(samples.size, np.exp(high)), samples)[0] <= 0
        n = np.count_nonzero(falls)
        start = np.full(n, np.clip(0.0, low, high))
        roots = find_root(self._log_used_up, np.full(n, low), np.full(n, high), (samples[falls],), start=start)
        if not roots.converged.all():
            raise ArithmeticError("a certified factor was not found; please report the model and the sample.")
        # A margin that is lost at the lower end was never there.
        factor[falls] = np.where(roots.root > low + _END, np.exp(roots.root), 0.0)
        return factor

    def overtaken(self, samples: np.ndarray, s: FloatArray) -> np.ndarray:
        """Return samples for which another rival than the one just tried is ahead at s; it is the next to try."""
        if len(self._alpha) == 2:
            return samples[:0]
        worst, _ = self._side("pessimistic", self._decided[samples], s, samples)
        each = np.arange(samples.size)
        may_be_ahead = self._most(samples, s) > worst
        may_be_ahead[self._decided[samples], each] = may_be_ahead[self.rival[samples], each] = False
        rivals, places = np.nonzero(may_be_ahead)
        lead = np.zeros(may_be_ahead.shape)
        best, _ = self._side("optimistic", rivals, s[places], samples[places])
        lead[rivals, places] = best - worst[places]
        ahead = lead.max(axis=0) > 0
        self.rival[samples[ahead]] = lead[:, ahead].argmax(axis=0)
        return samples[ahead]

    def _most(self, samples: np.ndarray, s: FloatArray) -> FloatArray:
        """Return bounds on the best log scores of all classes at s, from those at 0 and 1.

        They increase in s. That of a density is the least of affine functions of the radius, one per dual variable, and
        so concave: beyond 1, it stays below the line through the two.
        """
        beyond = np.maximum(s - 1, 0)
        if not self._model.likelihood.is_density:
            beyond = np.where(beyond > 0, np.inf, 0.0)
        best = self._best[:, samples]
        with np.errstate(invalid="ignore", over="ignore"):
            bound = best + np.nan_to_num(beyond * self._gain[:, samples], nan=0.0, posinf=np.inf)
        return bound + _SLACK * (1 + np.abs(best))

    def _margin(self, s: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Return the decided class's worst log score minus its rival's best, and its decrease per unit of s."""
        worst, fall = self._side("pessimistic", self._decided[samples], s, samples)
        best, rise = self._side("optimistic", self.rival[samples], s, samples)
        return worst - best, fall + rise

    def _side(
        self, side: Side, classes: np.ndarray, s: FloatArray, samples: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the extreme log score of one class per sample, weighed, and the size of its derivative by s."""
        alpha, rho = self._alpha[classes, samples], self._model.radii[classes]
        score, slope = _log_score(self._model, side, s, rho, alpha)
        return score + self._weights[classes], slope

    def _log_used_up(self, z: FloatArray, samples: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Return the log of the fraction of the nominal margin lost at s = exp(z), and its slope by z."""
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
    """Return the log score at radius s rho and the size of its derivative by s, rho gamma times log's slope."""
    extreme = model.likelihood.at(side, s * rho, model.n_features)
    gamma, value, _ = extreme.solve(alpha)
    slope = np.abs(extreme.log_slope_of(value)) * rho * np.where(np.isinf(gamma), 0.0, gamma)
    return extreme.log_of(value), slope

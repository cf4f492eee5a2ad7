"""The nonparametric score: the largest probability of {x} under any distribution with moments (mu, Sigma).

Value: q = (mu - x)' Sigma^-1 (mu - x); the score is 1/(1 + q).
"""

import numpy as np

from ...moments.stein import (
    inverse_above_lower,
    inverse_above_upper,
    log_odds_below_lower,
    log_odds_below_upper,
    stein_loss,
)
from ...numerics.types import FloatArray
from .base import ExtremeScore, Mixing
from .table import ALPHA_MAX


class _Nonparametric(ExtremeScore):
    _nominal_slope = 1.0

    def log_of(self, value: FloatArray) -> FloatArray:
        """Log probability -log(1 + q)."""
        return -np.log1p(value)

    def log_slope_of(self, value: FloatArray) -> FloatArray:
        """Derivative of `log_of`."""
        return -1 / (1 + value)


class NonparametricOptimistic(_Nonparametric):
    """Largest probability of the point over the set (paper, Theorem 3.1); z = log(1 + gamma).

    Where log(1 + alpha) <= rho the point itself is a plausible mean: gamma = q = 0. Elsewhere, with
    v = alpha/(1 + gamma + alpha),

        rho = phi(-v) + v/(1 + gamma)    and    q = gamma**2 v/(1 + gamma).

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import NonparametricOptimistic
    >>> NonparametricOptimistic(radius=0.5, n_features=2).value(np.array([0.5, 4.0])).round(6)
    array([0.     , 0.69733])
    """

    @property
    def pivot(self) -> float:
        """The end of the flat part, where log(1 + alpha) = rho."""
        return float(np.sqrt(np.expm1(np.minimum(self.radius, np.log1p(ALPHA_MAX)))))

    def _search(self, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        z = np.zeros_like(alpha)
        binding = np.log1p(alpha) > rho
        z[binding] = super()._search(alpha[binding], rho[binding])
        return z

    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower = np.maximum(alpha * np.exp(log_odds_below_lower(rho)), _mean_bound(alpha, rho))
        upper = np.maximum(alpha * np.exp(log_odds_below_upper(rho / 2)), _mean_bound(alpha, rho / 2))
        return np.log(np.maximum(lower, 1)), np.log(np.maximum(upper, 1))

    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        g = np.exp(z)
        v = alpha / (g + alpha)
        spent = stein_loss(-v, np.log(g / (g + alpha))) + v / g
        return spent, v * (v + 1 / (g + alpha) + 1 / g)

    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        g, gamma = np.exp(z), np.expm1(z)
        derivative = gamma / (g + alpha)
        return gamma, gamma / g * alpha * derivative, derivative

    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        g = np.exp(z)
        return Mixing(1 / g, np.ones_like(g), 1 / g)


class NonparametricPessimistic(_Nonparametric):
    """Smallest over the moments of the largest probability at those moments; gamma = 1 + alpha + e, z = log e.

    The optimistic problem with gamma replaced by -gamma. With s = alpha/e,

        rho = phi(s) + s/(alpha + e)    and    q = gamma**2 s/(alpha + e);    alpha = 0 gives q = rho.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import NonparametricPessimistic
    >>> NonparametricPessimistic(radius=0.5, n_features=2).value(np.array([0.0, 4.0])).round(6)
    array([ 0.5     , 10.725812])
    """

    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        lower = np.maximum(alpha / inverse_above_upper(rho), _mean_bound(alpha, rho))
        upper = np.maximum(alpha / inverse_above_lower(rho / 2), _mean_bound(alpha, rho / 2))
        return np.log(lower), np.log(upper)

    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        e = np.exp(z)
        s, rest = alpha / e, alpha + e
        spent = stein_loss(s, np.log1p(s)) + s / rest
        return spent, s * (s / (1 + s) + (1 + e / rest) / rest)

    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        e = np.exp(z)
        gamma = 1 + alpha + e
        return gamma, gamma * (gamma / (alpha + e)) * (alpha / e), gamma / e

    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        rest = alpha + np.exp(z)
        return Mixing(-1 / rest, np.ones_like(rest), -1 / rest)


def _mean_bound(alpha: FloatArray, rho: FloatArray) -> FloatArray:
    """The e > 0 at which the mean's part of the divergence, alpha/(e (alpha + e)), equals rho."""
    return 2 / rho / (1 + np.sqrt(1 + 4 / (alpha * rho)))

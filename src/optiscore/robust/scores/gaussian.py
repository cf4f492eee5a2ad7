"""The Gaussian score: the density of N(mu, Sigma) at x, mean and covariance both free in the ambiguity set.

Value: L = 2 log density + d log 2 pi = -(mu - x)' Sigma^-1 (mu - x) - log det Sigma, for log det S = 0.
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


class GaussianOptimistic(ExtremeScore):
    """Largest Gaussian density over the set (paper, Theorem 4.1); z = log gamma.

    With v = alpha/(1 + gamma + alpha), the stationarity condition is

        rho = d phi(1/gamma) + phi(-v),    phi(t) = t - log(1 + t),

    and L = d log(1 + 1/gamma) - log(1 + alpha/(1 + gamma)) - gamma v, or L = -rho + d/gamma - alpha (1 - v) with rho
    put back in.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import GaussianOptimistic
    >>> GaussianOptimistic(radius=0.5, n_features=2).value(np.array([0.0, 4.0])).round(6)
    array([ 1.26543 , -1.111239])
    """

    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self.n_features
        lower = np.maximum(1 / inverse_above_upper(rho / d), alpha * np.exp(log_odds_below_lower(rho)) - 1)
        upper = np.maximum(1 / inverse_above_lower(rho / (2 * d)), alpha * np.exp(log_odds_below_upper(rho / 2)) - 1)
        return np.log(lower), np.log(upper)

    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        d, gamma = self.n_features, np.exp(z)
        c = 1 / gamma
        v = alpha / (1 + gamma + alpha)
        rest = (1 + gamma) / (1 + gamma + alpha)
        spent = d * stein_loss(c, np.log1p(c)) + stein_loss(-v, np.log(rest))
        return spent, (d * c + gamma * v * v) / (1 + gamma)

    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        d, gamma = self.n_features, np.exp(z)
        derivative = -(1 + gamma) / (1 + gamma + alpha)
        # Below 1, d/gamma and rho would cancel.
        shrunk = d * np.log1p(1 / gamma) - np.log1p(alpha / (1 + gamma)) - gamma * (alpha / (1 + gamma + alpha))
        return gamma, np.where(gamma < 1, shrunk, d / gamma - rho + alpha * derivative), derivative

    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        gamma = np.exp(z)
        return Mixing(1 / (1 + gamma), gamma / (1 + gamma), gamma / (1 + gamma) / (1 + gamma))


class GaussianPessimistic(ExtremeScore):
    """Smallest Gaussian density over the set; gamma = 1 + alpha + e with e > 0, z = log e.

    The optimistic problem with gamma replaced by -gamma. With s = alpha/e,

        rho = d phi(-1/gamma) + phi(s)    and    L = -rho - d/gamma - alpha (1 + s).

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import GaussianPessimistic
    >>> GaussianPessimistic(radius=0.5, n_features=2).value(np.array([0.0, 4.0])).round(6)
    array([ -1.602436, -10.061627])
    """

    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        d = self.n_features
        lower = np.maximum(np.exp(log_odds_below_lower(rho / d)) - alpha, alpha / inverse_above_upper(rho))
        upper = np.maximum(np.exp(log_odds_below_upper(rho / (2 * d))) - alpha, alpha / inverse_above_lower(rho / 2))
        return np.log(lower), np.log(upper)

    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        d, e = self.n_features, np.exp(z)
        s = alpha / e
        gamma = 1 + alpha + e
        spent = d * stein_loss(-1 / gamma, np.log((alpha + e) / gamma)) + stein_loss(s, np.log1p(s))
        return spent, e / (alpha + e) * (d / gamma / gamma + s * s)

    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        e = np.exp(z)
        gamma = 1 + alpha + e
        derivative = -(1 + alpha / e)
        return gamma, alpha * derivative - rho - self.n_features / gamma, derivative

    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        rest = alpha + np.exp(z)
        gamma = 1 + rest
        return Mixing(-1 / rest, gamma / rest, -(gamma / rest) / rest)

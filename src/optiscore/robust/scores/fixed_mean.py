"""The fixed-mean score (the paper's baseline KQDA): the Gaussian density at x, only the covariance is free.

Value: L as for the Gaussian score. u_1 and u are the eigenvalues of S^(1/2) Sigma^-1 S^(1/2) along x - m and across it.
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
from .base import ALPHA_CEILING, Curve, ExtremeScore, Mixing


class FixedMeanOptimistic(ExtremeScore):
    """Largest density over the covariances of the set (Nguyen et al. 2019, Theorem 3.2); z = log gamma.

    With u_1 = (1 + gamma)/(gamma + alpha) and u = 1 + 1/gamma,

        rho = phi(u_1 - 1) + (d - 1) phi(u - 1)    and    L = log u_1 + (d - 1) log u - alpha u_1.

    In one dimension the set may contain the best covariance alpha S of all; then gamma = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import FixedMeanOptimistic
    >>> FixedMeanOptimistic(radius=0.5, n_features=2).value(np.array([0.0, 4.0])).round(6)
    array([ 1.26543 , -1.959063])
    """

    def _value_without_search(self) -> Curve | None:
        if self.n_features > 1 or self.radius == 0:
            return super()._value_without_search()
        return self._value_in_one_dimension

    def _value_in_one_dimension(self, alpha: FloatArray) -> FloatArray:
        """Log u_1 - alpha u_1 at its maximum 1/alpha, or at the nearest u_1 in the set."""
        largest, smallest = -self.derivative(np.array([0.0, ALPHA_CEILING])).astype(alpha.dtype)
        u_1 = np.maximum(1 / np.maximum(alpha, 1 / largest), smallest)
        return np.log(u_1) - alpha * u_1

    def _search(self, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        if self.n_features > 1:
            return super()._search(alpha, rho)
        z = np.log(_negligible(alpha))
        binding = stein_loss((1 - alpha) / alpha, -np.log(alpha)) > rho
        z[binding] = super()._search(alpha[binding], rho[binding])
        return z

    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        across = _per_direction(rho, self.n_features - 1)
        lower = np.maximum.reduce(
            [
                1 / inverse_above_upper(across),
                (1 - alpha) / inverse_above_upper(rho) - alpha,
                (alpha - 1) * np.exp(log_odds_below_lower(rho)) - 1,
                _negligible(alpha),
            ]
        )
        upper = np.maximum.reduce(
            [
                1 / inverse_above_lower(across / 2),
                (1 - alpha) / inverse_above_lower(rho / 2) - alpha,
                (alpha - 1) * np.exp(log_odds_below_upper(rho / 2)) - 1,
                _negligible(alpha),
            ]
        )
        return np.log(lower), np.log(upper)

    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        across, gamma = self.n_features - 1, np.exp(z)
        c = 1 / gamma
        t = (1 - alpha) / (gamma + alpha)
        spent = stein_loss(t, np.log((1 + gamma) / (gamma + alpha)))
        if across:
            spent = spent + across * stein_loss(c, np.log1p(c))
        return spent, (across * c + gamma * t * t) / (1 + gamma)

    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        gamma = np.exp(z)
        t, along = (1 - alpha) / (gamma + alpha), (1 + gamma) / (gamma + alpha)
        log_along = np.where(t > -0.5, np.log1p(np.maximum(t, -0.5)), np.log(along))
        return gamma, log_along + (self.n_features - 1) * np.log1p(1 / gamma) - alpha * along, -along

    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        gamma = np.exp(z)
        return Mixing(np.zeros_like(gamma), gamma / (1 + gamma), 1 / (1 + gamma))


class FixedMeanPessimistic(ExtremeScore):
    """Smallest density over the covariances of the set; gamma = max(1, alpha) + e with e > 0, z = log e.

    With u_1 = (gamma - 1)/(gamma - alpha) and u = (gamma - 1)/gamma,

        rho = phi(u_1 - 1) + (d - 1) phi(u - 1)    and    L = (1 - alpha) u_1 + (d - 1) u - d - rho.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import FixedMeanPessimistic
    >>> FixedMeanPessimistic(radius=0.5, n_features=2).value(np.array([0.0, 4.0])).round(6)
    array([-1.602436, -8.657958])
    """

    @property
    def pivot(self) -> float:
        """Distance 1, where the extremal covariance turns from inflation to deflation along x - m."""
        return 1.0

    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        across, gap = _per_direction(rho, self.n_features - 1), np.abs(_off_one(alpha) - 1)
        near = alpha <= 1
        along_lower = np.where(near, log_odds_below_lower(rho), -np.log(inverse_above_upper(rho)))
        along_upper = np.where(near, log_odds_below_upper(rho / 2), -np.log(inverse_above_lower(rho / 2)))
        lower = np.maximum(np.log(gap) + along_lower, _log_excess(log_odds_below_lower(across), alpha))
        upper = np.maximum(np.log(gap) + along_upper, _log_excess(log_odds_below_upper(across / 2), alpha))
        return lower, upper

    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        across = self.n_features - 1
        gamma, _, to_alpha, log_to_one = self._distances(z, alpha)
        t = (_off_one(alpha) - 1) / to_alpha
        log_along = np.where(t > 1, np.log1p(np.maximum(t, 0)), log_to_one - np.log(to_alpha))
        spent = stein_loss(t, log_along)
        if across:
            spent = spent + across * stein_loss(-1 / gamma, log_to_one - np.log(gamma))
        return spent, np.exp(z - log_to_one) * (across / gamma / gamma + t * t)

    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        d = self.n_features
        gamma, to_one, to_alpha, _ = self._distances(z, alpha)
        along = to_one / to_alpha
        return gamma, (1 - alpha) * along + (d - 1) * (to_one / gamma) - d - rho, -along

    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        gamma, to_one, _, _ = self._distances(z, alpha)
        return Mixing(np.zeros_like(gamma), gamma / to_one, -1 / to_one)

    def _distances(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, ...]:
        """gamma, gamma - 1, gamma - alpha and log(gamma - 1), none of them by cancellation."""
        e, alpha = np.exp(z), _off_one(alpha)
        end = np.maximum(alpha, 1)
        to_one = end - 1 + e
        log_to_one = np.where(end > 1, np.log(np.where(end > 1, to_one, 1.0)), z)
        return end + e, to_one, end - alpha + e, log_to_one


def _negligible(alpha: FloatArray) -> FloatArray:
    """A gamma that no result can tell from 0; it stands for 0 on the logarithmic scale."""
    return 1e-20 * (1 + alpha)


def _off_one(alpha: FloatArray) -> FloatArray:
    """alpha, moved by one rounding error where it is 1: u_1 is undetermined there in one dimension."""
    return np.where(alpha == 1, np.nextafter(1, 0), alpha)


def _per_direction(rho: FloatArray, n_directions: int) -> FloatArray:
    """The radius that each of n directions may spend; without a direction nothing limits it."""
    return rho / n_directions if n_directions else np.full_like(rho, np.inf)


def _log_excess(log_bound: FloatArray, alpha: FloatArray) -> FloatArray:
    """log(e) for a bound on gamma - 1 = max(alpha - 1, 0) + e."""
    beyond = np.maximum(np.exp(log_bound) - np.maximum(alpha - 1, 0), np.finfo(float).tiny)
    return np.where(alpha > 1, np.log(beyond), log_bound)

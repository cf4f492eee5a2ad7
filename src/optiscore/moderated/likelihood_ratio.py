"""Evidence in the sample on one pair of classes: the likelihood ratio that a decision, or other log odds, would cost.

Twice the log-likelihood ratio of Gaussian training samples between their moments and any others is the divergence of
the classes, weighted by their sizes and added up. With M the nominal log odds of class a against class b at a point,
the smallest ratio at which the log odds are v < M is

    T(v) = sup over lambda of 2 (M - v) lambda - P(lambda),    lambda between 0 and an end,

with a convex P, P(0) = P'(0) = 0, that depends on distances and class sizes only. T(0) is the evidence for deciding for
a, and P''(0)/2 the variance of the log odds. docs/theory/certainty.md has the derivation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ..moments.stein import stein_loss
from ..numerics.root_finding import find_root
from ..numerics.types import FloatArray

# The search runs on z = log(lambda/(end - lambda)); beyond these bounds lambda is 0, or its end, to all digits.
_LOWEST, _HIGHEST = -300.0, 300.0

# Stands for 0 in a logarithm.
_TINY = 1e-300


class Cost(NamedTuple):
    """P and its first two derivatives by lambda, and d lambda/dz."""

    multiplier: FloatArray
    value: FloatArray
    slope: FloatArray
    curvature: FloatArray
    stretch: FloatArray


class PairEvidence(ABC):
    """Evidence of the training samples on class a against class b, at one point after the other."""

    @property
    @abstractmethod
    def arrays(self) -> tuple[FloatArray, ...]:
        """Return the arrays that differ from point to point."""

    @abstractmethod
    def cost(self, z: FloatArray, *arrays: FloatArray) -> Cost:
        """P at lambda = end expit(z)."""

    def likelihood_ratio(self, log_odds: FloatArray) -> FloatArray:
        """T(0), the smallest likelihood ratio at which nominal log odds M >= 0 become 0: there P'(lambda) = 2 M."""
        doubled = np.maximum(2 * log_odds, _TINY)
        cost = self._solve(lambda cost: (cost.slope, cost.curvature), doubled)
        return np.where(log_odds > 0, np.maximum(doubled * cost.multiplier - cost.value, 0), 0.0)

    def lower_log_odds(self, log_odds: FloatArray, ratio: FloatArray) -> FloatArray:
        """The smallest log odds that cost at most a likelihood ratio.

        Log odds v with 2 (M - v) = P'(lambda) cost lambda P' - P; so P' = (ratio + P)/lambda at the solution, which
        also holds where lambda is at its end.
        """
        cost = self._solve(
            lambda cost: (cost.multiplier * cost.slope - cost.value, cost.multiplier * cost.curvature), ratio
        )
        return log_odds - (ratio + cost.value) / (2 * cost.multiplier)

    def _solve(self, quantity: Callable[[Cost], tuple[FloatArray, FloatArray]], target: FloatArray) -> Cost:
        """P where an increasing quantity of it reaches a target; on logarithmic scales both are nearly straight."""

        def surplus(z: FloatArray, log_target: FloatArray, *arrays: FloatArray) -> tuple[FloatArray, FloatArray]:
            cost = self.cost(z, *arrays)
            value, slope = quantity(cost)
            value = np.maximum(value, _TINY)
            return np.log(value) - log_target, slope * cost.stretch / value

        lower, upper = np.full(target.size, _LOWEST), np.full(target.size, _HIGHEST)
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            roots = find_root(surplus, lower, upper, (np.log(target), *self.arrays), step_tolerance=1e-7)
        if not roots.converged.all():
            raise ArithmeticError("a likelihood ratio was not found; please report the model and the sample.")
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            return self.cost(roots.root, *self.arrays)


@dataclass(frozen=True)
class OwnEvidence(PairEvidence):
    """Classes with covariances of their own (QDA).

    With u = lambda/(n_a - lambda), w = lambda/(n_b + lambda), phi(t) = t - log(1 + t) and lambda < n_a/(1 + alpha_a),

        P = (n_a - lambda) [d phi(u) + phi(-u alpha_a)] + (n_b + lambda) [d phi(-w) + phi(w alpha_b)].
    """

    #: Class sizes; of shape (n_points,), or one for all.
    n_a: FloatArray | float
    n_b: FloatArray | float
    #: Dimension d.
    n_features: int
    #: Squared distances to the classes; of shape (n_points,).
    alpha_a: FloatArray
    alpha_b: FloatArray

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """Class sizes and squared distances."""
        return tuple(np.broadcast_arrays(self.n_a, self.n_b, self.alpha_a, self.alpha_b))

    def cost(self, z: FloatArray, *arrays: FloatArray) -> Cost:
        """P at lambda = expit(z) n_a/(1 + alpha_a)."""
        n_a, n_b, alpha_a, alpha_b = arrays
        d = self.n_features
        part, rest = expit(z), expit(-z)
        multiplier = n_a * part / (1 + alpha_a)
        # 1 + alpha_a - part, and 1 - u alpha_a = inside, without cancellation.
        total = alpha_a + rest
        u, inside = part / total, (1 + alpha_a) * rest / total
        w = multiplier / (n_b + multiplier)
        outside = n_b / (n_b + multiplier)
        log_u, log_w = np.log1p(u), np.log(outside)
        loss_a, loss_b = stein_loss(-u * alpha_a, np.log(inside)), stein_loss(w * alpha_b, np.log1p(w * alpha_b))
        grown_a, grown_b = alpha_a * (1 + u) / inside, alpha_b * outside / (1 + w * alpha_b)
        return Cost(
            multiplier,
            n_a / (1 + u) * (d * stein_loss(u, log_u) + loss_a) + n_b / outside * (d * stein_loss(-w, log_w) + loss_b),
            d * (log_u - log_w) + u * alpha_a * grown_a - loss_a + w * alpha_b * grown_b + loss_b,
            (1 + u) / n_a * (d + grown_a**2) + outside / n_b * (d + grown_b**2),
            multiplier * rest,
        )


@dataclass(frozen=True)
class SharedEvidence(PairEvidence):
    """Classes with one covariance (LDA), whose error is common to both.

    With k_a = lambda (1 + u), k_b = lambda (1 - w), u and w as for `OwnEvidence`, and G the Gram determinant
    alpha_a alpha_b - alpha_ab^2 of the two whitened deviations,

        e = (k_b alpha_b - k_a alpha_a)/n - k_a k_b G/n^2,
        P = lambda (u alpha_a + w alpha_b) + k_a k_b G/n + n phi(e);

    lambda ends where 1 + e = 0, or at n_a.
    """

    #: Sizes of the two classes, of shape (n_points,) or one for all, and of all classes together.
    n_a: FloatArray | float
    n_b: FloatArray | float
    n: float
    #: Squared distances to the classes; of shape (n_points,).
    alpha_a: FloatArray
    alpha_b: FloatArray
    #: G; of shape (n_points,).
    gram: FloatArray

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """Class sizes, squared distances and Gram determinants."""
        return tuple(np.broadcast_arrays(self.n_a, self.n_b, self.alpha_a, self.alpha_b, self.gram))

    def cost(self, z: FloatArray, *arrays: FloatArray) -> Cost:
        """P at lambda = end expit(z)."""
        n_a, n_b, alpha_a, alpha_b, gram = arrays
        n = self.n
        part, rest = expit(z), expit(-z)
        # (1 + e) (n_a - lambda) (n_b + lambda) = q_0 + q_1 lambda - q_2 lambda^2 has a positive and a negative root.
        q_0, q_1 = n_a * n_b, n_a - n_b + n_a * n_b / n * (alpha_b - alpha_a)
        q_2 = 1 + (n_a * alpha_a + n_b * alpha_b) / n + n_a * n_b / n * (gram / n)
        width = np.hypot(q_1, 2 * np.sqrt(q_0) * np.sqrt(q_2))
        end = np.where(q_1 > 0, (q_1 + width) / (2 * q_2), 2 * q_0 / (width - q_1))
        other = q_0 / q_2 / end
        beyond_end = n_a * (n_a / n * (n_a + n_b) * alpha_a + n_a / n * n_a * n_b * (gram / n)) / (q_2 * (n_a + other))
        multiplier = end * part
        room_a, room_b = beyond_end + end * rest, n_b + multiplier
        u, w = multiplier / room_a, multiplier / room_b
        more, less = n_a / room_a, n_b / room_b
        k_a, k_b = multiplier * more, multiplier * less
        e = (k_b * alpha_b - k_a * alpha_a) / n - k_a * k_b / n * (gram / n)
        remains = q_2 * (end * rest / room_a) * ((multiplier + other) / room_b)
        slope_k = more**2 * k_b + k_a * less**2
        bend_a, bend_b = 2 * more**3 / n_a, 2 * less**3 / n_b
        bend_k = bend_a * k_b + 2 * (more * less) ** 2 - bend_b * k_a
        slope_e = (alpha_b * less**2 - alpha_a * more**2) / n - slope_k / n * (gram / n)
        bend_e = -(alpha_b * bend_b + alpha_a * bend_a) / n - bend_k / n * (gram / n)
        steep = slope_e / remains
        return Cost(
            multiplier,
            multiplier * (u * alpha_a + w * alpha_b) + k_a * k_b * (gram / n) + n * stein_loss(e, np.log(remains)),
            alpha_b * w * (1 + less) + alpha_a * u * (1 + more) + slope_k * (gram / n) + n * e * steep,
            alpha_b * bend_b + alpha_a * bend_a + bend_k * (gram / n) + n * (steep**2 + e * (bend_e / remains)),
            multiplier * rest,
        )

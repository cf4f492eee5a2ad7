"""Stein's loss of one eigenvalue, phi(t) = t - log(1 + t), without cancellation, and bounds on its two inverses."""

import numpy as np

from ..numerics.types import FloatArray

# Below this |t| the series loses nothing; above it t - log(1 + t) loses at most two digits of 16.
_SERIES_BELOW = 0.1


def stein_loss(t: FloatArray, log_u: FloatArray) -> FloatArray:
    """Stein's loss phi(t) = t - log(1 + t) = u - 1 - log u of an eigenvalue u = 1 + t.

    The caller passes log u as well, formed without cancellation where u is near 0 (t near -1). For small t the loss is
    t**2/2 to first order and the difference has no correct digit; there, with s = t/(2 + t),

        log(1 + t) = 2 artanh(s)   and   t - 2 s = t s,   so   phi(t) = s (t - 2 s**2 (1/3 + s**2/5 + s**4/7 + ...)).
    """
    small = np.abs(t) < _SERIES_BELOW
    loss = t - log_u
    if small.any():
        s = t / (2.0 + t)
        s2 = s * s
        tail = 1 / 3 + s2 * (1 / 5 + s2 * (1 / 7 + s2 * (1 / 9 + s2 * (1 / 11 + s2 * (1 / 13)))))
        loss = np.where(small, s * (t - 2.0 * s2 * tail), loss)
    return loss


def inverse_above_lower(y: FloatArray) -> FloatArray:
    """Lower bound of the t > 0 with phi(t) = y (Chatzigeorgiou 2013, on the Lambert function's branch -1)."""
    return np.sqrt(2 * y) + 2 / 3 * y


def inverse_above_upper(y: FloatArray) -> FloatArray:
    """Upper bound of the t > 0 with phi(t) = y (Chatzigeorgiou 2013)."""
    return np.sqrt(2 * y) + y


def log_odds_below_lower(y: FloatArray) -> FloatArray:
    """Lower bound of log((1 - v)/v) for the v in (0, 1) with phi(-v) = y.

    phi(-v) = -log(1 - v) - v >= v**2/2 bounds v by v_max = min(1, sqrt(2 y)), and 1 - v = exp(-y - v).
    """
    v_max = np.minimum(1.0, np.sqrt(2 * y))
    return -y - v_max - np.log(v_max)


def log_odds_below_upper(y: FloatArray) -> FloatArray:
    """Upper bound of log((1 - v)/v) for the v in (0, 1) with phi(-v) = y, from phi(-v) <= v**2/(2 (1 - v))."""
    v_min = 2.0 / (1.0 + np.sqrt(1.0 + 2.0 / y))
    return -y - v_min - np.log(v_min)

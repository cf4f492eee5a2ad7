"""Scores of points under a mean and a covariance that are known only up to a radius."""

import numpy as np
from numpy.typing import ArrayLike

from ...documented import plain_signature
from ...moments.factors import Factor, check_covariance, check_mean, check_points, check_radius, squared_distances
from ...numerics.types import FloatArray
from .base import ALPHA_CEILING, ALPHA_FLOOR
from .registry import Likelihood, LikelihoodName, Side, get_likelihood


@plain_signature
def log_score(
    X: ArrayLike,
    mean: ArrayLike,
    covariance: ArrayLike,
    radius: float,
    *,
    likelihood: LikelihoodName | Likelihood = "gaussian",
    side: Side = "optimistic",
) -> FloatArray:
    """Logarithm of the best or worst plausible score of each point.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_features,)
        Many points, or one.
    mean : array-like of shape (n_features,)
        Nominal mean.
    covariance : array-like of shape (n_features, n_features)
        Nominal covariance, symmetric positive definite.
    radius : float
        Radius >= 0 of the ambiguity set: all moments whose `moment_divergence` from the nominal ones is at most that.
    likelihood : {"gaussian", "nonparametric", "fixed-mean"} or Likelihood, default="gaussian"
        "gaussian" is the density with mean and covariance free, "fixed-mean" the density with the covariance free,
        "nonparametric" the probability that some distribution with these moments gives to the point.
    side : {"optimistic", "pessimistic"}, default="optimistic"
        The largest or the smallest score over the set.

    Returns
    -------
    ndarray of shape (n_samples,)
        Natural logarithms, of the type float32 if X is float32 and float64 otherwise.

    See Also
    --------
    extremal_moments : The moments that attain the score.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import log_score
    >>> X = [[0.0, 0.0], [3.0, 1.0]]
    >>> log_score(X, [0, 0], np.eye(2), 0.0).round(4)
    array([-1.8379, -6.8379])
    >>> log_score(X, [0, 0], np.eye(2), 0.5).round(4)
    array([-1.2052, -3.4691])
    >>> log_score(X, [0, 0], np.eye(2), 0.5, side="pessimistic").round(4)
    array([ -2.6391, -13.904 ])
    """
    kind = get_likelihood(likelihood)
    center = check_mean(mean, "mean")
    _, factor = check_covariance(covariance, "covariance", center.size)
    points = check_points(X, center.size)
    extreme = kind.at(side, check_radius(radius), center.size)
    result = extreme.log_score(squared_distances(points, center, factor))
    return result + result.dtype.type(kind.log_volume(factor.logdet))


@plain_signature
def extremal_moments(
    x: ArrayLike,
    mean: ArrayLike,
    covariance: ArrayLike,
    radius: float,
    *,
    likelihood: LikelihoodName | Likelihood = "gaussian",
    side: Side = "optimistic",
) -> tuple[FloatArray, FloatArray]:
    """The mean and the covariance in the ambiguity set at which a point has its best or worst score.

    Parameters
    ----------
    x : array-like of shape (n_features,)
        One point.
    mean : array-like of shape (n_features,)
        Nominal mean.
    covariance : array-like of shape (n_features, n_features)
        Nominal covariance, symmetric positive definite.
    radius : float
        Radius >= 0 of the ambiguity set.
    likelihood : {"gaussian", "nonparametric", "fixed-mean"} or Likelihood, default="gaussian"
        As for `log_score`.
    side : {"optimistic", "pessimistic"}, default="optimistic"
        The best or the worst score over the set.

    Returns
    -------
    mean : ndarray of shape (n_features,)
        Extremal mean.
    covariance : ndarray of shape (n_features, n_features)
        Extremal covariance.

    See Also
    --------
    log_score : The score that these moments attain.

    Notes
    -----
    Where a point is its own nominal mean, every direction is as good as any other for the pessimistic nonparametric
    score; one of them is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import extremal_moments, moment_divergence
    >>> mu, sigma = extremal_moments([2.0, 0.0], [0, 0], np.eye(2), 0.5)
    >>> mu.round(4), sigma.round(4)
    (array([0.6943, 0.    ]), array([[1.5594, 0.    ],
           [0.    , 0.6529]]))
    >>> round(moment_divergence([0, 0], np.eye(2), mu, sigma), 10)
    0.5
    """
    kind = get_likelihood(likelihood)
    center = check_mean(mean, "mean")
    nominal, factor = check_covariance(covariance, "covariance", center.size)
    points = check_points(x, center.size, "x").astype(np.float64)
    if len(points) != 1:
        raise ValueError(f"x must be one point of shape ({center.size},), got {len(points)} points.")
    rho = check_radius(radius)
    extreme = kind.at(side, rho, center.size)
    if rho == 0:
        return center.copy(), nominal.copy()
    w, alpha = points[0] - center, squared_distances(points, center, factor)
    if alpha[0] > ALPHA_CEILING:
        raise ValueError("x is too far from the mean for its extremal moments to be represented; move it closer.")
    if alpha[0] < ALPHA_FLOOR:
        w, alpha = _step_off_mean(w, factor), np.array([ALPHA_FLOOR])
    with np.errstate(all="ignore"):
        shift, scale, spread = (float(c[0]) for c in extreme.mixing(alpha))
        # The outer product of scaled vectors: neither w w' nor the coefficient alone need be representable.
        root = np.sqrt(abs(spread)) * w
        mu, sigma = center + shift * w, scale * nominal + np.sign(spread) * np.outer(root, root)
    if not (np.isfinite(mu).all() and np.isfinite(sigma).all()):
        raise ValueError("the extremal moments exceed the range of floating-point numbers; use a smaller radius.")
    return mu, sigma


def _step_off_mean(w: FloatArray, factor: Factor) -> FloatArray:
    """The deviation w, or any other where it vanishes, at the squared distance below which scores are constant."""
    size = np.abs(w).max()
    direction = w / size if size > 0 else factor.lower[:, 0]
    eta = factor.whiten(direction[None, :])[0]
    return direction * np.sqrt(ALPHA_FLOOR) / np.linalg.norm(eta)

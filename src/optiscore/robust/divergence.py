"""The divergence between two pairs of mean and covariance that defines the ambiguity sets."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh

from ..documented import plain_signature
from ..moments.factors import check_covariance, check_mean
from ..moments.stein import stein_loss


@plain_signature
def moment_divergence(mean_1: ArrayLike, cov_1: ArrayLike, mean_2: ArrayLike, cov_2: ArrayLike) -> float:
    r"""Divergence of moments (1) from moments (2), twice the Kullback-Leibler divergence of the two Gaussians.

    .. math:: D = (\mu_2 - \mu_1)' \Sigma_2^{-1} (\mu_2 - \mu_1) + \mathrm{tr}(\Sigma_1 \Sigma_2^{-1})
              - \log\det(\Sigma_1 \Sigma_2^{-1}) - d

    (paper, Definition 2.1). It is not symmetric. It is invariant under every affine change of coordinates.

    Parameters
    ----------
    mean_1, mean_2 : array-like of shape (n_features,)
        Means.
    cov_1, cov_2 : array-like of shape (n_features, n_features)
        Symmetric positive definite covariances.

    Returns
    -------
    float
        A number >= 0, and 0 only where the moments agree. Nearly equal moments lose no digits: with the eigenvalues
        1 + t of cov_1 relative to cov_2, the part of the covariances is the sum of t - log(1 + t).

    Examples
    --------
    >>> from optiscore import moment_divergence
    >>> round(moment_divergence([0, 0], [[1, 0], [0, 1]], [1, 0], [[2, 0], [0, 1]]), 6)
    0.693147
    """
    mu_1, mu_2 = check_mean(mean_1, "mean_1"), check_mean(mean_2, "mean_2")
    if mu_1.shape != mu_2.shape:
        raise ValueError(f"mean_1 and mean_2 must have as many features, got {mu_1.size} and {mu_2.size}.")
    sigma_1, factor_1 = check_covariance(cov_1, "cov_1", mu_1.size)
    sigma_2, factor_2 = check_covariance(cov_2, "cov_2", mu_1.size)
    with np.errstate(over="ignore", invalid="ignore"):
        shift = factor_2.whiten((mu_2 - mu_1)[None, :])
        ratio = factor_2.whiten(factor_1.lower.T)
        difference = factor_2.whiten(factor_2.whiten(sigma_1 - sigma_2).T)
        divergence = float(np.square(shift).sum())
        if np.abs(difference).sum(axis=1).max() < 0.5:
            t = eigvalsh((difference + difference.T) / 2, check_finite=False)
            divergence += float(stein_loss(t, np.log1p(t)).sum())
        else:
            divergence += float(np.square(ratio).sum()) - mu_1.size - (factor_1.logdet - factor_2.logdet)
    if not np.isfinite(divergence):
        raise ValueError("the divergence exceeds the range of floating-point numbers; rescale the moments.")
    return max(divergence, 0.0)

"""The limit law of the divergence of estimated moments: a weighted sum of independent chi-squares."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigvalsh
from scipy.special import gammaincinv

from ._typing import FloatArray
from .moments import check_covariance, check_mean, factorise
from .rootfinding import find_root

# The contour of the inversion integral in units of its width at the saddle point: step, bend and length. Halving the
# step or doubling the length changes no probability by more than 1e-12.
_STEP, _BEND, _N_STEPS = 0.08, 0.25, 200

# Rows of features, or of points times nodes times weights, that are alive at a time.
_BLOCK = 4096


class LimitLaw:
    """Law of sum_i lambda_i chi2_i with independent chi-squares of one degree of freedom (paper, Theorem 2.3).

    n times the divergence of the moments of n samples from the true ones tends to H'H + tr(Z^2)/2 with jointly Gaussian
    H and Z. That is a quadratic form in the feature vector (eta_j; (eta_j^2 - 1)/sqrt 2; eta_j eta_k for j < k) of the
    whitened sample eta, so the weights lambda are the eigenvalues of its covariance. For Gaussian samples all are 1.

    Parameters
    ----------
    weights : array-like of shape (n_weights,)
        Weights lambda >= 0, at least one of them positive.

    Attributes
    ----------
    weights : ndarray
        The positive weights in decreasing order.
    mean, variance : float
        Moments of the law.

    Examples
    --------
    Independent normalised chi-square(1) marginals in d = 5 dimensions, as in the paper's Figure 1:

    >>> import numpy as np
    >>> from optiscore import LimitLaw
    >>> d, root = 5, np.sqrt(13)
    >>> law = LimitLaw(np.repeat([4 + root, 4 - root, 1.0], [d, d, d * (d - 1) // 2]))
    >>> round(float(law.quantile(0.5)), 3), round(float(law.cdf(45.263)), 3)
    (45.263, 0.5)
    """

    def __init__(self, weights: ArrayLike) -> None:
        given = np.asarray(weights, dtype=np.float64).ravel()
        if not (np.isfinite(given).all() and (given >= 0).all() and (given > 0).any()):
            raise ValueError("weights must be finite and >= 0, and at least one of them positive.")
        # A weight below rounding of the largest moves no probability.
        self.weights: FloatArray = np.sort(given[given > 1e-15 * given.max()])[::-1]
        self.mean = float(self.weights.sum())
        self.variance = float(2 * np.square(self.weights).sum())

    @classmethod
    def from_samples(
        cls,
        X: ArrayLike,
        *,
        mean: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        max_samples: int = 4000,
    ) -> Self:
        """Estimate the weights from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        mean, covariance : array-like, default=None
            Moments that whiten the samples; None stands for the samples' own (covariance with denominator n).
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; whole numbers act as repetitions.
        max_samples : int, default=4000
            Where both the samples and the d (d + 3)/2 features exceed this number, that many samples, spread evenly
            over the rows of X, stand for all: the eigenvalues of a larger matrix would cost more than they tell.

        Returns
        -------
        LimitLaw
        """
        points = _check_samples(X)
        n, d = points.shape
        shares = _shares(sample_weight, n)
        m = shares @ points if mean is None else check_mean(mean, "mean")
        deviations = points - m
        if covariance is None:
            factor = factorise((deviations * shares[:, None]).T @ deviations, "the sample covariance of X")
        else:
            factor = check_covariance(covariance, "covariance", d)[1]
        eta = factor.whiten(deviations)
        n_features = d * (d + 3) // 2
        if min(n, n_features) > max_samples:
            rows = np.linspace(0, n - 1, max_samples).astype(int)
            eta, shares = eta[rows], shares[rows] / shares[rows].sum()
        form = _feature_covariance if len(eta) >= n_features else _gram_matrix
        return cls(np.maximum(eigvalsh(form(eta, shares), check_finite=False), 0))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of at most x."""
        values = np.asarray(x, dtype=np.float64)
        tail = self._invert(values, with_pole=True)
        return np.where(values <= 0, 0.0, np.where(values < self.mean, tail, 1 + tail)).clip(0, 1)

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Density at x."""
        values = np.asarray(x, dtype=np.float64)
        return np.where(values <= 0, 0.0, self._invert(values, with_pole=False)).clip(0)

    def quantile(self, probability: ArrayLike) -> FloatArray:
        """The x with cdf(x) = probability, for probabilities strictly between 0 and 1."""
        p = np.asarray(probability, dtype=np.float64)
        if not ((p > 0) & (p < 1)).all():
            raise ValueError(f"probability must lie strictly between 0 and 1, got {probability!r}.")
        # The largest term alone is smaller than the sum; Markov's inequality bounds from above.
        lower = np.log(self.weights[0] * 2 * gammaincinv(0.5, p))
        upper = np.log(self.mean / (1 - p))

        def surplus(z: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
            x = np.exp(z)
            return self.cdf(x) - p, self.pdf(x) * x

        roots = find_root(surplus, lower.ravel(), upper.ravel(), (p.ravel(),), step_tolerance=1e-6).root
        return np.exp(roots).reshape(p.shape)

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> FloatArray:
        """Independent draws."""
        rng = np.random.default_rng(random_state)
        draws = np.empty(n_samples)
        for start in range(0, n_samples, _BLOCK):
            block = draws[start : start + _BLOCK]
            block[:] = rng.chisquare(1, size=(block.size, self.weights.size)) @ self.weights
        return draws

    def _invert(self, x: FloatArray, with_pole: bool) -> FloatArray:
        """Invert the Laplace transform M(s) = prod_i (1 + 2 lambda_i s)^(-1/2) at each x > 0.

        The integral of exp(s x) M(s)/s (for the cdf) or exp(s x) M(s) (for the density) over 2 pi i runs along a
        parabola that crosses the real axis at a saddle point and bends around the singularities on its negative half.
        There the trapezoidal rule converges exponentially. Above the mean the saddle to the left of the pole at 0 is
        taken, which gives minus the upper tail instead of the lower one.
        """
        flat = np.ravel(x)
        result = np.zeros(flat.size)
        positive = np.flatnonzero(flat > 0)
        rows = max(1, _BLOCK * 256 // (_N_STEPS * self.weights.size))
        for start in range(0, positive.size, rows):
            index = positive[start : start + rows]
            result[index] = self._invert_block(flat[index], with_pole)
        return result.reshape(np.shape(x))

    def _invert_block(self, x: FloatArray, with_pole: bool) -> FloatArray:
        saddle, width = (column[:, None] for column in self._saddle(x))
        theta = _STEP * (np.arange(_N_STEPS) + 0.5)
        # Many weights make the peak narrow against the distance to the nearest branch point: then it hardly bends.
        bend = _BEND * width / (saddle + 0.5 / self.weights[0])
        s = saddle + width * (1j * theta - bend * theta**2)
        direction = width * (1j - 2 * bend * theta)
        log_transform = -0.5 * np.log1p(2 * s[:, :, None] * self.weights).sum(axis=2)
        integrand = np.exp(s * x[:, None] + log_transform) * direction
        if with_pole:
            integrand = integrand / s
        # The lower half of the contour mirrors the upper one: the imaginary parts add up.
        return integrand.imag.sum(axis=1) * (_STEP / np.pi)

    def _saddle(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Real s at which s x + log M(s) - log|s| is smallest, and the width of the peak across it."""
        low = x < self.mean
        largest, n_weights = self.weights[0], self.weights.size
        edge = -0.5 / largest
        lower = np.where(low, 1 / x, edge * (1 - largest / (x + 4 * largest)))
        upper = np.where(low, (n_weights / 2 + 1) / x, edge * min(0.5, largest / self.mean))

        def slope(s: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
            ratio = self.weights / (1 + 2 * self.weights * s[:, None])
            return x - ratio.sum(axis=1) - 1 / s, 2 * np.square(ratio).sum(axis=1) + 1 / s**2

        saddle = find_root(slope, lower, upper, (x,), step_tolerance=1e-6).root
        return saddle, 1 / np.sqrt(slope(saddle, x)[1])


def _check_samples(X: ArrayLike) -> FloatArray:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or min(points.shape) < 1:
        raise ValueError(f"X must be of shape (n_samples, n_features), got {points.shape}.")
    if not np.isfinite(points).all():
        raise ValueError("X contains NaN or infinity; remove or impute these entries first.")
    return points


def _shares(sample_weight: ArrayLike | None, n: int) -> FloatArray:
    """Weights that sum to 1."""
    if sample_weight is None:
        return np.full(n, 1 / n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not (np.isfinite(weight).all() and (weight >= 0).all() and weight.sum() > 0):
        raise ValueError(f"sample_weight must hold {n} finite numbers >= 0, not all of them 0.")
    return weight / weight.sum()


def _feature_covariance(eta: FloatArray, shares: FloatArray) -> FloatArray:
    """Covariance of the features (eta_j; (eta_j^2 - 1)/sqrt 2; eta_j eta_k, j < k), by blocks of samples."""
    n, d = eta.shape
    j, k = np.triu_indices(d)
    scale = np.where(j == k, np.sqrt(0.5), 1.0)
    total = np.zeros(d + j.size)
    second = np.zeros((total.size, total.size))
    for start in range(0, n, _BLOCK):
        block, share = eta[start : start + _BLOCK], shares[start : start + _BLOCK]
        features = np.hstack([block, (block[:, j] * block[:, k] - (j == k)) * scale])
        total += share @ features
        second += (features * share[:, None]).T @ features
    return second - np.outer(total, total)


def _gram_matrix(eta: FloatArray, shares: FloatArray) -> FloatArray:
    """The n x n matrix with the same positive eigenvalues: inner products of the centred features."""
    k = eta @ eta.T
    squares = np.diagonal(k)
    gram = k + 0.5 * (k**2 - squares - squares[:, None] + eta.shape[1])
    center = gram @ shares
    gram += shares @ center - center - center[:, None]
    root = np.sqrt(shares)
    return gram * root * root[:, None]

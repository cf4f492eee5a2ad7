"""The limit distribution of the divergence of estimated moments: a weighted sum of independent chi-squares."""

from numbers import Integral
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from ..documented import plain_signatures
from ..moments.factors import check_covariance, check_mean, factorise, finite_array
from ..numerics.root_finding import find_root
from ..numerics.types import BoolArray, FloatArray
from ..trust.probabilities import check_probability

# The nodes of the inversion integral: step and number on a hyperbolic scale, and how far the contour leans to the left
# where the integrand decays slowly.
_STEP, _N_STEPS, _LEAN = 0.07, 220, 0.5

# A difference of logarithms beyond which terms of the integral are lost in rounding.
_NEGLIGIBLE = 45.0

# Rows of features, and terms of the integral (points times nodes times weights), that are alive at a time.
_BLOCK, _MAX_TERMS = 4096, 1_000_000

# Stands for all x below it, in units of the largest weight.
_SMALLEST = 1e-100


@plain_signatures
class LimitLaw:
    """Distribution of sum_i lambda_i chi2_i with independent chi-squares of one degree of freedom (paper, Theorem 2.2).

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
        First two moments of the distribution.

    Examples
    --------
    Independent normalised chi-square(1) marginals in d = 5 dimensions, as in the paper's Figure 1:

    >>> import numpy as np
    >>> from optiscore import LimitLaw
    >>> d, root = 5, np.sqrt(13)
    >>> law = LimitLaw(np.repeat([4 + root, 4 - root, 1.0], [d, d, d * (d - 1) // 2]))
    >>> round(float(law.ppf(0.5)), 3), round(float(law.cdf(45.263)), 3)
    (45.263, 0.5)
    """

    def __init__(self, weights: ArrayLike) -> None:
        given = finite_array(weights, "weights").ravel()
        if not ((given >= 0).all() and (given > 0).any()):
            raise ValueError("weights must be finite and >= 0, and at least one of them positive.")
        # A weight below rounding of the largest moves no probability.
        self.weights: FloatArray = np.sort(given[given > 1e-13 * given.max()])[::-1]
        self.mean = float(self.weights.sum())
        # Inside, everything is in units of the largest weight.
        self._ratios = self.weights / self.weights[0]
        self._mean_ratio = float(self._ratios.sum())

    def __repr__(self) -> str:
        return f"LimitLaw({self.weights.size} weights, mean={self.mean:.6g})"

    @property
    def variance(self) -> float:
        """Variance of the distribution."""
        return 2 * float(np.square(self._ratios).sum()) * float(self.weights[0]) ** 2

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
            Weights of the samples; integers act as repetitions.
        max_samples : int, default=4000
            Where both the samples and the d (d + 3)/2 features exceed this number, that many samples, spread evenly
            over the rows of X, stand for all: the eigenvalues of a larger matrix would cost more than they tell.

        Returns
        -------
        LimitLaw
        """
        if not (isinstance(max_samples, Integral) and max_samples >= 2):
            raise ValueError(f"max_samples must be an integer >= 2, got {max_samples!r}.")
        points, fractions = _check_samples(X, sample_weight)
        eta = _whiten(points, fractions, mean, covariance)
        n, d = eta.shape
        n_moments = d * (d + 3) // 2
        if min(n, n_moments) > max_samples:
            rows = np.linspace(0, n - 1, int(max_samples)).astype(int)
            eta, fractions = eta[rows], fractions[rows] / fractions[rows].sum()
        form = _feature_covariance if len(eta) >= n_moments else _gram_matrix
        # SciPy's own would wake its threads while NumPy's still spin, which takes longer than the eigenvalues.
        return cls(np.maximum(np.linalg.eigvalsh(form(eta, fractions)), 0))

    def cdf(self, x: ArrayLike) -> FloatArray:
        """Probability of at most x.

        Returns
        -------
        ndarray
        """
        values = np.asarray(x, dtype=np.float64)
        lower, tail, _ = self._tail(values / self.weights[0])
        return np.where(np.isnan(values), np.nan, np.where(lower, tail, 1 - tail))

    def pdf(self, x: ArrayLike) -> FloatArray:
        """Density at x.

        Returns
        -------
        ndarray
        """
        values = np.asarray(x, dtype=np.float64)
        density = self._invert(values / self.weights[0])[1] / self.weights[0]
        return np.where(np.isnan(values), np.nan, density)

    def ppf(self, probability: ArrayLike) -> FloatArray:
        """The x with cdf(x) = probability.

        Parameters
        ----------
        probability : array-like
            Probabilities, strictly between 0 and 1.

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            If some probability is not between 0 and 1.
        """
        p = check_probability(probability, "probability")
        # The largest term alone is smaller than the sum; Markov's inequality bounds from above.
        lower = np.log(np.maximum(2 * gammaincinv(0.5, p), _SMALLEST))
        upper = np.log(self._mean_ratio / (1 - p))

        def surplus(z: FloatArray, p: FloatArray) -> tuple[FloatArray, FloatArray]:
            ratio = np.exp(z)
            low, tail, density = self._tail(ratio)
            return np.where(low, tail - p, (1 - p) - tail), density * ratio

        # A multiple of a chi-square variable with the same mean and variance tells where to start.
        squares = float(np.square(self._ratios).sum())
        freedom = self._mean_ratio**2 / squares
        guess = self._mean_ratio / freedom * 2 * gammaincinv(freedom / 2, p)
        start = np.clip(np.log(np.maximum(guess, _SMALLEST)), lower, upper).ravel()
        roots = find_root(surplus, lower.ravel(), upper.ravel(), (p.ravel(),), start=start, step_tolerance=1e-6)
        if not roots.converged.all():
            raise ArithmeticError("a quantile was not found; please report the weights.")
        return self.weights[0] * np.exp(roots.root).reshape(p.shape)

    def sample(self, n_samples: int, random_state: int | np.random.Generator | None = None) -> FloatArray:
        """Independent draws.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : int, Generator or None, default=None
            Seed.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        rng = np.random.default_rng(random_state)
        draws = np.empty(n_samples)
        for start in range(0, n_samples, _BLOCK):
            block = draws[start : start + _BLOCK]
            block[:] = rng.chisquare(1, size=(block.size, self.weights.size)) @ self.weights
        return draws

    def _tail(self, x: FloatArray) -> tuple[BoolArray, FloatArray, FloatArray]:
        """In units of lambda_1: is x below the mean, the tail's probability on its own side of it, and the density."""
        tail, density = self._invert(x)
        lower = x < self._mean_ratio
        return lower, np.where(lower, tail, -tail).clip(0, 1), density

    def _invert(self, x: FloatArray) -> FloatArray:
        """Invert the Laplace transform M(s) = prod_i (1 + 2 lambda_i s)^(-1/2) at each x > 0, in units of lambda_1.

        The result has two rows, for the cdf and for the density.

        The integral of exp(s x) M(s)/s (for the cdf) or exp(s x) M(s) (for the density) over 2 pi i runs upwards
        through a saddle point on the real axis and leans to the left, away from where |M| is large. There the
        trapezoidal rule on a hyperbolic scale converges exponentially. Above the mean the saddle to the left of the
        pole at 0 is taken, which gives minus the upper tail instead of the lower one.
        """
        flat = np.ravel(x)
        result = np.zeros((2, flat.size))
        positive = np.flatnonzero((flat > 0) & (flat < np.inf))
        rows = max(1, _MAX_TERMS // (_N_STEPS * self.weights.size))
        for start in range(0, positive.size, rows):
            index = positive[start : start + rows]
            result[:, index] = self._invert_block(np.maximum(flat[index], _SMALLEST))
        return result.reshape(2, *np.shape(x))

    def _invert_block(self, x: FloatArray) -> FloatArray:
        saddle, width = (column[:, None] for column in self._saddle(x))
        theta = _STEP * (np.arange(_N_STEPS) + 0.5)
        y, dy = width * np.sinh(theta), width * np.cosh(theta)
        turn = np.maximum(self._turn(x[:, None], saddle, y), width)
        bent = np.hypot(y, turn)
        s = saddle + 1j * y - _LEAN * (bent - turn)
        direction = dy * (1j - _LEAN * y / bent)
        needed = self._last_node(x, s, direction)
        s, direction = s[:, :needed], direction[:, :needed]
        with np.errstate(under="ignore"):
            integrand = np.exp(s * x[:, None] + self._log_transform(s)) * direction
        # The lower half of the contour mirrors the upper one: the imaginary parts add up.
        return np.stack([part.imag.sum(axis=1) for part in (integrand / s, integrand)]) * (_STEP / np.pi)

    def _last_node(self, x: FloatArray, s: np.ndarray, direction: np.ndarray) -> int:
        """How many nodes are needed: beyond, the integrand decreases and is below rounding. Every eighth one tells."""
        coarse, along = s[:, ::8], direction[:, ::8]
        height = (coarse * x[:, None] + self._log_transform(coarse)).real + np.log(np.abs(along))
        counts = np.flatnonzero((height > height[:, :1] - _NEGLIGIBLE).any(axis=0))
        return 8 * (int(counts[-1]) + 1)

    def _log_transform(self, s: np.ndarray) -> np.ndarray:
        """Log M(s) = -sum_i log(1 + 2 lambda_i s)/2, for s with a positive imaginary part.

        Moduli are multiplied, some at a time, before one logarithm is taken of them; each angle lies between 0 and pi.
        """
        step = 2 * self._ratios
        real, imaginary = 1 + step * s.real[:, :, None], step * s.imag[:, :, None]
        angle = np.arctan2(imaginary, real).sum(axis=2)
        squares = real**2 + imaginary**2
        at_a_time = int(600 / np.abs(np.log(squares[..., [0, -1]])).max().clip(30, 600))
        products = np.multiply.reduceat(squares, np.arange(0, step.size, at_a_time), axis=2)
        return -0.25 * np.log(products).sum(axis=2) - 0.5j * angle

    def _turn(self, x: FloatArray, saddle: FloatArray, y: FloatArray) -> FloatArray:
        """The height from which on a contour may lean to the left: there that makes the integrand smaller.

        It does where Re d/ds (s x + log M(s)) = x - sum_i lambda_i t_i/(t_i**2 + Y_i**2) is positive, with Y_i =
        2 lambda_i y and t_i = Re(1 + 2 lambda_i s), which leaning brings down to T_i - lean Y_i at most.
        """
        # Every fourth height is asked for the next one.
        height = 2 * self._ratios * y[:, ::4, None]
        t = 1 + 2 * self._ratios * saddle[:, :, None] - _LEAN * height
        worst = (self._ratios * np.where(t > height, t / (t**2 + height**2), 0.5 / height)).sum(axis=2)
        following = y[:, np.minimum(np.arange(4, y.shape[1] + 4, 4), y.shape[1] - 1)]
        return np.where(worst > x, following, 0.0).max(axis=1, keepdims=True)

    def _saddle(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Real s at which s x + log M(s) - log|s| is smallest, and the width of the peak across it."""
        low = x < self._mean_ratio
        lower = np.where(low, 1 / x, -0.5 * (1 - 1 / (x + 4)))
        upper = np.where(low, (self.weights.size / 2 + 1) / x, -0.5 * min(0.5, 1 / self._mean_ratio))

        def slope(s: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
            ratio = self._ratios / (1 + 2 * self._ratios * s[:, None])
            return x - ratio.sum(axis=1) - 1 / s, 2 * np.square(ratio).sum(axis=1) + 1 / s**2

        saddle = find_root(slope, lower, upper, (x,), step_tolerance=1e-6).root
        return saddle, 1 / np.sqrt(slope(saddle, x)[1])


def _check_samples(X: ArrayLike, sample_weight: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Samples of positive weight, and their fractions of the total."""
    points = finite_array(X, "X")
    if points.ndim != 2 or min(points.shape) < 1:
        raise ValueError(f"X must be of shape (n_samples, n_features), got {points.shape}.")
    n = len(points)
    if sample_weight is None:
        return points, np.full(n, 1 / n)
    weight = finite_array(sample_weight, "sample_weight")
    if weight.shape != (n,) or not ((weight >= 0).all() and (weight > 0).any()):
        raise ValueError(f"sample_weight must hold {n} numbers >= 0, not all of them 0.")
    counted = weight > 0
    fractions = weight[counted] / weight.max()
    return points[counted], fractions / fractions.sum()


def _whiten(
    points: FloatArray, fractions: FloatArray, mean: ArrayLike | None, covariance: ArrayLike | None
) -> FloatArray:
    """Samples in coordinates in which the covariance is the identity."""
    d = points.shape[1]
    m = fractions @ points if mean is None else check_mean(mean, "mean")
    if m.size != d:
        raise ValueError(f"mean must have as many features as X, got {m.size} and {d}.")
    deviations = points - m
    if covariance is not None:
        return deviations @ check_covariance(covariance, "covariance", d)[1].whitener.T
    # The distribution is affine invariant: the units of the features can be chosen for safe squares.
    size = np.abs(deviations).max(axis=0)
    constant = size <= 8 * np.finfo(np.float64).eps * np.abs(points).max(axis=0)
    if constant.any():
        raise ValueError(
            f"X has no spread in feature {int(np.argmax(constant))}: the variance is 0. Drop it or pass a covariance."
        )
    deviations = deviations / size
    sample_covariance = (deviations * fractions[:, None]).T @ deviations
    return deviations @ factorise(sample_covariance, "the sample covariance of X").whitener.T


def _feature_covariance(eta: FloatArray, fractions: FloatArray) -> FloatArray:
    """Covariance of the features (eta_j; (eta_j^2 - 1)/sqrt 2; eta_j eta_k, j < k), by blocks of samples."""
    n, d = eta.shape
    j, k = np.triu_indices(d)
    scale = np.where(j == k, np.sqrt(0.5), 1.0)
    total = np.zeros(d + j.size)
    second = np.zeros((total.size, total.size))
    for start in range(0, n, _BLOCK):
        block, fraction = eta[start : start + _BLOCK], fractions[start : start + _BLOCK]
        features = np.hstack([block, (block[:, j] * block[:, k] - (j == k)) * scale])
        root = np.sqrt(fraction)
        features *= root[:, None]
        total += root @ features
        # Of a product with its own transpose, BLAS computes one half.
        second += features.T @ features
    return second - np.outer(total, total)


def _gram_matrix(eta: FloatArray, fractions: FloatArray) -> FloatArray:
    """The n x n matrix with the same positive eigenvalues: inner products of the centred features."""
    k = eta @ eta.T
    squares = np.diagonal(k)
    gram = k + 0.5 * (k**2 - squares - squares[:, None] + eta.shape[1])
    center = gram @ fractions
    gram += fractions @ center - center - center[:, None]
    root = np.sqrt(fractions)
    return gram * root * root[:, None]

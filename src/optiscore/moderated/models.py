"""Gaussian models that know their sample, with own and with shared covariances: densities, evidence, few samples.

Arrays over classes and samples have the shape (n_classes, n_samples); ``alpha`` are squared distances of samples.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, fdtrc, logsumexp, stdtrit

from ..moments.factors import Factor
from ..numerics.distances import ClassDistances, SharedDistances
from ..numerics.types import LOG_2PI, FloatArray
from ..trust.probabilities import normalise
from .likelihood_ratio import OwnEvidence, PairEvidence, SharedEvidence

# A correction that leaves less than this fraction of a squared distance would be larger than what it corrects.
SMALLEST_FRACTION = 0.02


class LeftOut(NamedTuple):
    """Squared distances and log joint densities of training samples, each under the model without that sample."""

    alpha: FloatArray
    log_joint: FloatArray


class GaussianModel(ABC):
    """Base of the two Gaussian models: sizes n_c of the classes, log priors, and means (n_classes, n_features)."""

    def __init__(self, class_count: FloatArray, log_priors: FloatArray, means: FloatArray) -> None:
        self.class_count, self.log_priors, self.means = class_count, log_priors, means
        self.n_classes, self.n_features = means.shape

    #: So much of a logarithm of densities counts; T is that of the log odds divided by it.
    sharpness = 1.0

    #: Logarithms of the determinants of the covariances, one per class.
    logdets: FloatArray
    #: Squared distances (n_classes, n_samples) of samples to all classes.
    distances: Callable[[FloatArray], FloatArray]

    @abstractmethod
    def variance(self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray) -> FloatArray:
        """Return the variance of the log odds of class a against class b at points with these squared distances."""

    @abstractmethod
    def variance_slopes(
        self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of the variance by alpha_a and by alpha_b."""

    @abstractmethod
    def gradient(self, X: FloatArray, c: int) -> FloatArray:
        """Return the gradient of the squared distance to a class, 2 S^-1 (x - m); of shape (n_samples, n_features)."""

    @abstractmethod
    def evidence(self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray) -> PairEvidence:
        """Return evidence on class a against class b, a pair for each point; all of shape (n_points,)."""

    @abstractmethod
    def unbiased(self, alpha: FloatArray) -> "tuple[GaussianModel, FloatArray]":
        """Return the model and the distances without the bias that estimating from few samples brings."""

    @abstractmethod
    def critical_ratio(
        self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray, confidence_level: float
    ) -> FloatArray:
        """Return the ratio that the log odds of a against b exceed with a probability of 1 - confidence_level."""

    @abstractmethod
    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Return the probability, for each class, that a new sample of it is as far away."""

    @abstractmethod
    def leave_out(self, alpha: FloatArray, codes: np.ndarray, mass: FloatArray | float = 1.0) -> LeftOut:
        """Return training samples of classes ``codes``, at the distances alpha, each under the model without it.

        So much of its weight is taken. Shrinkage and its target stay as they are: the result is within some percent of
        what refitting gives. A class of one sample has no density without it.
        """

    def with_sharpness(self, sharpness: float) -> "GaussianModel":
        """Return the same model, of whose log densities another part counts."""
        model = copy(self)
        model.sharpness = sharpness
        return model

    def variances(self, alpha: FloatArray, top: np.ndarray) -> FloatArray:
        """Return variances of the log odds of one class per sample against each class."""
        alpha_top = np.take_along_axis(alpha, top[None, :], axis=0)
        return self.variance(alpha_top, alpha, top, np.arange(self.n_classes)[:, None])

    def log_joint(self, alpha: FloatArray) -> FloatArray:
        """Return log prior plus log density of each class, of which the sharpness counts."""
        half = 0.5 * self.sharpness
        constants = self.log_priors - half * self.logdets - half * self.n_features * LOG_2PI
        return constants.astype(alpha.dtype)[:, None] - alpha.dtype.type(half) * alpha

    def log_density(self, alpha: FloatArray) -> FloatArray:
        """Return the log density of all classes together."""
        constants = self.log_priors - 0.5 * self.logdets - 0.5 * self.n_features * LOG_2PI
        return logsumexp(constants.astype(alpha.dtype)[:, None] - alpha.dtype.type(0.5) * alpha, axis=0)

    def nominal_log_proba(self, alpha: FloatArray) -> FloatArray:
        """Return log posteriors with the moments taken as exact."""
        return normalise(self.log_joint(alpha))

    def moderated_log_proba(self, alpha: FloatArray, log_joint: FloatArray) -> FloatArray:
        """Return log posteriors in the mean over what the moments may be.

        The log odds M_ab of the nominally best class a have the variance V_ab; the mean of the logistic function of
        such a Gaussian is about that of kappa_ab = M_ab/sqrt(1 + pi V_ab/8), and p_b is proportional to exp(-kappa_ab).
        """
        top = log_joint.argmax(axis=0)
        log_odds = log_joint.max(axis=0) - log_joint
        # Beyond any number of samples, the variance may exceed the range of numbers: the log odds are then 0.
        with np.errstate(over="ignore"):
            kappa = log_odds / np.sqrt(1 + (np.pi / 8) * self.sharpness**2 * self.variances(alpha, top))
        return normalise(-np.nan_to_num(kappa, copy=False, nan=0.0))

    def moderated_gradients(self, X: FloatArray, alpha: FloatArray, asked: np.ndarray) -> FloatArray:
        """Return gradients of moderated log probabilities of some classes; (n_asked, n_samples, n_features).

        With log p_c = -kappa_c - log sum_b exp(-kappa_b), where kappa_b depends on alpha_b and on that of the nominally
        best class, the gradient is the mean of those of kappa_b less that of kappa_c.
        """
        log_joint, columns = self.log_joint(alpha), np.arange(alpha.shape[1])
        top, every = log_joint.argmax(axis=0), np.arange(self.n_classes)[:, None]
        log_odds, alpha_top = log_joint.max(axis=0) - log_joint, alpha[top, columns]
        with np.errstate(over="ignore"):
            s, slopes = self.sharpness, self.variance_slopes(alpha_top, alpha, top, every)
            spread = 1 + (np.pi / 8) * s**2 * self.variances(alpha, top)
            by_top, by_own = (
                np.where(every == top, 0.0, (half - log_odds * (np.pi / 16) * s**2 * slope / spread) / np.sqrt(spread))
                for half, slope in zip((-0.5 * s, 0.5 * s), slopes, strict=True)
            )
            p = np.exp(self.moderated_log_proba(alpha, log_joint))
        found = np.zeros((len(asked), *X.shape))
        mean, of_top = np.zeros(X.shape), (p * by_top).sum(axis=0) - by_top[asked, columns]
        for c in range(self.n_classes):
            gradient = self.gradient(X, c)
            mean += (p[c] * by_own[c])[:, None] * gradient
            found += np.where(asked == c, -by_own[c], 0.0)[:, :, None] * gradient if (asked == c).any() else 0.0
            if (top == c).any():
                found += np.where(top == c, of_top, 0.0)[:, :, None] * gradient
        return found + mean

    def _others_in_class(
        self, codes: np.ndarray, mass: FloatArray | float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sizes k of the classes of samples, k - mass or at least the mass, and the logarithm of 1 - mass/k."""
        k = self.class_count[codes]
        with np.errstate(divide="ignore"):
            return k, np.maximum(k - mass, mass), np.log(np.maximum(k - mass, 0) / k)


class OwnModel(GaussianModel):
    """A covariance for each class: quadratic discriminant analysis.

    Beside the Cholesky factors of the covariances it takes, for each class, how many features the shrunk covariance has
    in effect, the excess kurtosis of features and of distances (0 for Gaussian ones), and the mean squared distance of
    the samples from their class.
    """

    def __init__(
        self,
        class_count: FloatArray,
        log_priors: FloatArray,
        means: FloatArray,
        factors: Sequence[Factor],
        effective_features: FloatArray,
        kurtosis: FloatArray,
        radial_kurtosis: FloatArray,
        mean_distance: FloatArray,
    ) -> None:
        super().__init__(class_count, log_priors, means)
        self.effective_features = effective_features
        self.kurtosis, self.radial_kurtosis = np.maximum(kurtosis, -0.5), radial_kurtosis
        self.mean_distance = mean_distance
        self.logdets = np.array([factor.logdet for factor in factors])
        self._distances = ClassDistances(means, np.stack([factor.whitener for factor in factors]))

    def distances(self, X: FloatArray) -> FloatArray:
        """Squared distances to all classes; far away, where squares would overflow, in proportion."""
        alpha = self._distances(X)
        limit = alpha.dtype.type(np.finfo(alpha.dtype).max ** 0.2)
        farthest = alpha.max(axis=0)
        if farthest.max(initial=0) > limit:
            far = farthest > limit
            alpha[:, far] *= limit / farthest[far]
        return alpha

    def variance(self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray) -> FloatArray:
        """V = (alpha_a^2 + d)/(2 n_a) + (alpha_b^2 + d)/(2 n_b) (`OwnEvidence`)."""
        doubled, d = (2 * self.class_count).astype(alpha_a.dtype), self.n_features
        return (alpha_a**2 + d) / doubled[a] + (alpha_b**2 + d) / doubled[b]

    def variance_slopes(
        self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        """Return alpha_a/n_a and alpha_b/n_b."""
        return alpha_a / self.class_count[a], alpha_b / self.class_count[b]

    def gradient(self, X: FloatArray, c: int) -> FloatArray:
        """Return 2 W'W (x - m), with W the inverse Cholesky factor of the class."""
        whitener = self._distances.whiteners[c]
        return 2 * ((X - self.means[c]) @ whitener.T) @ whitener

    def evidence(self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray) -> OwnEvidence:
        """Return evidence on class a against class b."""
        return OwnEvidence(self.class_count[a], self.class_count[b], self.n_features, alpha_a, alpha_b)

    def unbiased(self, alpha: FloatArray) -> "tuple[OwnModel, FloatArray]":
        """Means of inverse Wishart matrices and of their log determinants, for the effective number of features.

        alpha -> (n - d - 2)/n alpha - d/n and log det S -> log det S - sum_(i=1..d) digamma((n - i)/2) - d log(2/n).
        """
        n, d = self.class_count, np.minimum(self.effective_features, 0.8 * self.class_count)
        logdets = self.logdets - np.array([_log_wishart_bias(*pair) for pair in zip(n, d, strict=True)])
        model = copy(self)
        model.logdets = logdets
        return model, shrunk_distances(alpha, (n - d - 2) / n, d / n)

    def leave_out(self, alpha: FloatArray, codes: np.ndarray, mass: FloatArray | float = 1.0) -> LeftOut:
        """S without x is k/(k - 1) (S - (1 - s) v v'/(k - 1)), v = x - m, and x is k/(k - 1) v away from the mean."""
        rows, d = np.arange(len(codes)), self.n_features
        k, fewer, log_fraction = self._others_in_class(codes, mass)
        kept = mass * noise_fraction(self.effective_features, self.mean_distance)[codes]
        own = alpha[codes, rows]
        remains = np.maximum(1 - kept * own / fewer, SMALLEST_FRACTION)
        left = alpha.copy()
        left[codes, rows] = k / fewer * own / remains
        log_joint = self.log_joint(left)
        log_joint[codes, rows] += log_fraction - 0.5 * self.sharpness * (d * np.log(k / fewer) + np.log(remains))
        return LeftOut(left, log_joint)

    def critical_ratio(
        self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray, confidence_level: float
    ) -> FloatArray:
        """The F quantile, enlarged for the noise of covariances and for heavy tails.

        Each class brings its part of the variance, with n_c - 1 degrees of freedom (Welch and Satterthwaite).
        """
        n, enlarged = self.class_count, inflation(self.class_count, self.effective_features)
        gaussian_a, gaussian_b = self._part(alpha_a, a, 0.0), self._part(alpha_b, b, 0.0)
        heavy = enlarged[a] * self._part(alpha_a, a, self.kurtosis[a])
        heavy = heavy + enlarged[b] * self._part(alpha_b, b, self.kurtosis[b])
        fewer, gaussian = np.maximum(n - 1, 1), gaussian_a + gaussian_b
        freedom = gaussian**2 / (gaussian_a**2 / fewer[a] + gaussian_b**2 / fewer[b])
        return squared_t(confidence_level, freedom) * heavy / gaussian

    def _part(self, alpha: FloatArray, classes: np.ndarray, kurtosis: FloatArray | float) -> FloatArray:
        """Variance of the log odds that a class brings, for elliptical distributions."""
        d, more = self.n_features, 1 + kurtosis
        spread = 4 * alpha + more * (3 * alpha**2 - 2 * (d + 2) * alpha + d * (d + 2)) - (alpha - d) ** 2
        return np.maximum(spread, 0) / (4 * self.class_count[classes])

    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Hotelling's F for a new sample, with as many degrees of freedom as the kurtosis leaves."""
        n = self.class_count
        freedom = np.maximum(n - self.effective_features, 1.0)
        return hotelling(alpha, freedom / (n + 1), freedom, self.mean_distance, self.radial_kurtosis)


def _log_wishart_bias(n: float, d: float) -> float:
    """E[log det S_n] - log det S for n samples of d features; where d is no integer, the last term counts in part."""
    full = int(d)
    terms = digamma(np.maximum((n - np.arange(1, full + 2)) / 2, 0.25)) + np.log(2 / n)
    return float(terms[:full].sum() + (d - full) * terms[full])


class SharedModel(GaussianModel):
    """One covariance for all classes: linear discriminant analysis; arguments as of `OwnModel`, for all together."""

    def __init__(
        self,
        class_count: FloatArray,
        log_priors: FloatArray,
        means: FloatArray,
        factor: Factor,
        effective_features: float,
        radial_kurtosis: float,
        mean_distance: float,
    ) -> None:
        super().__init__(class_count, log_priors, means)
        self.effective_features = effective_features
        self.radial_kurtosis, self.mean_distance = radial_kurtosis, mean_distance
        self.logdets = np.full(self.n_classes, factor.logdet)
        self._whitener = factor.whitener
        self.distances = distances = SharedDistances(means, factor.whitener)
        self.n = float(class_count.sum())
        centers = distances.centers
        #: Squared distances between the means.
        self.gaps: FloatArray = np.stack([np.square(center - centers).sum(axis=1) for center in centers])

    def variance(self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray) -> FloatArray:
        """V = alpha_a/n_a + alpha_b/n_b + G/n + (alpha_a - alpha_b)^2/(2 n) (`SharedEvidence`)."""
        n_c = self.class_count.astype(alpha_a.dtype)
        gram = gram_determinant(alpha_b, alpha_a, self.gaps.astype(alpha_a.dtype)[b, a])
        spread = gram + 0.5 * (alpha_b - alpha_a) ** 2
        return alpha_b / n_c[b] + alpha_a / n_c[a] + spread / alpha_a.dtype.type(self.n)

    def variance_slopes(
        self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray
    ) -> tuple[FloatArray, FloatArray]:
        """Return 1/n_a + (alpha_a - alpha_b + gap)/(2 n), and the same with a and b exchanged."""
        gap, apart = self.gaps[b, a], alpha_a - alpha_b
        return tuple(1 / self.class_count[c] + (gap + x) / (2 * self.n) for c, x in ((a, apart), (b, -apart)))

    def gradient(self, X: FloatArray, c: int) -> FloatArray:
        """Return 2 W'W (x - m), with W the inverse Cholesky factor."""
        return 2 * ((X - self.means[c]) @ self._whitener.T) @ self._whitener

    def evidence(self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray) -> SharedEvidence:
        """Return evidence on class a against class b."""
        gram = gram_determinant(alpha_a, alpha_b, self.gaps[a, b])
        return SharedEvidence(self.class_count[a], self.class_count[b], self.n, alpha_a, alpha_b, gram)

    def unbiased(self, alpha: FloatArray) -> "tuple[SharedModel, FloatArray]":
        """Means of an inverse Wishart matrix with n - K degrees of freedom, and of the means' own errors."""
        n, n_c, d = self.n, self.class_count, min(self.effective_features, 0.8 * self.n)
        fraction = (n - self.n_classes - d - 1) / n
        between = d / n_c + (d / n_c)[:, None]
        gaps = shrunk_distances(self.gaps, np.full(self.n_classes, fraction), between)
        np.fill_diagonal(gaps, 0)
        model = copy(self)
        model.gaps = gaps
        return model, shrunk_distances(alpha, np.full(self.n_classes, fraction), d / n_c)

    def leave_out(self, alpha: FloatArray, codes: np.ndarray, mass: FloatArray | float = 1.0) -> LeftOut:
        """S without x is n/(n - 1) (S - g v v'), v = x - m and g = (1 - s) k/((k - 1) n); x moves only its own mean."""
        rows, n = np.arange(len(codes)), self.n
        k, fewer, log_fraction = self._others_in_class(codes, mass)
        g = mass * noise_fraction(self.effective_features, self.mean_distance) * k / (fewer * n)
        own = alpha[codes, rows]
        remains = np.maximum(1 - g * own, SMALLEST_FRACTION)
        cross = 0.5 * (alpha + own - self.gaps[:, codes])
        left = (n - mass) / n * (alpha + g * cross**2 / remains)
        left[codes, rows] *= (k / fewer) ** 2
        log_joint = self.log_joint(left)
        log_joint[codes, rows] += log_fraction
        return LeftOut(left, log_joint)

    def critical_ratio(
        self, alpha_a: FloatArray, alpha_b: FloatArray, a: np.ndarray, b: np.ndarray, confidence_level: float
    ) -> FloatArray:
        """The F quantile, enlarged for the noise of the covariance; heavy tails cancel between the classes."""
        n, d = np.array([self.n]), np.array([self.effective_features])
        enlarged = squared_t(confidence_level, np.maximum(n - self.n_classes, 1)) * inflation(n, d + 1)
        return np.broadcast_to(enlarged[0], np.broadcast_shapes(alpha_a.shape, alpha_b.shape))

    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Hotelling's F for a new sample; the covariance has n - K degrees of freedom, and the denominator n."""
        n_c = self.class_count
        freedom = np.full(self.n_classes, max(self.n - self.n_classes + 1 - self.effective_features, 1.0))
        distance, kurtosis = (np.full(self.n_classes, value) for value in (self.mean_distance, self.radial_kurtosis))
        return hotelling(alpha, freedom / self.n * n_c / (n_c + 1), freedom, distance, kurtosis)


def shrunk_distances(alpha: FloatArray, fraction: FloatArray, offset: FloatArray) -> FloatArray:
    """Distances fraction alpha - offset, of which a small fraction is always left."""
    offset = offset[:, None] if offset.ndim == 1 else offset
    return np.maximum(np.maximum(fraction, SMALLEST_FRACTION)[:, None] * alpha - offset, SMALLEST_FRACTION * alpha)


def inflation(n: FloatArray, lost: FloatArray) -> FloatArray:
    """n/(n - lost), for few samples at most 5."""
    return 1 / np.maximum(1 - lost / n, 0.2)


def squared_t(confidence_level: float, freedom: FloatArray) -> FloatArray:
    """Quantile of F with 1 and so many degrees of freedom: that of t, squared."""
    return stdtrit(np.maximum(freedom, 1.0), 0.5 + 0.5 * confidence_level) ** 2


def hotelling(
    alpha: FloatArray, scale: FloatArray, freedom: FloatArray, mean_distance: FloatArray, kurtosis: FloatArray
) -> FloatArray:
    """Tail of the squared distance of a new sample: scale alpha/d has F's distribution with nu and ``freedom`` degrees.

    For Gaussian samples (n - d)/d alpha/(n + 1), with the mean and the covariance (denominator n) of n samples, has
    that distribution with nu = d and n - d; shrinkage makes distances smaller, and d their mean. A kurtosis k makes the
    variance of alpha (1 + k) d (d + 2) - d^2 instead of 2 d, and nu accordingly smaller.
    """
    d = np.maximum(mean_distance, 1e-9)
    # Distances of bounded features vary less than Gaussian ones; they are not told from these.
    spread = np.maximum((1 + kurtosis) * d * (d + 2) - d**2, 2 * d)
    return fdtrc((2 * d**2 / spread)[:, None], freedom[:, None], (scale / d)[:, None] * alpha)


def noise_fraction(effective_features: FloatArray | float, mean_distance: FloatArray | float) -> FloatArray:
    """1 - s: how much of a shrunk covariance comes from the samples, d_eff being (1 - s) times their mean distance."""
    distance = np.maximum(mean_distance, 1e-9)
    return np.minimum(effective_features / distance, 1.0)


def gram_determinant(alpha_a: FloatArray, alpha_b: FloatArray, squared_gap: FloatArray) -> FloatArray:
    """alpha_a alpha_b - alpha_ab^2 for alpha_ab = (alpha_a + alpha_b - squared_gap)/2, as Heron has the area.

    Four times the squared area of a triangle with these squared sides; 0 where rounding makes it none.
    """
    total = np.sqrt(alpha_a) + np.sqrt(alpha_b)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.where(total > 0, (alpha_a - alpha_b) / total, 0.0)
    return np.maximum((total**2 - squared_gap) * (squared_gap - difference**2), 0) / 4

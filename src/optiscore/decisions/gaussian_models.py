"""Gaussian models of all classes that know their sample: log densities, evidence on pairs, corrections for few samples.

One model has covariances of their own for the classes, one a shared covariance. Arrays over classes and samples have
the shape (n_classes, n_samples); ``alpha`` are squared distances of samples.
"""

from abc import ABC, abstractmethod
from copy import copy

import numpy as np
from scipy.linalg.lapack import dtrtri
from scipy.special import digamma, fdtrc, stdtrit

from ..moments.factors import Factor
from ..numerics.types import FloatArray
from ..scores.base import LOG_2PI
from .distances import ClassDistances
from .likelihood_ratio import OwnEvidence, PairEvidence, SharedEvidence, gram_determinant

# A correction that leaves less than this fraction of a squared distance would be larger than what it corrects.
_SMALLEST_FRACTION = 0.02


class GaussianModel(ABC):
    """What two Gaussian models have in common.

    Parameters
    ----------
    class_count : ndarray of shape (n_classes,)
        Sizes n_c of the classes.
    log_priors : ndarray of shape (n_classes,)
        Logarithms of the class probabilities.
    means : ndarray of shape (n_classes, n_features)
        Means.
    """

    def __init__(self, class_count: FloatArray, log_priors: FloatArray, means: FloatArray) -> None:
        self.class_count, self.log_priors, self.means = class_count, log_priors, means
        self.n_classes, self.n_features = means.shape

    @abstractmethod
    def distances(self, X: FloatArray) -> FloatArray:
        """Squared distances to all classes."""

    @property
    @abstractmethod
    def logdets(self) -> FloatArray:
        """Logarithms of the determinants of the covariances, one per class."""

    @abstractmethod
    def variances(self, alpha: FloatArray, top: np.ndarray) -> FloatArray:
        """Variances of the log odds of one class per sample against each class."""

    @abstractmethod
    def evidence(self, alpha: FloatArray, a: int, b: int) -> PairEvidence:
        """Evidence on class a against class b."""

    @abstractmethod
    def unbiased(self, alpha: FloatArray) -> "tuple[GaussianModel, FloatArray]":
        """The model and the distances without the bias that estimating from few samples brings."""

    @abstractmethod
    def critical_ratio(self, alpha: FloatArray, a: int, b: int, confidence_level: float) -> FloatArray:
        """The likelihood ratio that the log odds of a against b exceed with a probability of 1 - confidence_level."""

    @abstractmethod
    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Probability, for each class, that a new sample of it is as far away."""

    def log_joint(self, alpha: FloatArray) -> FloatArray:
        """Log prior plus log density of each class."""
        constants = self.log_priors - 0.5 * self.logdets - 0.5 * self.n_features * LOG_2PI
        return constants.astype(alpha.dtype)[:, None] - 0.5 * alpha


class OwnModel(GaussianModel):
    """A covariance for each class: quadratic discriminant analysis.

    Parameters
    ----------
    class_count, log_priors, means
        As for `GaussianModel`.
    factors : list of Factor
        Cholesky factors of the covariances.
    effective_features : ndarray of shape (n_classes,)
        How many features the shrunk covariances have in effect.
    kurtosis, radial_kurtosis : ndarray of shape (n_classes,)
        Excess kurtosis of features and of distances in each class, 0 for Gaussian ones.
    mean_distance : ndarray of shape (n_classes,)
        Mean squared distance of the samples from their class.
    """

    def __init__(
        self,
        class_count: FloatArray,
        log_priors: FloatArray,
        means: FloatArray,
        factors: list[Factor],
        effective_features: FloatArray,
        kurtosis: FloatArray,
        radial_kurtosis: FloatArray,
        mean_distance: FloatArray,
    ) -> None:
        super().__init__(class_count, log_priors, means)
        self.factors, self.effective_features = factors, effective_features
        self.kurtosis, self.radial_kurtosis = np.maximum(kurtosis, -0.5), radial_kurtosis
        self.mean_distance = mean_distance
        self._logdets = np.array([factor.logdet for factor in factors])
        self._distances = ClassDistances(means, factors)

    @property
    def logdets(self) -> FloatArray:
        """Logarithms of the determinants of the covariances."""
        return self._logdets

    def distances(self, X: FloatArray) -> FloatArray:
        """Squared distances to all classes; far away, where squares would overflow, in proportion."""
        alpha = self._distances(X)
        limit = alpha.dtype.type(np.finfo(alpha.dtype).max ** 0.2)
        farthest = alpha.max(axis=0)
        if farthest.max(initial=0) > limit:
            far = farthest > limit
            alpha[:, far] *= limit / farthest[far]
        return alpha

    def variances(self, alpha: FloatArray, top: np.ndarray) -> FloatArray:
        """V = (alpha_a^2 + d)/(2 n_a) + (alpha_b^2 + d)/(2 n_b) (`OwnEvidence`)."""
        parts = (alpha**2 + self.n_features) / (2 * self.class_count).astype(alpha.dtype)[:, None]
        return parts + np.take_along_axis(parts, top[None, :], axis=0)

    def evidence(self, alpha: FloatArray, a: int, b: int) -> OwnEvidence:
        """Evidence on class a against class b."""
        return OwnEvidence(self.class_count[a], self.class_count[b], self.n_features, alpha[a], alpha[b])

    def unbiased(self, alpha: FloatArray) -> "tuple[OwnModel, FloatArray]":
        """Means of inverse Wishart matrices and of their log determinants, for the effective number of features.

        alpha -> (n - d - 2)/n alpha - d/n and log det S -> log det S - sum_(i=1..d) digamma((n - i)/2) - d log(2/n).
        """
        n, d = self.class_count, np.minimum(self.effective_features, 0.8 * self.class_count)
        logdets = self.logdets - np.array([_log_wishart_bias(*pair) for pair in zip(n, d, strict=True)])
        model = copy(self)
        model._logdets = logdets
        return model, _shrunk_distances(alpha, (n - d - 2) / n, d / n)

    def critical_ratio(self, alpha: FloatArray, a: int, b: int, confidence_level: float) -> FloatArray:
        """The F quantile, enlarged for the noise of covariances and for heavy tails.

        Each class brings its part of the variance, with n_c - 1 degrees of freedom (Welch and Satterthwaite).
        """
        gaussian = self._parts(alpha, (a, b), np.zeros(2))
        heavy = self._parts(alpha, (a, b), self.kurtosis[[a, b]])
        n, d = self.class_count[[a, b]], self.effective_features[[a, b]]
        inflated = heavy * _inflation(n, d)[:, None]
        freedom = gaussian.sum(axis=0) ** 2 / (gaussian**2 / np.maximum(n - 1, 1)[:, None]).sum(axis=0)
        return _squared_t(confidence_level, freedom) * inflated.sum(axis=0) / gaussian.sum(axis=0)

    def _parts(self, alpha: FloatArray, classes: tuple[int, int], kurtosis: FloatArray) -> FloatArray:
        """Variance of the log odds that each of two classes brings, for elliptical distributions."""
        d, rows = self.n_features, alpha[list(classes)]
        more = 1 + kurtosis[:, None]
        spread = 4 * rows + more * (3 * rows**2 - 2 * (d + 2) * rows + d * (d + 2)) - (rows - d) ** 2
        return np.maximum(spread, 0) / (4 * self.class_count[list(classes)])[:, None]

    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Hotelling's F for a new sample, with as many degrees of freedom as the kurtosis leaves."""
        n = self.class_count
        freedom = np.maximum(n - self.effective_features, 1.0)
        return _hotelling(alpha, freedom / (n + 1), freedom, self.mean_distance, self.radial_kurtosis)


class SharedModel(GaussianModel):
    """One covariance for all classes: linear discriminant analysis.

    Parameters
    ----------
    class_count, log_priors, means
        As for `GaussianModel`.
    factor : Factor
        Cholesky factor of the covariance.
    effective_features : float
        How many features the shrunk covariance has in effect.
    radial_kurtosis : float
        Excess kurtosis of the distances from the class means.
    mean_distance : float
        Mean squared distance of all samples from the mean of their class.
    """

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
        self.factor, self.effective_features = factor, effective_features
        self.radial_kurtosis, self.mean_distance = radial_kurtosis, mean_distance
        self._whitener = dtrtri(factor.lower, lower=1)[0]
        self._centers = (means - means[0]) @ self._whitener.T
        self.n = float(class_count.sum())
        #: Squared distances between the means.
        self.gaps: FloatArray = np.square(self._centers[:, None, :] - self._centers).sum(axis=2)

    @property
    def logdets(self) -> FloatArray:
        """Logarithm of the determinant of the covariance, the same for all classes."""
        return np.full(self.n_classes, self.factor.logdet)

    def distances(self, X: FloatArray) -> FloatArray:
        """Squared distances to all classes, of samples that are whitened once."""
        largest = np.finfo(X.dtype).max
        with np.errstate(over="ignore"):
            deviations = np.clip(X - self.means[0].astype(X.dtype), -largest, largest)
        eta = self._whitener.astype(X.dtype) @ self._within_reach(deviations).T
        alpha = np.empty((self.n_classes, len(X)), dtype=X.dtype)
        for center, row in zip(self._centers.astype(X.dtype), alpha, strict=True):
            apart = eta - center[:, None]
            np.einsum("ij,ij->j", apart, apart, out=row)
        return alpha

    def _within_reach(self, deviations: FloatArray) -> FloatArray:
        """Deviations in the same direction, at most so far that differences of squared distances keep some digits."""
        reach = 0.1 / np.finfo(deviations.dtype).eps / np.abs(self._whitener).sum(axis=1).max()
        size = np.abs(deviations).max(axis=1)
        if size.max(initial=0) <= reach:
            return deviations
        return deviations * np.minimum(1, reach / np.maximum(size, reach))[:, None].astype(deviations.dtype)

    def variances(self, alpha: FloatArray, top: np.ndarray) -> FloatArray:
        """V = alpha_a/n_a + alpha_b/n_b + G/n + (alpha_a - alpha_b)^2/(2 n) (`SharedEvidence`)."""
        n_c = self.class_count.astype(alpha.dtype)
        own = alpha / n_c[:, None]
        alpha_a = np.take_along_axis(alpha, top[None, :], axis=0)
        gram = gram_determinant(alpha, alpha_a, self.gaps.astype(alpha.dtype)[:, top])
        spread = gram + 0.5 * (alpha - alpha_a) ** 2
        return own + alpha_a / n_c[top] + spread / alpha.dtype.type(self.n)

    def evidence(self, alpha: FloatArray, a: int, b: int) -> SharedEvidence:
        """Evidence on class a against class b."""
        gram = gram_determinant(alpha[a], alpha[b], self.gaps[a, b])
        return SharedEvidence(self.class_count[a], self.class_count[b], self.n, alpha[a], alpha[b], gram)

    def unbiased(self, alpha: FloatArray) -> "tuple[SharedModel, FloatArray]":
        """Means of an inverse Wishart matrix with n - K degrees of freedom, and of the means' own errors."""
        n, n_c, d = self.n, self.class_count, min(self.effective_features, 0.8 * self.n)
        fraction = (n - self.n_classes - d - 1) / n
        between = d / n_c + (d / n_c)[:, None]
        gaps = _shrunk_distances(self.gaps, np.full(self.n_classes, fraction), between)
        np.fill_diagonal(gaps, 0)
        model = copy(self)
        model.gaps = gaps
        return model, _shrunk_distances(alpha, np.full(self.n_classes, fraction), d / n_c)

    def critical_ratio(self, alpha: FloatArray, a: int, b: int, confidence_level: float) -> FloatArray:
        """The F quantile, enlarged for the noise of the covariance; heavy tails cancel between the classes."""
        n, d = np.array([self.n]), np.array([self.effective_features])
        enlarged = _squared_t(confidence_level, np.maximum(n - self.n_classes, 1)) * _inflation(n, d + 1)
        return np.full(alpha.shape[1], enlarged[0])

    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Hotelling's F for a new sample; the covariance has n - K degrees of freedom, and the denominator n."""
        n_c = self.class_count
        freedom = np.full(self.n_classes, max(self.n - self.n_classes + 1 - self.effective_features, 1.0))
        distance, kurtosis = (np.full(self.n_classes, value) for value in (self.mean_distance, self.radial_kurtosis))
        return _hotelling(alpha, freedom / self.n * n_c / (n_c + 1), freedom, distance, kurtosis)


def _log_wishart_bias(n: float, d: float) -> float:
    """E[log det S_n] - log det S for n samples of d features; where d is no integer, the last term counts in part."""
    full = int(d)
    terms = digamma(np.maximum((n - np.arange(1, full + 2)) / 2, 0.25)) + np.log(2 / n)
    return float(terms[:full].sum() + (d - full) * terms[full])


def _shrunk_distances(alpha: FloatArray, fraction: FloatArray, offset: FloatArray) -> FloatArray:
    """Distances fraction alpha - offset, of which a small fraction is always left."""
    offset = offset[:, None] if offset.ndim == 1 else offset
    return np.maximum(np.maximum(fraction, _SMALLEST_FRACTION)[:, None] * alpha - offset, _SMALLEST_FRACTION * alpha)


def _inflation(n: FloatArray, lost: FloatArray) -> FloatArray:
    """n/(n - lost), for few samples at most 5."""
    return 1 / np.maximum(1 - lost / n, 0.2)


def _squared_t(confidence_level: float, freedom: FloatArray) -> FloatArray:
    """Quantile of F with 1 and so many degrees of freedom: that of t, squared."""
    return stdtrit(np.maximum(freedom, 1.0), 0.5 + 0.5 * confidence_level) ** 2


def _hotelling(
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

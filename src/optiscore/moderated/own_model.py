"""Gaussian classes with covariances of their own (quadratic discriminant analysis) that know their sample."""

from copy import copy

import numpy as np
from scipy.special import digamma

from ..moments.distances import ClassDistances
from ..moments.factors import Factor
from ..numerics.types import FloatArray
from .gaussian_model import (
    SMALLEST_FRACTION,
    GaussianModel,
    LeftOut,
    hotelling,
    inflation,
    noise_fraction,
    shrunk_distances,
    squared_t,
)
from .likelihood_ratio import OwnEvidence


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
        return model, shrunk_distances(alpha, (n - d - 2) / n, d / n)

    def leave_out(self, alpha: FloatArray, codes: np.ndarray) -> LeftOut:
        """S without x is k/(k - 1) (S - (1 - s) v v'/(k - 1)), v = x - m, and x is k/(k - 1) v away from the mean."""
        rows, d = np.arange(len(codes)), self.n_features
        k, fewer, log_fraction = self._others_in_class(codes)
        kept = noise_fraction(self.effective_features, self.mean_distance)[codes]
        own = alpha[codes, rows]
        remains = np.maximum(1 - kept * own / fewer, SMALLEST_FRACTION)
        left = alpha.copy()
        left[codes, rows] = k / fewer * own / remains
        log_joint = self.log_joint(left)
        log_joint[codes, rows] += log_fraction - 0.5 * (d * np.log(k / fewer) + np.log(remains))
        return LeftOut(left, log_joint)

    def critical_ratio(self, alpha: FloatArray, a: int, b: int, confidence_level: float) -> FloatArray:
        """The F quantile, enlarged for the noise of covariances and for heavy tails.

        Each class brings its part of the variance, with n_c - 1 degrees of freedom (Welch and Satterthwaite).
        """
        gaussian = self._parts(alpha, (a, b), np.zeros(2))
        heavy = self._parts(alpha, (a, b), self.kurtosis[[a, b]])
        n, d = self.class_count[[a, b]], self.effective_features[[a, b]]
        inflated = heavy * inflation(n, d)[:, None]
        freedom = gaussian.sum(axis=0) ** 2 / (gaussian**2 / np.maximum(n - 1, 1)[:, None]).sum(axis=0)
        return squared_t(confidence_level, freedom) * inflated.sum(axis=0) / gaussian.sum(axis=0)

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
        return hotelling(alpha, freedom / (n + 1), freedom, self.mean_distance, self.radial_kurtosis)


def _log_wishart_bias(n: float, d: float) -> float:
    """E[log det S_n] - log det S for n samples of d features; where d is no integer, the last term counts in part."""
    full = int(d)
    terms = digamma(np.maximum((n - np.arange(1, full + 2)) / 2, 0.25)) + np.log(2 / n)
    return float(terms[:full].sum() + (d - full) * terms[full])

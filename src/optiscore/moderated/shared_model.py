"""Gaussian classes with one covariance (linear discriminant analysis) that know their sample."""

from copy import copy

import numpy as np
from scipy.linalg.lapack import dtrtri

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
from .likelihood_ratio import SharedEvidence, gram_determinant


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
        self._whitener_norm = float(np.abs(self._whitener).sum(axis=1).max())
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
        with np.errstate(over="ignore"):
            deviations = X - self.means[0].astype(X.dtype)
        eta = self._whitener.astype(X.dtype, copy=False) @ self._within_reach(deviations).T
        alpha = np.empty((self.n_classes, len(X)), dtype=X.dtype)
        for center, row in zip(self._centers.astype(X.dtype), alpha, strict=True):
            apart = eta - center[:, None]
            np.einsum("ij,ij->j", apart, apart, out=row)
        return alpha

    def _within_reach(self, deviations: FloatArray) -> FloatArray:
        """Deviations in the same direction, at most so far that differences of squared distances keep some digits."""
        reach = 0.1 / np.finfo(deviations.dtype).eps / self._whitener_norm
        if deviations.max(initial=0) <= reach and deviations.min(initial=0) >= -reach:
            return deviations
        largest = np.finfo(deviations.dtype).max
        deviations = deviations.clip(-largest, largest)
        size = np.abs(deviations).max(axis=1)
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
        gaps = shrunk_distances(self.gaps, np.full(self.n_classes, fraction), between)
        np.fill_diagonal(gaps, 0)
        model = copy(self)
        model.gaps = gaps
        return model, shrunk_distances(alpha, np.full(self.n_classes, fraction), d / n_c)

    def leave_out(self, alpha: FloatArray, codes: np.ndarray) -> LeftOut:
        """S without x is n/(n - 1) (S - g v v'), v = x - m and g = (1 - s) k/((k - 1) n); x moves only its own mean."""
        rows, n = np.arange(len(codes)), self.n
        k, fewer, log_fraction = self._others_in_class(codes)
        g = noise_fraction(self.effective_features, self.mean_distance) * k / (fewer * n)
        own = alpha[codes, rows]
        remains = np.maximum(1 - g * own, SMALLEST_FRACTION)
        cross = 0.5 * (alpha + own - self.gaps[:, codes])
        left = (n - 1) / n * (alpha + g * cross**2 / remains)
        left[codes, rows] *= (k / fewer) ** 2
        log_joint = self.log_joint(left)
        log_joint[codes, rows] += log_fraction
        return LeftOut(left, log_joint)

    def critical_ratio(self, alpha: FloatArray, a: int, b: int, confidence_level: float) -> FloatArray:
        """The F quantile, enlarged for the noise of the covariance; heavy tails cancel between the classes."""
        n, d = np.array([self.n]), np.array([self.effective_features])
        enlarged = squared_t(confidence_level, np.maximum(n - self.n_classes, 1)) * inflation(n, d + 1)
        return np.full(alpha.shape[1], enlarged[0])

    def tail_probability(self, alpha: FloatArray) -> FloatArray:
        """Hotelling's F for a new sample; the covariance has n - K degrees of freedom, and the denominator n."""
        n_c = self.class_count
        freedom = np.full(self.n_classes, max(self.n - self.n_classes + 1 - self.effective_features, 1.0))
        distance, kurtosis = (np.full(self.n_classes, value) for value in (self.mean_distance, self.radial_kurtosis))
        return hotelling(alpha, freedom / self.n * n_c / (n_c + 1), freedom, distance, kurtosis)

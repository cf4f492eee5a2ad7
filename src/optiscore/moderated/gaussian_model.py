"""What Gaussian models of all classes have in common: log densities, evidence on pairs, corrections for few samples.

Arrays over classes and samples have the shape (n_classes, n_samples); ``alpha`` are squared distances of samples.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import fdtrc, stdtrit

from ..numerics.types import LOG_2PI, FloatArray
from .likelihood_ratio import PairEvidence

# A correction that leaves less than this fraction of a squared distance would be larger than what it corrects.
SMALLEST_FRACTION = 0.02


class LeftOut(NamedTuple):
    """Squared distances and log joint densities of training samples, each under the model without that sample."""

    alpha: FloatArray
    log_joint: FloatArray


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

    @abstractmethod
    def leave_out(self, alpha: FloatArray, codes: np.ndarray) -> LeftOut:
        """The training samples, of classes ``codes`` and at the distances alpha, each under the model without it.

        Shrinkage and its target stay as they are: the result is within some percent of what refitting gives. A class of
        one sample has no density without it.
        """

    def log_joint(self, alpha: FloatArray) -> FloatArray:
        """Log prior plus log density of each class."""
        constants = self.log_priors - 0.5 * self.logdets - 0.5 * self.n_features * LOG_2PI
        return constants.astype(alpha.dtype)[:, None] - 0.5 * alpha

    def _others_in_class(self, codes: np.ndarray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Sizes k of the classes of samples, k - 1 or at least 1, and the logarithm of (k - 1)/k."""
        k = self.class_count[codes]
        with np.errstate(divide="ignore"):
            return k, np.maximum(k - 1, 1), np.log(np.maximum(k - 1, 0) / k)


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

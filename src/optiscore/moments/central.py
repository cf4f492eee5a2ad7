"""Central moments of the samples of one class up to the fourth order, for estimators of a covariance."""

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from ..numerics.types import BoolArray, FloatArray


class CentralMoments(ABC):
    """Moments of v = (x - mean)/unit over the samples of one class, from whatever is known of them.

    Of the fourth order only two parts are ever asked for, which take as long as reading the samples; the matrix of all
    E[v_j^2 v_k^2] would take four times as long as the covariance.
    """

    #: Number of samples, or their total weight; number of features.
    weight_sum: float
    n_features: int
    #: Mean, unit and range of each feature.
    mean: FloatArray
    unit: FloatArray
    lowest: FloatArray
    highest: FloatArray
    #: Which features do not vary beyond rounding.
    is_constant: BoolArray

    @abstractmethod
    def second(self) -> FloatArray:
        """E[v_j v_k]."""

    @abstractmethod
    def fourth(self) -> FloatArray:
        """E[v_j^4]."""

    @abstractmethod
    def fourth_length(self, weights: FloatArray) -> float:
        """E[(sum_j w_j v_j^2)^2], for weights w_j >= 0."""

    @abstractmethod
    def centred(self, weight_sum: float | None = None) -> Self:
        """Moments of the deviations from the mean, with the weights scaled to another total if one is given."""

    @property
    def covariance(self) -> FloatArray:
        """Covariance with denominator n."""
        # Variances beyond the range of numbers become infinite; the caller can say which class has them.
        with np.errstate(over="ignore", under="ignore"):
            return self.second() * self.unit * self.unit[:, None]

    def kurtosis(self) -> tuple[float, float]:
        """Excess kurtosis relative to Gaussian samples, for which it is 0: of the features, and of the radius.

        The first is the mean over features of E[v_j^4]/(3 s_jj^2) - 1, the second E|z|^4 over its Gaussian value, less
        1, with z the standardised features. For elliptical distributions both are the same.

        Returns
        -------
        features, radius : float
        """
        varying = ~self.is_constant
        if not varying.any():
            return 0.0, 0.0
        second = self.second()
        variances = np.diagonal(second)[varying]
        unit = variances * variances[:, None]
        gaussian = 1 + 2 * np.square(second[np.ix_(varying, varying)]) / unit
        weights = np.zeros(self.n_features)
        weights[varying] = 1 / variances
        by_feature = self.fourth()[varying] / variances**2
        return float(by_feature.mean() / 3 - 1), float(self.fourth_length(weights) / gaussian.sum() - 1)


def constant_features(mean: FloatArray, lowest: FloatArray, highest: FloatArray, resolution: float) -> BoolArray:
    """Which features do not vary beyond rounding, the relative error of samples."""
    return half_reach(mean, lowest, highest) <= 4 * resolution * np.maximum(np.abs(highest), np.abs(lowest))


def half_reach(origin: FloatArray, lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Half the largest distance from an origin within a range; the whole may exceed the range of numbers."""
    return np.maximum(0.5 * highest - 0.5 * origin, 0.5 * origin - 0.5 * lowest)


def center_and_scale(X: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each feature; 1 for those that do not vary beyond rounding."""
    # In units of the largest number, so that features of any size have a mean.
    size = np.abs(X).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    center = size * np.average(X / size, axis=0, weights=weight)
    reach = np.abs(0.5 * X - 0.5 * center).max(axis=0)
    constant = reach <= 8 * np.finfo(np.float64).eps * np.abs(center)
    unit = np.where(constant, 1.0, reach)
    spread = np.sqrt(np.average(np.square((0.5 * X - 0.5 * center) / unit), axis=0, weights=weight))
    return center, np.where(constant, 1.0, 2 * unit * spread)

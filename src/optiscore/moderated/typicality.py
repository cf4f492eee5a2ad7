"""How usual samples are: Gaussian classes of the features themselves, behind a power map, for any classifier."""

from typing import NamedTuple, Self

import numpy as np

from ..moments.labelled import TrainingSet
from ..numerics.types import FloatArray
from ..trust.limits import UNTYPICAL, lower_quantile
from .gaussians import Gaussians, fit_gaussians
from .power import PowerTransform, fit_power

#: Covariances of more features than this are not worth their time and memory in a model that does without them.
MOST_FEATURES = 1000

#: Rows that typicality is learned from, at most.
MOST_TYPICAL = 1000


class TypicalityModel(NamedTuple):
    """Gaussian classes with covariances of their own, of features that look Gaussian."""

    power: PowerTransform
    gaussians: Gaussians

    @classmethod
    def fit(cls, training: TrainingSet) -> tuple[Self, float]:
        """Return the model of a training set, and the p-value below which one of a hundred of its rows is."""
        X, weight = training.X.astype(np.float64, copy=False), training.weight
        power = fit_power(X, weight)
        mapped = training._replace(X=power.transform(X))
        counts = np.bincount(training.codes, weight, minlength=len(training.labels))
        gaussians = fit_gaussians(mapped.by_class(), counts / counts.sum(), "own")
        typicality = gaussians.left_out_typicality(mapped.X, mapped.codes, 1.0 if weight is None else weight)
        stand_for = np.ones(len(typicality)) if weight is None else weight
        return cls(power, gaussians), lower_quantile(typicality, stand_for, UNTYPICAL)

    def p_values(self, samples: FloatArray) -> FloatArray:
        """Return the p-values of the distances of samples to the nearest class."""
        return self.gaussians.typicality(self.power.extrapolate(samples)).astype(samples.dtype, copy=False)

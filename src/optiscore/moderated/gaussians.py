"""Gaussian classes from labelled samples: moments with what is known of their error, and one or two models averaged."""

from collections.abc import Sequence
from copy import copy
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..moments.estimates import own_estimates, shared_estimate
from ..moments.factors import Factor, factorise
from ..moments.labelled import ClassData
from ..numerics.types import FloatArray
from .models import GaussianModel, OwnModel, SharedModel

# Sizes of classes, or sums of weights, between which evidence is computed: beyond, the moments are exact or unknown.
_FEWEST, _MOST = 1e-30, 1e30


class GaussianMoments(NamedTuple):
    """Moments of all classes, and last, where there is one more entry than classes, those of the deviations together.

    ``covariances`` or ``covariance`` is None where the classes have none of their own, or share none.
    """

    class_count: FloatArray
    priors: FloatArray
    means: FloatArray
    covariances: FloatArray | None
    covariance: FloatArray | None
    mean_distance: FloatArray
    effective_features: FloatArray
    kurtosis: FloatArray
    radial_kurtosis: FloatArray
    #: Of the models, own covariances first; None where they count alike.
    model_weights: FloatArray | None = None
    sharpness: float = 1.0


# A model of a smaller weight has no say in how certain the others are.
_HEARD = 0.25


class Gaussians:
    """One or two Gaussian models of the same classes, whose posteriors are averaged; factors may be known already."""

    def __init__(
        self, moments: GaussianMoments, own: Sequence[Factor] | None = None, shared: Factor | None = None
    ) -> None:
        self.moments, self.models = moments, list[GaussianModel]()
        n, log_priors, means = moments.class_count.clip(_FEWEST, _MOST), np.log(moments.priors), moments.means
        if moments.covariances is not None:
            factors = own or [factorise(S, f"covariances[{c}]") for c, S in enumerate(moments.covariances)]
            columns = moments.effective_features, moments.kurtosis, moments.radial_kurtosis, moments.mean_distance
            self.models.append(OwnModel(n, log_priors, means, factors, *(column[:-1] for column in columns)))
        if moments.covariance is not None:
            factor = shared or factorise(moments.covariance, "covariance")
            effective, radial, distance = (
                float(column[-1])
                for column in (moments.effective_features, moments.radial_kurtosis, moments.mean_distance)
            )
            self.models.append(SharedModel(n, log_priors, means, factor, effective, radial, distance))

        for model in self.models:
            model.sharpness = moments.sharpness
        weights = moments.model_weights
        self._weights = np.full(len(self.models), 1 / len(self.models)) if weights is None else weights

    def weighed(self, weights: FloatArray, sharpness: float) -> "Gaussians":
        """Return the same models with weights, of whose log densities a part counts."""
        weighed = copy(self)
        weighed.moments = self.moments._replace(model_weights=weights, sharpness=sharpness)
        weighed.models, weighed._weights = [model.with_sharpness(sharpness) for model in self.models], weights
        return weighed

    @property
    def heard(self) -> list[GaussianModel]:
        """Models of some weight, which say how certain the answer is."""
        return [model for model, weight in zip(self.models, self._weights, strict=True) if weight >= _HEARD]

    def log_proba(self, Z: FloatArray) -> FloatArray:
        """Return log posteriors (n_classes, n_samples), moderated by the sampling error."""
        pairs = [(model, model.distances(Z)) for model in self.models]
        return average([m.moderated_log_proba(alpha, m.log_joint(alpha)) for m, alpha in pairs], self._weights)

    def left_out_log_proba(self, Z: FloatArray, codes: np.ndarray, mass: FloatArray | float = 1.0) -> FloatArray:
        """Return the same for training samples of classes ``codes``, each under the models without it."""
        pairs = [model.leave_out(model.distances(Z), codes, mass) for model in self.models]
        found = [m.moderated_log_proba(*left_out) for m, left_out in zip(self.models, pairs, strict=True)]
        return average(found, self._weights)

    def nominal_log_proba(self, Z: FloatArray) -> FloatArray:
        """Return log posteriors with the moments taken as exact."""
        return average([model.nominal_log_proba(model.distances(Z)) for model in self.models], self._weights)

    def log_density(self, Z: FloatArray) -> FloatArray:
        """Return the logarithm of the mean of the models' densities of all classes together."""
        found = [model.log_density(model.distances(Z)) for model in self.models]
        return logsumexp(found, axis=0) - np.log(len(found), dtype=found[0].dtype)

    def typicality(self, Z: FloatArray) -> FloatArray:
        """Return the p-value of the distance to the nearest class, by the model that assumes least."""
        model = self.models[0]
        return model.tail_probability(model.distances(Z).astype(np.float64, copy=False)).max(axis=0)

    def left_out_typicality(self, Z: FloatArray, codes: np.ndarray, mass: FloatArray | float = 1.0) -> FloatArray:
        """Return the same for training samples of classes ``codes``, each under the model without it."""
        model = self.models[0]
        return model.tail_probability(model.leave_out(model.distances(Z), codes, mass).alpha).max(axis=0)


def fit_gaussians(
    classes: Sequence[ClassData],
    priors: FloatArray,
    covariance: str = "both",
    covariance_estimator: Any = None,
    *,
    least_variance: float = 0.0,
) -> Gaussians:
    """Return Gaussian models ("both", "own" or "shared") of labelled samples; each covariance is factorised once.

    Where the variance in some direction may be smaller than ``least_variance``, this much is added in all: rounding of
    samples, relative to their spread, shows in distances.
    """
    class_count = np.array([known.sums.weight_sum for known in classes])
    own = [] if covariance == "shared" else own_estimates(classes, covariance_estimator)
    shared = None
    if covariance != "own":
        # Whatever the priors, the classes count by their sizes: the evidence is that of the sample.
        shared = shared_estimate(classes, class_count / class_count.sum(), covariance_estimator)
    if least_variance:
        own = [each.widened(least_variance) for each in own]
        shared = None if shared is None else shared.widened(least_variance)
    factors = [each.factor() for each in own]
    shared_factor = None if shared is None else shared.factor()
    pooled = reduce(add, [known.sums.centred() for known in classes])
    kurtoses = np.array([sums.kurtosis() for sums in (*(known.sums for known in classes), pooled)])
    # Mean squared distances of the samples, and how much of the covariances comes from these.
    distances, noise = np.zeros(len(classes) + 1), np.zeros(len(classes) + 1)
    if own:
        distances[:-1] = [each.mean_distance(factor) for each, factor in zip(own, factors, strict=True)]
        noise[:-1] = [each.weight for each in own]
    if shared is not None and shared_factor is not None:
        distances[-1], noise[-1] = shared.mean_distance(shared_factor), shared.weight
    means = np.stack([each.mean for each in own] or [known.sums.mean for known in classes])
    moments = GaussianMoments(
        class_count=class_count,
        priors=priors,
        means=means,
        covariances=np.stack([each.covariance for each in own]) if own else None,
        covariance=None if shared is None else shared.covariance,
        mean_distance=distances,
        effective_features=np.clip(noise * distances, 0, means.shape[1]),
        kurtosis=kurtoses[:, 0],
        radial_kurtosis=kurtoses[:, 1],
    )
    return Gaussians(moments, factors, shared_factor)


def average(log_probas: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """Return the logarithm of the weighted mean of probabilities."""
    if len(log_probas) == 1:
        return log_probas[0]
    log_weights = np.log(weights).astype(log_probas[0].dtype)
    return np.logaddexp(*(log_proba + each for log_proba, each in zip(log_probas, log_weights, strict=True)))

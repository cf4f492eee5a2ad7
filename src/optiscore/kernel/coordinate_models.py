"""Three models of discriminant coordinates, averaged: Gaussian classes, own and shared covariances, and a softmax."""

from typing import Self

import numpy as np

from ..moderated.classifier import ModeratedDiscriminantAnalysis
from ..moderated.moderation import left_out_log_proba, moderated_log_proba
from ..moments.labelled import TrainingSet
from ..numerics.types import FloatArray
from ..trust.calibration import best_sharpness
from ..trust.probabilities import normalise

_SHARPNESS = 0.3, 80.0


class CoordinateModels:
    """What is said of samples by their discriminant coordinates, the estimated indicators of the classes.

    Parameters
    ----------
    gaussians : ModeratedDiscriminantAnalysis
        Both Gaussian models of the coordinates.
    sharpness : float
        What the indicators of the classes are multiplied with in the softmax.
    """

    def __init__(self, gaussians: ModeratedDiscriminantAnalysis, sharpness: float) -> None:
        self.gaussians, self.sharpness = gaussians, sharpness

    @classmethod
    def fit(cls, z: FloatArray, codes: np.ndarray, labels: np.ndarray) -> Self:
        """Learn from leave-one-out coordinates."""
        classes = TrainingSet(z, codes, labels, None).by_class()
        gaussians = ModeratedDiscriminantAnalysis(feature_map=None)
        gaussians.n_features_in_ = z.shape[1]
        gaussians._learn(labels, classes, None)
        return cls(gaussians, best_sharpness(_indicators(z, gaussians.priors_), codes, *_SHARPNESS))

    def proba(self, z: FloatArray) -> FloatArray:
        """Mean of the three models' probabilities, of shape (n_classes, n_samples)."""
        parts = [moderated_log_proba(model, model.distances(z)) for model in self.gaussians._model.models]
        return self._mean(parts, z)

    def left_out_proba(self, z: FloatArray, codes: np.ndarray) -> FloatArray:
        """The same for the training samples, each left out of the Gaussian models."""
        parts = [left_out_log_proba(model, model.distances(z), codes) for model in self.gaussians._model.models]
        return self._mean(parts, z)

    def _mean(self, gaussian_log_probas: list[FloatArray], z: FloatArray) -> FloatArray:
        softmax = normalise(self.sharpness * _indicators(z, self.gaussians.priors_))
        return (np.exp(gaussian_log_probas[0]) + np.exp(gaussian_log_probas[1]) + np.exp(softmax)) / 3


def _indicators(z: FloatArray, fractions: FloatArray) -> FloatArray:
    """Estimated indicators of all classes, (n_classes, n_samples): coordinates plus fractions of the classes."""
    return (z.T if len(fractions) > 2 else np.vstack([-z.T, z.T])) + fractions[:, None]

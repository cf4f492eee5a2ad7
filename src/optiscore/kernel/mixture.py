"""Models behind kernel discriminant maps, judged with every training row left out, and their mixture."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from ..metrics import mean_log_loss
from ..moderated.gaussians import Gaussians, fit_gaussians
from ..moments.labelled import TrainingSet
from ..numerics.types import FloatArray
from ..trust.calibration import best_sharpness
from ..trust.probabilities import normalise
from .expansion import KernelExpansion
from .problem import Judged, Problem, Trial
from .scalings import Scaling
from .spectral_ridge import indicators_of, predictive_projector

#: A probability below this counts as this much: one sample must not decide which maps are good.
LEAST_PROBABILITY = 1e-6

# Maps with less than this fraction of the largest weight are left out.
_LEAST_WEIGHT = 0.05

SHARPNESS, _TEMPERATURES = (0.3, 80.0), (0.3, 3.0)

# Coordinates are estimated indicators of classes, 0 or 1: rounding must not show in distances between them.
_LEAST_VARIANCE = 1e-6

# So that logarithms of probabilities stay finite in single precision, too, at every temperature.
_SMALLEST = 1e-30


class CoordinateModels(NamedTuple):
    """Three models of discriminant coordinates, averaged: Gaussian classes, own and shared covariances, and a softmax.

    ``sharpness`` is what the indicators of the classes are multiplied with in the softmax.
    """

    gaussians: Gaussians
    sharpness: float

    @classmethod
    def fit(cls, z: FloatArray, codes: np.ndarray, fractions: FloatArray, weights: FloatArray | None = None) -> Self:
        """Return models of leave-one-out coordinates; classes have these fractions, samples weights in the softmax."""
        classes = TrainingSet(z, codes, np.arange(len(fractions)), None).by_class()
        gaussians = fit_gaussians(classes, fractions, least_variance=_LEAST_VARIANCE)
        return cls(gaussians, best_sharpness(estimated_indicators(z, fractions), codes, *SHARPNESS, weights))

    def proba(self, z: FloatArray) -> FloatArray:
        """Return the mean of the three models' probabilities, of shape (n_classes, n_samples)."""
        models = self.gaussians.models
        pairs = [(model, model.distances(z)) for model in models]
        return self._mean([model.moderated_log_proba(alpha, model.log_joint(alpha)) for model, alpha in pairs], z)

    def left_out_proba(self, z: FloatArray, codes: np.ndarray) -> FloatArray:
        """Return the same for the training samples, each left out of the Gaussian models."""
        pairs = [(model, model.leave_out(model.distances(z), codes)) for model in self.gaussians.models]
        return self._mean([model.moderated_log_proba(*left_out) for model, left_out in pairs], z)

    def _mean(self, gaussian_log_probas: list[FloatArray], z: FloatArray) -> FloatArray:
        softmax = normalise(self.sharpness * estimated_indicators(z, self.gaussians.moments.priors))
        return (np.exp(gaussian_log_probas[0]) + np.exp(gaussian_log_probas[1]) + np.exp(softmax)) / 3


def estimated_indicators(z: FloatArray, fractions: FloatArray) -> FloatArray:
    """Return estimated indicators of all classes (n_classes, n_samples): coordinates plus fractions of the classes."""
    return (z.T if len(fractions) > 2 else np.vstack([-z.T, z.T])) + fractions[:, None]


class KernelModel(NamedTuple):
    """A map of scaled features to discriminant coordinates, and models of these."""

    scaling: str
    expansion: KernelExpansion
    coordinate_models: CoordinateModels


class KernelMixture(NamedTuple):
    """Models behind several maps, averaged with weights, at one temperature; with the fitted scalings by name."""

    scalings: dict[str, Scaling]
    models: list[KernelModel]
    weights: FloatArray
    temperature: float

    def log_proba(self, points: FloatArray) -> FloatArray:
        """Return log probabilities (n_classes, n_samples)."""
        doubles = points.astype(np.float64, copy=False)
        scaled = {name: scaling(doubles) for name, scaling in self.scalings.items()}
        mixture = sum(
            weight * model.coordinate_models.proba(model.expansion(scaled[model.scaling]))
            for weight, model in zip(self.weights.tolist(), self.models, strict=True)
        )
        return normalise(np.log(np.maximum(mixture, _SMALLEST)) / self.temperature).astype(points.dtype, copy=False)

    @property
    def cost(self) -> tuple[int, int]:
        """Numbers per sample that predictions work with, and operations: kernel values of one map."""
        n_anchors = max(len(model.expansion.anchors) for model in self.models)
        return max(1, n_anchors // 16), 10 * n_anchors


class LogLoss:
    """The criterion of the classifier: log loss of the three models behind the coordinates, each row left out."""

    name, n_neighbours = "log_loss", 1

    def judge(self, problem: Problem, left_out: FloatArray) -> Judged:
        """Return the log loss, and the probabilities (n_classes, n_rows) and models that it is that of."""
        codes, weights = problem.left_out_codes, problem.weights
        projector = predictive_projector(left_out, problem.targets) @ indicators_of(problem.n_classes)
        z = left_out @ projector
        models = CoordinateModels.fit(z, codes, problem.fractions, weights)
        proba = models.left_out_proba(z, codes)
        loss = mean_log_loss(np.maximum(proba, LEAST_PROBABILITY).T, codes, weights)
        return Judged(loss, projector, proba, models)

    def loss(self, problem: Problem, left_out: FloatArray, change: FloatArray | None) -> tuple[float, float]:
        """Return the log loss of the softmax alone, and its slope in the logarithm of the ridge.

        At the best sharpness, a change of that changes nothing.
        """
        codes, weights, to_indicators = problem.left_out_codes, problem.weights, indicators_of(problem.n_classes)
        logits = estimated_indicators(left_out @ to_indicators, problem.fractions)
        sharpness = best_sharpness(logits, codes, *SHARPNESS, weights)
        log_proba, rows = normalise(sharpness * logits), np.arange(len(codes))
        losses = -np.maximum(log_proba[codes, rows], np.log(LEAST_PROBABILITY))
        loss = float(np.average(losses, weights=weights))
        if change is None:
            return loss, np.nan
        moved = estimated_indicators(change @ to_indicators, np.zeros(problem.n_classes))
        slopes = sharpness * (np.einsum("ij,ij->j", np.exp(log_proba), moved) - moved[codes, rows])
        return loss, float(np.average(slopes, weights=weights))


def weights_of(trials: Sequence[Trial], n_samples: int) -> FloatArray:
    """Return weights proportional to exp(-2 sqrt(n) (L - least L)), with those below a twentieth of the largest 0."""
    losses = np.array([trial.loss for trial in trials])
    weights = np.exp(-2 * np.sqrt(n_samples) * (losses - losses.min()))
    weights[weights < _LEAST_WEIGHT] = 0
    return weights / weights.sum()


def best_first(weights: FloatArray) -> list[int]:
    """Return the places of trials that have a weight, the largest first."""
    return [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]


def mix(trials: Sequence[Trial], weights: FloatArray, problem: Problem) -> tuple[float, FloatArray]:
    """Return the temperature of a mixture, and the log probabilities of the samples that are left out."""
    mixture = sum(weight * trial.judged.left_out for weight, trial in zip(weights, trials, strict=True))
    logits = np.log(np.maximum(mixture, LEAST_PROBABILITY))
    coldest, hottest = _TEMPERATURES
    temperature = 1 / best_sharpness(logits, problem.left_out_codes, 1 / hottest, 1 / coldest, problem.weights)
    return temperature, normalise(logits / temperature)

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
from .scalings import Scaling
from .search import Combination, KernelExpansion, Problem
from .spectral_ridge import indicators_of, predictive_projector

#: A probability below this counts as this much: one sample must not decide which maps are good.
LEAST_PROBABILITY = 1e-6

# Maps with less than this fraction of the largest weight are left out.
_LEAST_WEIGHT = 0.05

_SHARPNESS, _TEMPERATURES = (0.3, 80.0), (0.3, 3.0)

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
    def fit(cls, z: FloatArray, codes: np.ndarray, n_classes: int) -> Self:
        """Return models of leave-one-out coordinates."""
        classes = TrainingSet(z, codes, np.arange(n_classes), None).by_class()
        fractions = np.bincount(codes, minlength=n_classes) / len(codes)
        gaussians = fit_gaussians(classes, fractions, least_variance=_LEAST_VARIANCE)
        return cls(gaussians, best_sharpness(_indicators(z, fractions), codes, *_SHARPNESS))

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
        softmax = normalise(self.sharpness * _indicators(z, self.gaussians.moments.priors))
        return (np.exp(gaussian_log_probas[0]) + np.exp(gaussian_log_probas[1]) + np.exp(softmax)) / 3


def _indicators(z: FloatArray, fractions: FloatArray) -> FloatArray:
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

    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return coordinates of samples under the first map."""
        model = self.models[0]
        return model.expansion(self.scalings[model.scaling](points.astype(np.float64, copy=False)))

    @property
    def cost(self) -> tuple[int, int]:
        """Numbers per sample that predictions work with, and operations: kernel values of one map."""
        n_anchors = max(len(model.expansion.anchors) for model in self.models)
        return n_anchors, 10 * n_anchors


class KernelTrial(NamedTuple):
    """One combination of kernel and scaling: errors and log losses by ridge, and the best ridge."""

    combination: Combination
    by_ridge: dict[str, FloatArray]
    log_loss: float
    ridge: float
    left_out: FloatArray
    model: KernelModel


class _RidgeTrial(NamedTuple):
    loss: float
    ridge: float
    projector: FloatArray
    left_out: FloatArray
    models: CoordinateModels


def try_combination(problem: Problem, combination: Combination) -> KernelTrial:
    """Return, of the ridge of the least leave-one-out squared error and its neighbours, that of the least log loss."""
    decomposed = problem.decompose(combination)
    path = decomposed.spectrum.ridge_path(problem.targets, problem.ridges)
    errors = path.squared_errors()
    least = int(errors.argmin())
    near = range(max(least - 1, 0), min(least + 2, len(errors)))
    tried = [_try_ridge(path.left_out[i], float(problem.ridges[i]), problem) for i in near]
    losses = np.full(len(errors), np.nan)
    losses[near.start : near.stop] = [each.loss for each in tried]
    best = tried[int(np.nanargmin([each.loss for each in tried]))]
    expansion = KernelExpansion.fit(combination.kernel, decomposed, problem.targets, best.ridge, best.projector)
    model = KernelModel(combination.scaling, expansion, best.models)
    by_ridge = {"squared_error": errors, "log_loss": losses}
    return KernelTrial(combination, by_ridge, best.loss, best.ridge, best.left_out, model)


def _try_ridge(left_out: FloatArray, ridge: float, problem: Problem) -> _RidgeTrial:
    codes, projector = problem.codes, predictive_projector(left_out, problem.targets)
    projector = projector @ indicators_of(problem.n_classes)
    z = left_out @ projector
    models = CoordinateModels.fit(z, codes, problem.n_classes)
    proba = models.left_out_proba(z, codes)
    return _RidgeTrial(mean_log_loss(np.maximum(proba, LEAST_PROBABILITY).T, codes), ridge, projector, proba, models)


def weights_of(trials: Sequence[KernelTrial], n_samples: int) -> FloatArray:
    """Return weights proportional to exp(-2 sqrt(n) (L - least L)), with those below a twentieth of the largest 0."""
    losses = np.array([trial.log_loss for trial in trials])
    weights = np.exp(-2 * np.sqrt(n_samples) * (losses - losses.min()))
    weights[weights < _LEAST_WEIGHT] = 0
    return weights / weights.sum()


def best_first(trials: Sequence[KernelTrial], n_samples: int) -> list[int]:
    """Return the places of trials that have a weight, the largest first."""
    weights = weights_of(trials, n_samples)
    return [int(i) for i in np.argsort(-weights, kind="stable") if weights[i] > 0]


def mix(trials: Sequence[KernelTrial], weights: FloatArray, codes: np.ndarray) -> tuple[float, FloatArray]:
    """Return the temperature of a mixture, and the log probabilities of the training samples, each left out."""
    mixture = sum(weight * trial.left_out for weight, trial in zip(weights, trials, strict=True))
    logits = np.log(np.maximum(mixture, LEAST_PROBABILITY))
    coldest, hottest = _TEMPERATURES
    temperature = 1 / best_sharpness(logits, codes, 1 / hottest, 1 / coldest)
    return temperature, normalise(logits / temperature)

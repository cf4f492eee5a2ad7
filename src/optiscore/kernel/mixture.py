"""Models behind kernel discriminant maps, judged with every training row left out, and their mixture."""

from collections.abc import Iterable, Sequence
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

# Of more classes, covariances of their own would take more memory than the rows, and none has the rows for one.
_FEW_CLASSES = 100


class CoordinateModels(NamedTuple):
    """Three models of discriminant coordinates, averaged: Gaussian classes, own and shared covariances, and a softmax.

    ``sharpness`` is what the indicators of the classes are multiplied with in the softmax. Beyond 100 classes there are
    no covariances of their own.
    """

    gaussians: Gaussians
    sharpness: float

    @classmethod
    def fit(
        cls,
        z: FloatArray,
        codes: np.ndarray,
        fractions: FloatArray,
        weights: FloatArray | None = None,
        mass: FloatArray | None = None,
    ) -> Self:
        """Return models of leave-one-out coordinates; classes have these fractions.

        In the softmax samples stand for so many, ``weights``, and in the moments they have a mass.
        """
        classes = TrainingSet(z, codes, np.arange(len(fractions)), mass).by_class()
        covariance = "both" if len(classes) <= _FEW_CLASSES else "shared"
        gaussians = fit_gaussians(classes, fractions, covariance, least_variance=_LEAST_VARIANCE)
        return cls(gaussians, best_sharpness(estimated_indicators(z, fractions), codes, *SHARPNESS, weights))

    def proba(self, z: FloatArray) -> FloatArray:
        """Return the mean of the models' probabilities, of shape (n_classes, n_samples)."""
        return mean_of(self.probas(z, self.distances(z)))

    def left_out_proba(self, z: FloatArray, codes: np.ndarray, mass: FloatArray | float = 1.0) -> FloatArray:
        """Return the same for the training samples, each left out of the Gaussian models."""
        models = self.gaussians.models
        pairs = [(model, model.leave_out(model.distances(z), codes, mass)) for model in models]
        probas = [np.exp(model.moderated_log_proba(*left_out)) for model, left_out in pairs]
        return mean_of([*probas, self._softmax(z)])

    def distances(self, z: FloatArray) -> list[FloatArray]:
        """Return squared distances of samples, for each Gaussian model."""
        return [model.distances(z) for model in self.gaussians.models]

    def probas(self, z: FloatArray, distances: Sequence[FloatArray]) -> list[FloatArray]:
        """Return probabilities (n_classes, n_samples) of the Gaussian models, and last of the softmax."""
        pairs = zip(self.gaussians.models, distances, strict=True)
        return [*(np.exp(m.moderated_log_proba(alpha, m.log_joint(alpha))) for m, alpha in pairs), self._softmax(z)]

    def gradients(
        self, z: FloatArray, distances: Sequence[FloatArray], probas: Sequence[FloatArray], asked: np.ndarray
    ) -> FloatArray:
        """Return gradients of the mean probabilities of some classes; of shape (n_asked, n_samples, n_coordinates)."""
        columns, models = np.arange(len(z)), self.gaussians.models
        parts = [m.moderated_gradients(z, alpha, asked) for m, alpha in zip(models, distances, strict=True)]
        # Of each class, the coordinate that is its indicator, with its sign.
        towards = np.eye(len(probas[0])) if z.shape[1] > 1 else np.array([[-1.0], [1.0]])
        parts.append(self.sharpness * (towards[asked] - probas[-1].T @ towards))
        return mean_of([q[asked, columns][:, :, None] * part for q, part in zip(probas, parts, strict=True)])

    def _softmax(self, z: FloatArray) -> FloatArray:
        return np.exp(normalise(self.sharpness * estimated_indicators(z, self.gaussians.moments.priors)))


def mean_of(parts: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of some arrays, which are few."""
    return sum(parts[1:], parts[0]) / len(parts)


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
        probas = (model.coordinate_models.proba(model.expansion(scaled[model.scaling])) for model in self.models)
        return self.average(probas).astype(points.dtype, copy=False)

    def average(self, probas: Iterable[FloatArray]) -> FloatArray:
        """Return log probabilities from those of the models behind each map."""
        mixture = sum(weight * proba for weight, proba in zip(self.weights.tolist(), probas, strict=True))
        return normalise(np.log(np.maximum(mixture, _SMALLEST)) / self.temperature)

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
        masses = problem.left_out_masses
        projector = predictive_projector(left_out, problem.targets, masses) @ indicators_of(problem.n_classes)
        z, mass = left_out @ projector, None if masses.mass is None else masses.mass[:, 0]
        models = CoordinateModels.fit(z, codes, problem.fractions, weights, mass)
        proba = models.left_out_proba(z, codes, 1.0 if mass is None else mass)
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

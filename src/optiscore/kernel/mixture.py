"""Kernel discriminant maps with models behind them, judged by the log loss with every training row left out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..metrics import mean_log_loss
from ..numerics.types import FloatArray
from .coordinate_models import CoordinateModels
from .search import Combination, Decomposed, KernelExpansion, Problem
from .spectral_ridge import indicators_of, predictive_projector

#: A probability below this counts as this much: one sample must not decide which maps are good.
LEAST_PROBABILITY = 1e-6

# Maps with less than this fraction of the largest weight are left out.
_LEAST_WEIGHT = 0.05


class KernelModel:
    """A map of scaled features to discriminant coordinates, and models of these.

    Parameters
    ----------
    scaling : str
        Name of the scaling.
    expansion : KernelExpansion
        The map.
    coordinate_models : CoordinateModels
        What is said of coordinates.
    """

    def __init__(self, scaling: str, expansion: KernelExpansion, coordinate_models: CoordinateModels) -> None:
        self.scaling, self.expansion, self.coordinate_models = scaling, expansion, coordinate_models

    def coordinates(self, scaled: dict[str, FloatArray]) -> FloatArray:
        """Coordinates of samples, given under every scaling."""
        return self.expansion(scaled[self.scaling])

    def proba(self, scaled: dict[str, FloatArray]) -> FloatArray:
        """Probabilities, of shape (n_classes, n_samples)."""
        return self.coordinate_models.proba(self.coordinates(scaled))


class KernelTrial(NamedTuple):
    """One combination of kernel and scaling: errors and log losses by ridge, and the best ridge."""

    combination: Combination
    errors: FloatArray
    losses: FloatArray
    ridge: float
    left_out: FloatArray
    model: KernelModel

    @property
    def criterion(self) -> float:
        """Mean log loss with each row left out."""
        return float(np.nanmin(self.losses))

    def by_ridge(self) -> dict[str, FloatArray]:
        """Columns of the table of results."""
        return {"squared_error": self.errors, "log_loss": self.losses}


class _Judged(NamedTuple):
    loss: float
    ridge: float
    projector: FloatArray
    left_out: FloatArray
    models: CoordinateModels


def try_combination(problem: Problem, combination: Combination, labels: np.ndarray) -> KernelTrial:
    """Of the ridge of the least leave-one-out squared error and its two neighbours, that of the least log loss."""
    decomposed = problem.decompose(combination)
    path = decomposed.spectrum.ridge_path(problem.targets, problem.ridges)
    errors = path.squared_errors()
    least = int(errors.argmin())
    near = range(max(least - 1, 0), min(least + 2, len(errors)))
    judged = [_judge(path.left_out[i], float(problem.ridges[i]), problem, labels) for i in near]
    losses = np.full(len(errors), np.nan)
    losses[near.start : near.stop] = [each.loss for each in judged]
    best = min(judged, key=lambda each: each.loss)
    model = _model(problem, combination, decomposed, best)
    return KernelTrial(combination, errors, losses, best.ridge, best.left_out, model)


def _judge(left_out: FloatArray, ridge: float, problem: Problem, labels: np.ndarray) -> _Judged:
    codes, projector = problem.codes, predictive_projector(left_out, problem.targets)
    projector = projector @ indicators_of(problem.n_classes)
    z = left_out @ projector
    models = CoordinateModels.fit(z, codes, labels)
    proba = models.left_out_proba(z, codes)
    return _Judged(mean_log_loss(np.maximum(proba, LEAST_PROBABILITY), codes), ridge, projector, proba, models)


def _model(problem: Problem, combination: Combination, decomposed: Decomposed, best: _Judged) -> KernelModel:
    expansion = KernelExpansion.fit(combination.kernel, decomposed, problem.targets, best.ridge, best.projector)
    return KernelModel(combination.scaling, expansion, best.models)


def weigh(trials: Sequence[KernelTrial], n_samples: int) -> FloatArray:
    """Weights proportional to exp(-2 sqrt(n) (L - least L)), those below a twentieth of the largest set to 0."""
    losses = np.array([trial.criterion for trial in trials])
    weights = np.exp(-2 * np.sqrt(n_samples) * (losses - losses.min()))
    weights[weights < _LEAST_WEIGHT] = 0
    return weights / weights.sum()


def promising(trials: Sequence[KernelTrial], n_samples: int, most: int) -> list[KernelTrial]:
    """The best of those that would have a weight if all samples gave the losses of the landmarks."""
    weights = weigh(trials, n_samples)
    return [trials[i] for i in np.argsort(-weights, kind="stable")[:most] if weights[i] > 0]

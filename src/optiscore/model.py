"""The fitted model as mathematics: from samples to best and worst log scores under every class."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ._typing import FloatArray
from .array_api import Array, device_of, in_place, is_numpy, namespace_of
from .decision import LogScores
from .device_model import DeviceModel
from .distances import ClassDistances
from .nominal import NominalMoments
from .scores import Score, Side
from .scores.base import Curve

#: Receives the rows of a block and the log scores of its samples.
Consumer: TypeAlias = Callable[[slice, LogScores], None]

# From this many samples on, building a table costs less than solving for each of them.
_TABULATE_FROM = 20_000


class ScoreModel:
    """Best and worst log scores of samples under all classes.

    Parameters
    ----------
    score : Score
        Kind of score.
    moments : NominalMoments
        Means, covariances and factors of the classes.
    radii : ndarray of shape (n_classes,)
        Radii of their ambiguity sets.
    """

    def __init__(self, score: Score, moments: NominalMoments, radii: FloatArray) -> None:
        self.score, self.moments, self.radii = score, moments, radii
        self.distances = ClassDistances(moments.means, moments.factors)
        self.n_features = moments.means.shape[1]
        self._devices: dict[tuple[str, str, str], DeviceModel] = {}
        self.log_volumes = np.array([score.log_volume(factor.logdet) for factor in moments.factors])

    def for_each_block(self, X: FloatArray, consume: Consumer, with_pessimistic: bool = True) -> None:
        """Call ``consume(rows, scores)`` for blocks of rows of X, possibly from several threads at once."""
        evaluate = self.evaluator(len(X), X.dtype.type, with_pessimistic)
        self.distances.for_each_block(X, lambda rows, alpha: consume(rows, evaluate(alpha)))

    def on_device(self, samples: Array) -> DeviceModel:
        """The model for samples of another library than NumPy's."""
        key = namespace_of(samples).__name__, str(device_of(samples)), str(samples.dtype)
        if key not in self._devices:
            self._devices[key] = DeviceModel(self, samples)
        return self._devices[key]

    def log_scores(self, X: Array, with_pessimistic: bool = True) -> LogScores:
        """Log scores of all samples, of shape (n_classes, n_samples)."""
        X = in_place(X)
        if not is_numpy(X):
            return self.on_device(X).log_scores(X, with_pessimistic)
        optimistic = np.empty((len(self.radii), len(X)), dtype=X.dtype)
        pessimistic = np.empty_like(optimistic) if with_pessimistic else None

        def consume(rows: slice, scores: LogScores) -> None:
            optimistic[:, rows] = scores.optimistic
            if pessimistic is not None:
                pessimistic[:, rows] = scores.pessimistic

        self.for_each_block(X, consume, with_pessimistic)
        return LogScores(optimistic, pessimistic)

    def log_score_bounds(self, X: Array) -> tuple[Array, Array]:
        """Worst and best log scores of all samples, each of shape (n_classes, n_samples)."""
        optimistic, pessimistic = self.log_scores(X)
        assert pessimistic is not None
        return pessimistic, optimistic

    def evaluator(
        self, n_samples: int, dtype: type, with_pessimistic: bool = True
    ) -> Callable[[FloatArray], LogScores]:
        """A function from squared distances (n_classes, n) to log scores, tabulated if it pays for so many samples."""

        def curves(side: Side) -> list[Curve]:
            d = self.n_features
            return [log_score_curve(self.score, side, radius, d, n_samples, dtype) for radius in self.radii]

        best = curves("optimistic")
        worst = curves("pessimistic") if with_pessimistic else []
        volumes: FloatArray = self.log_volumes.astype(dtype)

        def evaluate(alpha: FloatArray) -> LogScores:
            return LogScores(_apply(best, alpha, volumes), _apply(worst, alpha, volumes) if with_pessimistic else None)

        return evaluate


def log_score_curve(score: Score, side: Side, radius: float, n_features: int, n_samples: int, dtype: type) -> Curve:
    """Log score as a function of the squared distance, tabulated if it pays for so many samples."""
    extreme = score.at(side, float(radius), n_features)
    return extreme.tabulate(dtype=dtype) if n_samples >= _TABULATE_FROM else extreme.log_score


def _apply(curves: list[Curve], alpha: FloatArray, volumes: FloatArray) -> FloatArray:
    scores = np.empty_like(alpha)
    for curve, volume, distances, row in zip(curves, volumes, alpha, scores, strict=True):
        np.add(curve(distances), volume, out=row)
    return scores

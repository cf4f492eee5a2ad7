"""The fitted model for samples of other libraries than NumPy's: distances and scores where the samples are."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .array_api import Array, like, namespace_of, to_host
from .decision import LogScores
from .scores.table import ALPHA_MAX

if TYPE_CHECKING:
    from .model import ScoreModel

# Rows that are worked on together: enough to keep an accelerator busy.
_ROWS = 1_048_576


class DeviceModel:
    """Best and worst log scores of samples under all classes, in the samples' library, on their device, in their type.

    Parameters
    ----------
    model : ScoreModel
        The model.
    samples : array of shape (n_samples, n_features)
        Samples that tell library, device and type.
    """

    def __init__(self, model: "ScoreModel", samples: Array) -> None:
        self._model, self._dtype = model, samples.dtype
        self._means = [self._like(mean, samples) for mean in model.moments.means]
        self._whiteners = [self._like(whitener.T, samples) for whitener in model.distances.whiteners]
        # The sum over features as a product with ones: libraries reduce short rows slowly.
        self._ones = self._like(np.ones(model.n_features), samples)
        self._volumes = [float(volume) for volume in model.log_volumes]
        self._curves = {
            side: [model.score.at(side, float(radius), model.n_features).portable(samples) for radius in model.radii]
            for side in ("optimistic", "pessimistic")
        }

    def map(self, X: Array, function: Callable[[LogScores], Array], with_pessimistic: bool) -> Array:
        """``function`` of the log scores of all samples, in blocks of rows."""
        n, step = X.shape[0], _ROWS
        blocks = (X[start : min(start + step, n), :] for start in range(0, n, step))
        return namespace_of(X).concat([function(self._log_scores(block, with_pessimistic)) for block in blocks])

    def log_scores(self, X: Array, with_pessimistic: bool) -> LogScores:
        """Log scores of all samples, of shape (n_classes, n_samples)."""
        sides = ("optimistic", "pessimistic") if with_pessimistic else ("optimistic",)
        n_classes = len(self._means)
        xp = namespace_of(X)
        rows = self.map(
            X, lambda scores: xp.concat([getattr(scores, side) for side in sides], axis=0).T, with_pessimistic
        )
        return LogScores(rows[:, :n_classes].T, rows[:, n_classes:].T if with_pessimistic else None)

    def _log_scores(self, X: Array, with_pessimistic: bool) -> LogScores:
        xp = namespace_of(X)
        # Some libraries are NumPy underneath and would warn of what is mended below.
        with np.errstate(over="ignore", invalid="ignore"):
            whitened = [(X - mean) @ whitener for mean, whitener in zip(self._means, self._whiteners, strict=True)]
            alpha = [(eta * eta) @ self._ones for eta in whitened]
        # Beyond the table, and where distances overflow, the host knows what to do.
        if not all(float(xp.max(distances)) <= ALPHA_MAX for distances in alpha):
            return self._from_host(X, with_pessimistic)
        return LogScores(
            self._apply("optimistic", alpha, xp), self._apply("pessimistic", alpha, xp) if with_pessimistic else None
        )

    def _apply(self, side: str, alpha: list[Array], xp: Any) -> Array:
        curves = zip(self._curves[side], alpha, self._volumes, strict=True)
        return xp.stack([curve(distances) + volume for curve, distances, volume in curves])

    def _from_host(self, X: Array, with_pessimistic: bool) -> LogScores:
        optimistic, pessimistic = self._model.log_scores(to_host(X), with_pessimistic)
        return LogScores(self._like(optimistic, X), None if pessimistic is None else self._like(pessimistic, X))

    def _like(self, values: np.ndarray, samples: Array) -> Array:
        return like(values, samples, self._dtype)

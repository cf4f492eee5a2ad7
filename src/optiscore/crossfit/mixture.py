"""A calibrated mixture of classifiers, learned from what each says of rows that it has not seen."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone

from ..numerics.types import FloatArray
from .calibration import Calibrator, VectorScaling, choose_calibration, least_probability, losses_of
from .folds import LeftOut
from .pool import earned_weights

#: What makes calibrated probabilities of others, (n_rows, n_classes).
Calibration: TypeAlias = VectorScaling | Calibrator


class Mixture(NamedTuple):
    """Weights of classifiers, what calibrates each of them, and what calibrates the mean."""

    weights: FloatArray
    calibrations: list[Calibration | None]
    of_mean: Calibration | None

    def proba(self, probas: Sequence[FloatArray]) -> FloatArray:
        """Return probabilities (n_rows, n_classes) from those of the classifiers."""
        parts = zip(self.weights.tolist(), self.calibrations, probas, strict=True)
        mean = sum(weight * _calibrated(proba, calibration) for weight, calibration, proba in parts)
        return _calibrated(np.asarray(mean), self.of_mean)

    def take(self, members: np.ndarray) -> "Mixture":
        """Return the mixture of some of the classifiers, which have all of the weight."""
        return self._replace(weights=self.weights[members], calibrations=[self.calibrations[i] for i in members])


def learn_mixture(left_out: LeftOut, calibration: Any) -> tuple[Mixture, FloatArray]:
    """Return the mixture of least left-out log loss, and the log losses of its members, each calibrated by itself."""
    calibrations = [_learn_calibration(calibration, proba, left_out) for proba in left_out.probas]
    calibrated = [_calibrated(*pair) for pair in zip(left_out.probas, calibrations, strict=True)]
    least = least_probability(left_out.weights)
    losses = np.array([losses_of(proba, left_out.codes, least) for proba in calibrated])
    weights = earned_weights(np.exp(-losses), left_out.weights)
    of_mean = None
    if np.count_nonzero(weights) > 1:
        mean = sum(weight * proba for weight, proba in zip(weights.tolist(), calibrated, strict=True))
        of_mean = _learn_calibration(calibration, np.asarray(mean), left_out)
    return Mixture(weights, calibrations, of_mean), np.average(losses, axis=1, weights=left_out.weights)


def _learn_calibration(calibration: Any, proba: FloatArray, left_out: LeftOut) -> Calibration | None:
    if calibration is None:
        return None
    if isinstance(calibration, str):
        if calibration == "auto":
            return choose_calibration(proba, left_out.codes, left_out.weights, left_out.fold)
        return VectorScaling.fit(proba, left_out.codes, left_out.weights, has_intercepts=False)
    return Calibrator(clone(calibration, safe=False).fit(proba, left_out.codes))


def _calibrated(proba: FloatArray, calibration: Calibration | None) -> FloatArray:
    return proba if calibration is None else calibration(proba)

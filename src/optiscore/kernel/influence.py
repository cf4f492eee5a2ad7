"""What single training rows do to the answers of a mixture of maps: sampling errors of log odds, by the jackknife.

Without row i, coordinates z(x) = sum_i w_i(x) t_i change by -w_i(x) e_i, with smoother weights w(x) = k(x, .) (G +
ridge)^(-1) and e_i the error of the row by the regression without it. All maps share the rows: changes of the averaged
probabilities are added over the maps before they are squared and summed over the rows.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from ..numerics.types import FloatArray
from ..trust.probabilities import normalise
from .cholesky_ridge import inverse_of_centred
from .kernels import KERNELS, Comparison
from .mixture import LEAST_PROBABILITY, CoordinateModels, KernelMixture

# Rows whose influence is known, at most: of more, so many stand for all.
MOST_ROWS = 700

# Against so few rows, doubles are fast enough.
_FEW_ROWS = 300

# The variance of the models behind the maps counts so much more: their moments and shape are chosen on the same rows.
_SECOND_STAGE = 1.5

# Rivals of the predicted class that are asked, the most probable ones: doubts about the others are none.
_RIVALS = 6

# Added to probabilities before logarithms are taken of them.
_HARDLY = 0.0001

# What the choice of kernels, ridges and temperature adds to the variance in intervals.
_CHOICE = 1.6

# A variance of log odds that says nothing is known.
_FAR = 1e12

# Steps of coordinates, estimated indicators, for differences of probabilities.
_STEP = 4e-3


class SamplingRows(NamedTuple):
    """Training rows with their left-out errors in the coordinates of each map, and the ridges of the maps."""

    #: Rows, of shape (n_rows, n_features).
    points: FloatArray
    #: For each map, of shape (n_rows, n_coordinates).
    errors: list[FloatArray]
    #: What is added to the eigenvalues of the rows' kernel matrix; of shape (n_maps,).
    ridges: FloatArray
    #: Part of all training rows that they are.
    part: float


class LogOdds(NamedTuple):
    """Log odds of the most probable class against rivals, and their sampling variances; of shape (n_rivals, n_rows)."""

    best: np.ndarray
    rivals: np.ndarray
    log_odds: FloatArray
    variances: FloatArray

    def stability(self, n_classes: int) -> FloatArray:
        """Return one less the sum of the doubts, which are those that a rival is as good, and at least 1/n_classes."""
        with np.errstate(divide="ignore", invalid="ignore"):
            doubts = ndtr(-np.nan_to_num(self.log_odds / np.sqrt(self.variances), nan=0.0, posinf=1e3))
        return np.maximum(1 - doubts.sum(axis=0), 1 / n_classes)


class InfluencedMixture:
    """A mixture of maps, and the rows that it was learned from: what answers."""

    def __init__(self, mixture: KernelMixture, rows: SamplingRows | None, priors: FloatArray) -> None:
        self.mixture, self._rows, self.cost = mixture, rows, mixture.cost
        trained = mixture.models[0].coordinate_models.gaussians.moments.priors
        #: What other class probabilities than those of training add to logarithms.
        self._shift = None if np.array_equal(priors, trained) else np.log(priors / trained)

    def log_proba(self, points: FloatArray) -> FloatArray:
        """Return log probabilities (n_classes, n_samples)."""
        log_proba = self.mixture.log_proba(points)
        return log_proba if self._shift is None else normalise(log_proba + self._shift.astype(points.dtype)[:, None])

    @cached_property
    def _smoothers(self) -> list[tuple[Comparison, FloatArray, FloatArray]]:
        """For each map, what compares with the rows, mean kernel values, and (G + ridge)^(-1) off constants."""
        rows = self._rows
        if rows is None:
            raise ValueError("this model was saved before sampling errors were kept: fit it again.")
        found = []
        for model, ridge in zip(self.mixture.models, rows.ridges.tolist(), strict=True):
            S, kernel = self.mixture.scalings[model.scaling](rows.points), KERNELS[model.expansion.kernel]
            compare = kernel.against(S, model.expansion.bandwidth, single=len(S) > _FEW_ROWS)
            means, inverse = inverse_of_centred(kernel(S, S, model.expansion.bandwidth), ridge)
            found.append((compare, means, inverse))
        return found

    @property
    def _counts(self) -> FloatArray:
        """Training rows of each class."""
        assert self._rows is not None
        fractions = self.mixture.models[0].coordinate_models.gaussians.moments.priors
        return fractions * (len(self._rows.points) / self._rows.part)

    def log_odds(self, points: FloatArray) -> LogOdds:
        """Return log odds of the best class against the most probable others, with variances."""
        parts, T = self._parts(points), self.mixture.temperature
        best, rivals, counts = parts.classes[0], parts.classes[1:], self._counts
        columns = np.arange(len(points))
        odds, variances = parts.final[best, columns] - parts.final[rivals, columns], np.empty(rivals.shape)
        for r, rival in enumerate(rivals, start=1):
            slopes = [J[:, 0] / parts.p[best, columns] - J[:, r] / parts.p[rival, columns] for J in parts.slopes]
            variances[r - 1] = parts.variance(slopes) + _SECOND_STAGE * self._of_models(parts, best, rival) ** 2
            # The fractions of the classes are known from as many rows as there are.
            variances[r - 1] += 1 / counts[best] + 1 / counts[rival]
        return LogOdds(best, rivals, odds, variances / T**2)

    def proba_interval(self, points: FloatArray, confidence_level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals of all probabilities: log odds of a class against all others, plus or minus.

        Classes that are not asked about have 0 and the upper end of the least probable one that is.
        """
        parts, T, columns, counts = self._parts(points), self.mixture.temperature, np.arange(len(points)), self._counts
        final = np.exp(parts.final)
        freedom = max(parts.weights[0].shape[1] - len(final), 1)
        quantile = float(stdtrit(freedom, 0.5 + 0.5 * confidence_level))
        lower, upper = np.zeros_like(final), np.zeros_like(final)
        for i, asked in enumerate(parts.classes):
            against = parts.classes[0] if i else parts.classes[1]
            inside, outside = parts.p[asked, columns], 1 - parts.p[asked, columns] + 2 * _HARDLY
            variance = parts.variance([J[:, i] * (1 / inside + 1 / outside) for J in parts.slopes])
            variance += _SECOND_STAGE * self._of_models(parts, asked, against) ** 2
            variance += 1 / counts[asked] + 1 / (counts.sum() - counts[asked])
            said = final[asked, columns]
            middle = np.log(said + _HARDLY) - np.log(1 - said + _HARDLY)
            reach = quantile * np.sqrt(_CHOICE * variance) / T
            ends = (1 / (1 + np.exp(-(middle + sign * reach).clip(-700, 700))) for sign in (-1, 1))
            low, high = (((1 + 2 * _HARDLY) * end - _HARDLY).clip(0, 1) for end in ends)
            lower[asked, columns], upper[asked, columns] = low, high
        others = np.ones(final.shape, dtype=bool)
        others[parts.classes, columns] = False
        upper = np.where(others, upper[parts.classes[-1], columns], upper)
        return np.minimum(lower, final), np.maximum(upper, final)

    def _parts(self, points: FloatArray) -> "_Parts":
        doubles, rows = points.astype(np.float64, copy=False), self._rows
        final, smoothers = self.log_proba(doubles), self._smoothers
        assert rows is not None
        classes = np.argsort(-final, axis=0, kind="stable")[: 1 + _RIVALS]
        # Of two classes there is one coordinate; of more, the estimated indicator of each.
        directions = classes if len(final) > 2 else np.zeros((1, len(doubles)), dtype=int)
        weights, slopes, coordinates, p = [], [], [], np.full(final.shape, _HARDLY)
        for model, share, (compare, means, inverse) in zip(
            self.mixture.models, self.mixture.weights.tolist(), smoothers, strict=True
        ):
            S = self.mixture.scalings[model.scaling](doubles)
            z = model.expansion(S)
            p += share * np.maximum(model.coordinate_models.proba(z), LEAST_PROBABILITY)
            weights.append((compare(S) - means) @ inverse)
            slopes.append(share * _slopes(model.coordinate_models, z, classes, directions))
            coordinates.append(z)
        return _Parts(final, p, classes, directions, weights, rows.errors, slopes, coordinates, rows.part)

    def _of_models(self, parts: "_Parts", best: np.ndarray, rival: np.ndarray) -> FloatArray:
        """Return the standard error of log odds from the moments behind the maps, as if all errors were one.

        Where a model's probabilities are q, an error of its log odds changes those of the mixture, with probabilities p
        and a share of it in them, by the share times q_a q_b/(q_a + q_b) (1/p_a + 1/p_b) of it.
        """
        columns, p = np.arange(len(best)), parts.p
        total, outside = np.zeros(len(best)), 1 / p[best, columns] + 1 / p[rival, columns]
        for model, share, z in zip(self.mixture.models, self.mixture.weights, parts.coordinates, strict=True):
            for gaussian in model.coordinate_models.gaussians.models:
                alpha = gaussian.distances(z)
                q = np.exp(gaussian.moderated_log_proba(alpha, gaussian.log_joint(alpha)))
                with np.errstate(over="ignore"):
                    variance = np.minimum(gaussian.variances(alpha, best)[rival, columns], _FAR)
                # Moderated log odds are smaller than those of the moments by this root.
                error = np.sqrt(variance / (1 + np.pi / 8 * variance))
                a, b = q[best, columns], q[rival, columns]
                total += share / 3 * error * outside * a * b / np.maximum(a + b, LEAST_PROBABILITY)
        return total


def _slopes(models: CoordinateModels, z: FloatArray, classes: np.ndarray, directions: np.ndarray) -> FloatArray:
    """Return slopes of probabilities of some classes in some coordinates; (n_directions, n_classes, n_rows)."""
    slopes = np.empty((*directions.shape[:1], *classes.shape))
    for j in range(z.shape[1]):
        places, rows = np.nonzero(directions == j)
        if len(rows):
            step = _STEP * (np.arange(z.shape[1]) == j)
            change = models.proba(z[rows] + step) - models.proba(z[rows] - step)
            slopes[places, :, rows] = (change[classes[:, rows], np.arange(len(rows))] / (2 * _STEP)).T
    return slopes


class _Parts(NamedTuple):
    """Of rows: log probabilities, those of the mixture, classes to ask about, and what each map brings."""

    final: FloatArray
    p: FloatArray
    #: The most probable first; coordinates that slopes are in. Of shapes (n_classes, n_rows), (n_directions, n_rows).
    classes: np.ndarray
    directions: np.ndarray
    #: Smoother weights, errors, slopes of probabilities, coordinates.
    weights: Sequence[FloatArray]
    errors: Sequence[FloatArray]
    slopes: Sequence[FloatArray]
    coordinates: Sequence[FloatArray]
    part: float

    def variance(self, slopes: Sequence[FloatArray]) -> FloatArray:
        """Return the variance of a function with these slopes (n_directions, n_rows) in the maps' coordinates."""
        changes = np.zeros(self.weights[0].shape)
        for w, e, of_map in zip(self.weights, self.errors, slopes, strict=True):
            errors = np.ascontiguousarray(e.T)
            changes += w * sum(slope[:, None] * errors[j] for slope, j in zip(of_map, self.directions, strict=True))
        return self.part * np.einsum("ij,ij->i", changes, changes)

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
from .mixture import LEAST_PROBABILITY, KernelMixture

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
            means, inverse = inverse_of_centred(compare(S), ridge)
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
        parts = self._parts(points)
        p, T = np.sum(parts.probas, axis=0), self.mixture.temperature
        final = self.log_proba(points.astype(np.float64, copy=False))
        order, counts = np.argsort(-final, axis=0, kind="stable"), self._counts
        best, rivals = order[0], order[1 : 1 + _RIVALS]
        columns = np.arange(len(points))
        # Of what is hardly possible, the logarithm says more than is known.
        p = p + _HARDLY
        odds, variances = final[best, columns] - final[rivals, columns], np.empty(rivals.shape)
        for r, rival in enumerate(rivals):
            slopes = [J[:, best, columns] / p[best, columns] for J in parts.slopes]
            slopes = [J - K[:, rival, columns] / p[rival, columns] for J, K in zip(slopes, parts.slopes, strict=True)]
            variances[r] = parts.variance(slopes) + _SECOND_STAGE * self._of_models(parts, best, rival) ** 2
            # The fractions of the classes are known from as many rows as there are.
            variances[r] += 1 / counts[best] + 1 / counts[rival]
        return LogOdds(best, rivals, odds, variances / T**2)

    def proba_interval(self, points: FloatArray, confidence_level: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals of all probabilities: log odds of a class against all others, plus or minus."""
        parts = self._parts(points)
        p, T, columns = np.sum(parts.probas, axis=0), self.mixture.temperature, np.arange(len(points))
        final = np.exp(self.log_proba(points.astype(np.float64, copy=False)))
        order, counts = np.argsort(-p, axis=0, kind="stable"), self._counts
        lower, upper = np.empty_like(p), np.empty_like(p)
        freedom = max(len(parts.weights[0][0]) - len(p), 1)
        quantile = float(stdtrit(freedom, 0.5 + 0.5 * confidence_level))
        for c in range(len(p)):
            against = np.where(order[0] == c, order[1], order[0])
            inside, outside = p[c] + _HARDLY, 1 - p[c] + _HARDLY
            variance = parts.variance([J[:, c] * (1 / inside + 1 / outside) for J in parts.slopes])
            variance += _SECOND_STAGE * self._of_models(parts, np.full(len(columns), c), against) ** 2
            variance += 1 / counts[c] + 1 / (counts.sum() - counts[c])
            middle = np.log(final[c] + _HARDLY) - np.log(1 - final[c] + _HARDLY)
            reach = quantile * np.sqrt(_CHOICE * variance) / T
            ends = (1 / (1 + np.exp(-(middle + sign * reach).clip(-700, 700))) for sign in (-1, 1))
            lower[c], upper[c] = (((1 + 2 * _HARDLY) * end - _HARDLY).clip(0, 1) for end in ends)
        return np.minimum(lower, final), np.maximum(upper, final)

    def _parts(self, points: FloatArray) -> "_Parts":
        doubles = points.astype(np.float64, copy=False)
        weights, probas, slopes, coordinates = [], [], [], []
        rows = self._rows
        for i, (model, (compare, means, inverse)) in enumerate(zip(self.mixture.models, self._smoothers, strict=True)):
            assert rows is not None
            S, share, behind = (
                self.mixture.scalings[model.scaling](doubles),
                self.mixture.weights[i],
                model.coordinate_models,
            )
            z = model.expansion(S)
            steps = _STEP * np.eye(z.shape[1])
            J = np.stack([(behind.proba(z + step) - behind.proba(z - step)) / (2 * _STEP) for step in steps])
            weights.append((compare(S) - means) @ inverse)
            probas.append(share * np.maximum(behind.proba(z), LEAST_PROBABILITY))
            slopes.append(share * J)
            coordinates.append(z)
        assert rows is not None
        return _Parts(weights, rows.errors, probas, slopes, coordinates, rows.part)

    def _of_models(self, parts: "_Parts", best: np.ndarray, rival: np.ndarray) -> FloatArray:
        """Return the standard error of log odds from the moments behind the maps, as if all errors were one.

        Where a model's probabilities are q, an error of its log odds changes those of the mixture, with probabilities p
        and a share of it in them, by the share times q_a q_b/(q_a + q_b) (1/p_a + 1/p_b) of it.
        """
        columns, p = np.arange(len(best)), np.sum(parts.probas, axis=0) + _HARDLY
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


class _Parts(NamedTuple):
    """What each map brings: smoother weights, errors, weighted probabilities and their slopes, coordinates."""

    weights: Sequence[FloatArray]
    errors: Sequence[FloatArray]
    probas: Sequence[FloatArray]
    slopes: Sequence[FloatArray]
    coordinates: Sequence[FloatArray]
    part: float

    def variance(self, slopes: Sequence[FloatArray]) -> FloatArray:
        """Return the variance of a function with these slopes (n_coordinates, n_rows) in the maps' coordinates."""
        changes = sum(w * (slope.T @ e.T) for w, e, slope in zip(self.weights, self.errors, slopes, strict=True))
        return self.part * np.einsum("ij,ij->i", changes, changes)

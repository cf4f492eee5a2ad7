"""What single training rows do to the answers of a mixture of maps: sampling errors of log odds, by the jackknife.

Without row i, coordinates z(x) = sum_i w_i(x) t_i change by -w_i(x) e_i, with smoother weights w(x) = k(x, .) (G +
ridge)^(-1) and e_i the error of the row by the regression without it. All maps share the rows: changes of the averaged
probabilities are added over the maps before they are squared and summed over the rows.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.special import stdtrit

from ..numerics.types import FloatArray
from ..trust.probabilities import normalise
from ..trust.sampling import HARDLY, LogOdds, interval_around
from .cholesky_ridge import inverse_of_centred
from .expansion import KernelExpansion
from .kernels import KERNELS, Comparison
from .mixture import LEAST_PROBABILITY, KernelMixture, KernelModel, mean_of

# Rows whose influence is known, at most: of more, so many stand for all.
MOST_ROWS = 700

# Against so few rows, doubles are fast enough.
_FEW_ROWS = 300

# The variance of the models behind the maps counts so much more: their moments and shape are chosen on the same rows.
_SECOND_STAGE = 1.5

# Rivals of the predicted class that are asked, the most probable ones: doubts about the others are none.
_RIVALS = 6

# What the choice of kernels, ridges and temperature adds to the variance in intervals.
_CHOICE = 1.6

# Of two classes, rows are left out in so many groups: sums of squares are as good, and their products a fraction.
_N_GROUPS = 150

# A variance of log odds that says nothing is known.
_FAR = 1e12


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
    #: Weights of the rows; None: 1 each.
    mass: FloatArray | None = None


class InfluencedMixture:
    """A mixture of maps, and the rows that it was learned from: what answers."""

    def __init__(self, mixture: KernelMixture, rows: SamplingRows | None, priors: FloatArray) -> None:
        self.mixture, self._rows, self.cost = mixture, rows, mixture.cost
        trained = mixture.models[0].coordinate_models.gaussians.moments.priors
        #: What other class probabilities than those of training add to logarithms.
        self._shift = None if np.array_equal(priors, trained) else np.log(priors / trained)

    def log_proba(self, points: FloatArray) -> FloatArray:
        """Return log probabilities (n_classes, n_samples)."""
        return self._shifted(self.mixture.log_proba(points))

    def _shifted(self, log_proba: FloatArray) -> FloatArray:
        return log_proba if self._shift is None else normalise(log_proba + self._shift.astype(log_proba.dtype)[:, None])

    @cached_property
    def _smoothers(self) -> "list[_Smoother]":
        if self._rows is None:
            raise ValueError("this model was saved before sampling errors were kept: fit it again.")
        rows, scalings = self._rows, self.mixture.scalings
        scaled = {name: scaling(rows.points) for name, scaling in scalings.items()}
        triples = zip(self.mixture.models, rows.ridges.tolist(), rows.errors, strict=True)
        return [
            _Smoother.of(model, scaled[model.scaling], ridge, errors, rows.mass) for model, ridge, errors in triples
        ]

    @property
    def _counts(self) -> FloatArray:
        """Training rows of each class."""
        assert self._rows is not None
        fractions = self.mixture.models[0].coordinate_models.gaussians.moments.priors
        return fractions * (len(self._rows.points) / self._rows.part)

    def log_odds(self, points: FloatArray) -> LogOdds:
        """Return log odds of the most probable class against the next ones, with variances."""
        parts, counts, columns = self._parts(points, 1 + _RIVALS), self._counts, np.arange(len(points))
        best, rivals = parts.classes[0], parts.classes[1:]
        variances = parts.part * np.square(parts.changes[0] - parts.changes[1:]).sum(axis=2)
        variances += _SECOND_STAGE * self._of_models(parts, best, rivals) ** 2
        # The fractions of the classes are known from as many rows as there are.
        variances += 1 / counts[best] + 1 / counts[rivals]
        odds = parts.final[best, columns] - parts.final[rivals, columns]
        return LogOdds(best, rivals, odds, variances / self.mixture.temperature**2)

    def proba_interval(
        self, points: FloatArray, confidence_level: float, *, of_predicted: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals of probabilities: log odds of a class against all others, plus or minus.

        They are those of the predicted class, (1, n_samples), or of all: classes that are too improbable to be asked
        about have 0 and the upper end of the least probable one that is.
        """
        parts, counts, columns = self._parts(points, 1 + _RIVALS), self._counts, np.arange(len(points))
        asked = parts.classes[: 1 if of_predicted else None]
        said = np.exp(parts.final[parts.classes, columns])
        freedom = max(len(self._rows.points) - len(parts.final), 1) if self._rows else 1
        quantile = float(stdtrit(freedom, 0.5 + 0.5 * confidence_level))
        against = np.where(np.arange(len(asked))[:, None] > 0, parts.classes[0], parts.classes[1])
        variance = np.array([parts.variance_against_others(i, said) for i in range(len(asked))])
        variance += _SECOND_STAGE * self._of_models(parts, against, asked) ** 2
        variance += 1 / counts[asked] + 1 / (counts.sum() - counts[asked])
        reach = quantile * np.sqrt(_CHOICE * variance) / self.mixture.temperature
        said = said[: len(asked)]
        low, high = interval_around(said, reach)
        if of_predicted:
            return low, high
        lower, upper = np.zeros(parts.final.shape), np.maximum(high[-1], np.exp(parts.final))
        lower[asked, columns], upper[asked, columns] = low, high
        return lower, upper

    def _parts(self, points: FloatArray, n_asked: int) -> "_Parts":
        """Return what maps say of rows, and how rows of training change the most probable classes."""
        doubles, smoothers = points.astype(np.float64, copy=False), self._smoothers
        scaled = {name: scaling(doubles) for name, scaling in self.mixture.scalings.items()}
        maps, weights = list[_OfMap](), list[FloatArray]()
        for model, smoother in zip(self.mixture.models, smoothers, strict=True):
            z, of_rows = smoother.coordinates(model.expansion, scaled[model.scaling])
            distances = model.coordinate_models.distances(z)
            maps.append(_OfMap(z, distances, model.coordinate_models.probas(z, distances)))
            weights.append(of_rows)
        probas = [mean_of(of_map.probas) for of_map in maps]
        final, shares = self._shifted(self.mixture.average(probas)), self.mixture.weights.tolist()
        classes, columns = np.argsort(-final, axis=0, kind="stable")[:n_asked], np.arange(len(doubles))
        p = HARDLY + sum(
            share * np.maximum(proba, LEAST_PROBABILITY) for share, proba in zip(shares, probas, strict=True)
        )
        changes = np.zeros((*classes.shape, len(smoothers[0].errors)))
        behind = [model.coordinate_models for model in self.mixture.models]
        for models, share, smoother, of_map, w in zip(behind, shares, smoothers, maps, weights, strict=True):
            slopes = models.gradients(*of_map, classes) * (share / p[classes, columns])[:, :, None]
            changes += (slopes @ smoother.errors.T) * w
        return _Parts(final, p, classes, changes, maps, self._rows.part if self._rows else 1.0)

    def _of_models(self, parts: "_Parts", best: np.ndarray, rivals: np.ndarray) -> FloatArray:
        """Return standard errors of log odds from the moments behind the maps, as if all errors were one.

        Where a model's probabilities are q, an error of its log odds changes those of the mixture, with probabilities p
        and a share of it in them, by the share times q_a q_b/(q_a + q_b) (1/p_a + 1/p_b) of it.
        """
        columns, p = np.arange(parts.final.shape[1]), parts.p
        total, outside = np.zeros(rivals.shape), 1 / p[best, columns] + 1 / p[rivals, columns]
        for model, share, of_map in zip(self.mixture.models, self.mixture.weights, parts.maps, strict=True):
            for gaussian, alpha, q in zip(
                model.coordinate_models.gaussians.models, of_map.distances, of_map.probas, strict=False
            ):
                with np.errstate(over="ignore"):
                    found = gaussian.variance(alpha[best, columns], alpha[rivals, columns], best, rivals)
                variance = np.minimum(found, _FAR)
                # Moderated log odds are smaller than those of the moments by this root.
                error = np.sqrt(variance / (1 + np.pi / 8 * variance))
                a, b = q[best, columns], q[rivals, columns]
                part = share / len(of_map.probas) * outside
                total += part * error * a * b / np.maximum(a + b, LEAST_PROBABILITY)
        return total


class _Smoother(NamedTuple):
    """Of a map: what compares with the training rows, None where these are its anchors; smoother weights and errors."""

    compare: Comparison | None
    means: FloatArray
    #: (G + ridge)^(-1) off constants, of shape (n_rows, n_rows); or its product with the errors, (n_rows, n_groups).
    inverse: FloatArray
    #: Of shape (n_rows, n_coordinates); or of groups, whose errors are in the product: ones.
    errors: FloatArray

    @classmethod
    def of(cls, model: KernelModel, S: FloatArray, ridge: float, errors: FloatArray, mass: FloatArray | None) -> Self:
        """Return that of scaled training rows."""
        kernel, expansion = KERNELS[model.expansion.kernel], model.expansion
        compare = None
        if not np.array_equal(S, expansion.anchors):
            compare = kernel.against(S, expansion.bandwidth, single=len(S) > _FEW_ROWS)
        heavy = None if mass is None else mass[:, None]
        means, inverse = inverse_of_centred(kernel(S, S, expansion.bandwidth), ridge, heavy)
        if errors.shape[1] == 1 and len(S) > _N_GROUPS:
            return cls(compare, means, (inverse * errors[:, 0]) @ _signed_groups(len(S)), np.ones((_N_GROUPS, 1)))
        return cls(compare, means, inverse, errors)

    def coordinates(self, expansion: KernelExpansion, scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coordinates of rows, and the weights that training rows have in them."""
        if self.compare is not None:
            return expansion(scaled), (self.compare(scaled) - self.means) @ self.inverse
        values = expansion.compare(scaled)
        return values @ expansion.coefficients - expansion.offset, (values - self.means) @ self.inverse


def _signed_groups(n: int) -> FloatArray:
    """Return a matrix (n, n_groups) that adds up rows in groups of equal size, with signs at random.

    Squares of sums over groups have the sum of the squares as their mean, and about a tenth of it as their deviation.
    """
    rng, groups = np.random.default_rng(0), np.zeros((n, _N_GROUPS))
    groups[np.arange(n), rng.permutation(n) % _N_GROUPS] = rng.choice([-1.0, 1.0], n)
    return groups


class _OfMap(NamedTuple):
    """Coordinates of rows, and of each model behind the map distances, where it has any, and probabilities."""

    coordinates: FloatArray
    distances: Sequence[FloatArray]
    probas: Sequence[FloatArray]


class _Parts(NamedTuple):
    """Of rows: log probabilities, those of the mixture, what each map says, and how training rows change it."""

    final: FloatArray
    p: FloatArray
    #: Classes that are asked about, the most probable first; of shape (n_asked, n_rows).
    classes: np.ndarray
    #: Changes of log p of these classes with each training row, or group; of shape (n_asked, n_rows, n_changes).
    changes: FloatArray
    maps: Sequence[_OfMap]
    part: float

    def variance_against_others(self, i: int, said: FloatArray) -> FloatArray:
        """Return the variance of the log odds of a class against all others that are asked about, with what is said."""
        outside = np.maximum(said.sum(axis=0) - said[i], HARDLY)
        others = (said / outside)[:, :, None] * self.changes
        return self.part * np.square(self.changes[i] + others[i] - others.sum(axis=0)).sum(axis=1)

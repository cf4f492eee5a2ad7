"""Moments of one class as sums that merge in any order: what streams, clusters and the fit in memory share."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array
from ..numerics.backend import BlockSummary, power_sums
from ..numerics.types import FloatArray
from .central import CentralMoments, constant_features, half_reach

# Units are powers of 2**400: fourth powers of 2**-200 to 2**200 units, and their sums, neither under- nor overflow.
_UNIT_STEP, _LARGEST_UNIT = 400, 800

# Sums around a mean of a fraction f of the data lose a factor 1/f of their precision at worst.
_SMALLEST_FRACTION = 1e-3


@dataclass(frozen=True, eq=False)
class MomentSums(CentralMoments):
    """Sums that tell weight, mean, covariance and Ledoit-Wolf shrinkage of one class; ``a + b`` merges two of them.

    With u = (x - origin)/unit, the sums over the samples are the Gram matrix G of the vectors (1, u, u^2): it holds
    those of u_j, u_j u_k, u_j^2 u_k and u_j^2 u_k^2. Around another origin, (1, v, v^2) is a linear function of
    (1, u, u^2), so that G can be moved and added without the samples. The origin is kept near the mean, so that nothing
    cancels; the unit is 1 unless squares of squares would over- or underflow, or all samples are equal. Everything is
    float64.

    Parameters
    ----------
    origin, unit : ndarray of shape (n_features,)
        Where the sums are centred, and their scale.
    gram : ndarray of shape (1 + 2 n_features, 1 + 2 n_features)
        The sums.
    lowest, highest : ndarray of shape (n_features,)
        Range of each feature.
    resolution : float
        Relative rounding error of the samples, that of float32 or float64.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import MomentSums
    >>> X = np.random.default_rng(0).normal(loc=1e8, size=(1000, 3))
    >>> parts = MomentSums.from_samples(X[:10]) + MomentSums.from_samples(X[10:])
    >>> np.allclose(parts.covariance, np.cov(X.T, bias=True), rtol=1e-10)
    True
    >>> parts.weight_sum, parts.n_features
    (1000.0, 3)
    """

    origin: FloatArray
    unit: FloatArray
    gram: FloatArray
    lowest: FloatArray
    highest: FloatArray
    resolution: float
    _first: ClassVar[FloatArray]

    def __post_init__(self) -> None:
        d = len(self.unit)
        with np.errstate(over="ignore", invalid="ignore"):
            # A frozen dataclass lets nobody set attributes, not even itself.
            vars(self).update(
                n_features=d,
                weight_sum=float(self.gram[0, 0]),
                _first=self.gram[0, 1 : 1 + d],
                mean=self.origin + self.unit * (self.gram[0, 1 : 1 + d] / self.gram[0, 0]),
            )
            constant = constant_features(self.mean, self.lowest, self.highest, self.resolution)
        vars(self)["is_constant"] = constant

    @classmethod
    def from_samples(cls, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Sums over samples, of which at least one counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite samples; float32 is read as it is, everything else as float64.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; integers act as repetitions, and samples of weight 0 are left out.

        Returns
        -------
        MomentSums

        Raises
        ------
        ValueError
            If samples are not finite, weights are negative or all 0, or shapes do not agree.
        """
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2 or not X.shape[1]:
            raise ValueError(f"X must have two dimensions, samples and at least one feature, got shape {X.shape}.")
        if sample_weight is None:
            return cls.from_rows(X)
        weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != X.shape[:1]:
            raise ValueError(f"sample_weight must hold one number for each of {len(X)} samples, got {weight.shape}.")
        if not ((weight >= 0) & (weight < np.inf)).all():
            raise ValueError("sample_weight must hold finite numbers >= 0.")
        return cls.from_rows(X, weight, np.flatnonzero(weight))

    @classmethod
    def from_rows(cls, X: Array, sample_weight: FloatArray | None = None, rows: np.ndarray | None = None) -> Self:
        """Sums over some samples, where they are; only whether they are finite is checked.

        Parameters
        ----------
        X : array of any library, of shape (n_samples, n_features)
            Samples.
        sample_weight : ndarray of shape (n_samples,), default=None
            Weights, positive for these rows.
        rows : ndarray of int, default=None
            Indices of the samples that count; None is all.

        Returns
        -------
        MomentSums

        Raises
        ------
        ValueError
            If there are none, or they are not finite.
        """
        n = X.shape[0] if rows is None else len(rows)
        sums = power_sums(X, n)
        total: Self | None = None
        anchored = 0.0
        # Beyond the range of numbers the sums become infinite; whoever makes a covariance of them says so.
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, n, sums.rows_per_block):
                block = slice(start, min(start + sums.rows_per_block, n))
                chosen = block if rows is None else rows[block]
                block_sums = sums.load(chosen, None if sample_weight is None else sample_weight[chosen])
                if total is not None and total._can_hold(block_sums, anchored, sums.reach):
                    origin, unit = total.origin, total.unit
                else:
                    origin = np.nan_to_num(block_sums.mean).clip(block_sums.lowest, block_sums.highest)
                    unit = _unit_for(half_reach(origin, block_sums.lowest, block_sums.highest))
                origin, unit, gram = sums.gram(block_sums, origin, unit)
                part = cls(origin, unit, gram, block_sums.lowest, block_sums.highest, sums.resolution)
                total = part if total is None else total + part
                if total.origin is not origin or not anchored:
                    anchored = total.weight_sum
        if total is None or not total.weight_sum > 0:
            raise ValueError("moments need at least one sample of positive weight.")
        if not np.isfinite([total.lowest, total.highest]).all():
            raise ValueError("X contains NaN or infinity; remove or impute these entries first.")
        return total

    def __add__(self, other: Self) -> Self:
        """Sums over the samples of both, around the common origin if they share one, or else their common mean."""
        if not isinstance(other, MomentSums):
            return NotImplemented
        if self.n_features != other.n_features:
            raise ValueError(f"sums over {self.n_features} and {other.n_features} features cannot be merged.")
        if np.array_equal(self.origin, other.origin) and np.array_equal(self.unit, other.unit):
            origin, unit, gram = self.origin, self.unit, self.gram + other.gram
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                origin, unit = self._common_anchor(other)
                one, two = (
                    _moved(each.gram, each.unit / unit, _difference(each.origin, origin, unit))
                    for each in (self, other)
                )
                gram = one + two
        return type(self)(
            origin,
            unit,
            gram,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            max(self.resolution, other.resolution),
        )

    def __getstate__(self) -> dict[str, Any]:
        """The sums alone."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over sums, and make anew what follows from them."""
        vars(self).update(state)
        self.__post_init__()

    def __radd__(self, nothing: int) -> Self:
        """Return the sums themselves where ``sum`` starts at 0."""
        return self if nothing == 0 else NotImplemented

    @cached_property
    def _central(self) -> tuple[FloatArray, FloatArray]:
        """Means of v_j v_k and of v_j^2 v_k^2, with v = (x - mean)/unit."""
        d = self.n_features
        gram = _moved(self.gram, np.ones(d), -self._first / self.weight_sum) / self.weight_sum
        return gram[1 : d + 1, 1 : d + 1], gram[d + 1 :, d + 1 :]

    def centred(self, weight_sum: float | None = None) -> Self:
        """Sums over the deviations from the mean.

        Parameters
        ----------
        weight_sum : float, default=None
            Another total that the weights are scaled to.

        Returns
        -------
        MomentSums
        """
        gram = _moved(self.gram, np.ones(self.n_features), -self._first / self.weight_sum)
        # What is left of the first moments is rounding.
        gram[0, 1 : 1 + self.n_features] = gram[1 : 1 + self.n_features, 0] = 0
        factor = 1.0 if weight_sum is None else weight_sum / self.weight_sum
        mean = self.mean
        with np.errstate(over="ignore"):
            lowest, highest = self.lowest - mean, self.highest - mean
        return type(self)(np.zeros_like(mean), self.unit, factor * gram, lowest, highest, self.resolution)

    def second(self) -> FloatArray:
        """Second moments E[v_j v_k] of v = (x - mean)/unit.

        Returns
        -------
        ndarray of shape (n_features, n_features)
        """
        return self._central[0]

    def fourth(self) -> FloatArray:
        """Fourth moments E[v_j^4] of v = (x - mean)/unit.

        Returns
        -------
        ndarray of shape (n_features,)
        """
        return np.diagonal(self._central[1])

    def fourth_length(self, weights: FloatArray) -> float:
        """The fourth moment of a weighted length, E[(sum_j w_j v_j^2)^2].

        Parameters
        ----------
        weights : ndarray of shape (n_features,)
            The w_j >= 0.

        Returns
        -------
        float
        """
        return float(weights @ self._central[1] @ weights)

    def _can_hold(self, block: BlockSummary, anchored: float, reach: float) -> bool:
        """Whether more samples can be summed around the origin, which is the mean of samples of weight ``anchored``."""
        is_near = self.weight_sum + block.weight_sum <= anchored / _SMALLEST_FRACTION
        half = half_reach(self.origin, block.lowest, block.highest)
        return bool(is_near and (half <= reach * self.unit).all())

    def _common_anchor(self, other: Self) -> tuple[FloatArray, FloatArray]:
        """The mean of the samples of both, and a unit for their deviations from it."""
        gap = _unit_for(np.abs(0.5 * other.origin - 0.5 * self.origin))
        unit = np.maximum(np.maximum(self.unit, other.unit), gap)
        away = self._first * (self.unit / unit) + other._first * (other.unit / unit)
        away += other.weight_sum * _difference(other.origin, self.origin, unit)
        return self.origin + unit * (away / (self.weight_sum + other.weight_sum)), unit


def _difference(a: FloatArray, b: FloatArray, unit: FloatArray) -> FloatArray:
    """(a - b)/unit, where a - b may exceed the range of numbers."""
    return 2 * ((0.5 * a - 0.5 * b) / unit)


def _moved(gram: FloatArray, ratio: FloatArray, shift: FloatArray) -> FloatArray:
    """Gram matrix T G T' of (1, v, v^2) with v = ratio u + shift, from that of (1, u, u^2): v^2 is linear in these."""
    d, ratio, shift = len(shift), ratio[:, None], shift[:, None]
    # T G, then T (T G)' = (T G T')', which is symmetric.
    moved = gram.T
    for _ in range(2):
        one, first, second = moved.T[:1], moved.T[1 : d + 1], moved.T[d + 1 :]
        squares = ratio * ratio * second + 2 * ratio * shift * first + shift * shift * one
        moved = np.concatenate([one, ratio * first + shift * one, squares])
    return moved


def _unit_for(half: FloatArray) -> FloatArray:
    """A unit for deviations of up to twice each number."""
    steps = np.round((np.frexp(half)[1] + 1) / _UNIT_STEP)
    powers = np.where(half > 0, _UNIT_STEP * steps, -_LARGEST_UNIT)
    return np.ldexp(1.0, powers.clip(-_LARGEST_UNIT, _LARGEST_UNIT).astype(int))

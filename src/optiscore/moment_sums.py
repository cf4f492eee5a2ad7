"""Moments of one class as sums that merge in any order: what streams, clusters and the fit in memory share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ._typing import BoolArray, FloatArray

# Rows that are summed together, in buffers that stay in the second-level cache.
_BUFFER_BYTES, _FEWEST_ROWS = 1024 * 1024, 512

# Units are powers of 2**400: fourth powers of 2**-200 to 2**200 units, and their sums, neither under- nor overflow.
_UNIT_STEP, _LARGEST_UNIT, _REACH = 400, 800, 2.0**200

# Sums around a mean of a share f of the data lose a factor 1/f of their precision at worst.
_SMALLEST_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class MomentSums:
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
    >>> parts = MomentSums.of(X[:10]) + MomentSums.of(X[10:])
    >>> np.allclose(parts.covariance, np.cov(X.T, bias=True), rtol=1e-10)
    True
    >>> parts.size, parts.n_features
    (1000.0, 3)
    """

    origin: FloatArray
    unit: FloatArray
    gram: FloatArray
    lowest: FloatArray
    highest: FloatArray
    resolution: float

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Sums over samples, of which at least one counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite samples; float32 is read as it is, everything else as float64.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0; whole numbers act as repetitions, and samples of weight 0 are left out.
        """
        X = np.asarray(X)
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if X.ndim != 2 or not X.shape[1]:
            raise ValueError(f"X must have two dimensions, samples and at least one feature, got shape {X.shape}.")
        if sample_weight is None:
            return cls.of_rows(X)
        weight = np.asarray(sample_weight, dtype=np.float64)
        if weight.shape != X.shape[:1]:
            raise ValueError(f"sample_weight must hold one number for each of {len(X)} samples, got {weight.shape}.")
        if not ((weight >= 0) & (weight < np.inf)).all():
            raise ValueError("sample_weight must hold finite numbers >= 0.")
        return cls.of_rows(X, weight, np.flatnonzero(weight))

    @classmethod
    def of_rows(cls, X: FloatArray, sample_weight: FloatArray | None = None, rows: np.ndarray | None = None) -> Self:
        """Sums over those samples (None: all) that rows lists; their weights are positive, and nothing is checked."""
        # Beyond the range of numbers the sums become infinite; whoever makes a covariance of them says so.
        with np.errstate(over="ignore", invalid="ignore"):
            total: Self | None = None
            anchored = 0.0
            for powers, weight in _blocks(X, sample_weight, rows):
                features = powers[1 : 1 + X.shape[1]]
                size = features.shape[1] if weight is None else float(weight.sum())
                lowest, highest = features.min(axis=1), features.max(axis=1)
                if (
                    total is not None
                    and total.size + size <= anchored / _SMALLEST_SHARE
                    and total._spans(lowest, highest)
                ):
                    total = total._with(_gram(powers, total.origin, total.unit, weight), lowest, highest)
                    continue
                origin, unit = centre_and_unit(_mean(features, weight), lowest, highest)
                gram = _gram(powers, origin, unit, weight)
                part = cls(origin, unit, gram, lowest, highest, float(np.finfo(X.dtype).eps))
                total = part if total is None else total + part
                anchored = total.size
        if total is None or not total.size > 0:
            raise ValueError("moments need at least one sample of positive weight.")
        if not np.isfinite([total.lowest, total.highest]).all():
            raise ValueError("X contains NaN or infinity; remove or impute these entries first.")
        return total

    def __add__(self, other: Self) -> Self:
        """Sums over the samples of both, centred at their common mean."""
        if not isinstance(other, MomentSums):
            return NotImplemented
        if self.n_features != other.n_features:
            raise ValueError(f"sums over {self.n_features} and {other.n_features} features cannot be merged.")
        with np.errstate(over="ignore", invalid="ignore"):
            gap = _unit_for(np.abs(0.5 * other.origin - 0.5 * self.origin))
            unit = np.maximum(np.maximum(self.unit, other.unit), gap)
            size = self.size + other.size
            away = self._first() * (self.unit / unit) + other._first() * (other.unit / unit)
            away += other.size * _difference(other.origin, self.origin, unit)
            origin = self.origin + unit * (away / size)
            gram = _moved(self.gram, self.unit / unit, _difference(self.origin, origin, unit))
            gram += _moved(other.gram, other.unit / unit, _difference(other.origin, origin, unit))
        return type(self)(
            origin,
            unit,
            gram,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
            max(self.resolution, other.resolution),
        )

    def __radd__(self, nothing: int) -> Self:
        """What ``sum`` needs, which starts at 0."""
        return self if nothing == 0 else NotImplemented

    @property
    def size(self) -> float:
        """Number of samples, or their total weight."""
        return float(self.gram[0, 0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.origin)

    @property
    def mean(self) -> FloatArray:
        """Mean of each feature."""
        return self.origin + self.unit * (self._first() / self.size)

    @property
    def covariance(self) -> FloatArray:
        """Covariance with denominator n."""
        covariance, _ = self.central()
        # Variances beyond the range of numbers become infinite; the caller can say which class has them.
        with np.errstate(over="ignore", under="ignore"):
            return covariance * self.unit * self.unit[:, None]

    @property
    def is_constant(self) -> BoolArray:
        """Which features do not vary beyond rounding."""
        half = _half_reach(self.mean, self.lowest, self.highest)
        return half <= 4 * self.resolution * np.maximum(np.abs(self.highest), np.abs(self.lowest))

    def central(self) -> tuple[FloatArray, FloatArray]:
        """Means of v_j v_k and of v_j^2 v_k^2, with v = (x - mean)/unit."""
        d = self.n_features
        gram = _moved(self.gram, np.ones(d), -self._first() / self.size) / self.size
        return gram[1 : d + 1, 1 : d + 1], gram[d + 1 :, d + 1 :]

    def _with(self, gram: FloatArray, lowest: FloatArray, highest: FloatArray) -> Self:
        """Sums with those of further samples around the same origin."""
        lowest, highest = np.minimum(self.lowest, lowest), np.maximum(self.highest, highest)
        return type(self)(self.origin, self.unit, self.gram + gram, lowest, highest, self.resolution)

    def _first(self) -> FloatArray:
        return self.gram[0, 1 : 1 + self.n_features]

    def _spans(self, lowest: FloatArray, highest: FloatArray) -> bool:
        """Whether samples in this range can be summed in these units."""
        return bool((_half_reach(self.origin, lowest, highest) <= _REACH * self.unit).all())


def _blocks(
    X: FloatArray, weight: FloatArray | None, rows: np.ndarray | None
) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """Room for (1, u, u^2), one sample per column, with the samples in the place of u; and their weights.

    The next block overwrites it: fresh memory would cost more than the arithmetic.
    """
    n, d = len(X) if rows is None else len(rows), X.shape[1]
    step = max(1, min(n, max(_FEWEST_ROWS, _BUFFER_BYTES // (16 * d))))
    taken, powers = np.empty((step, d), dtype=X.dtype), np.empty((1 + 2 * d, step))
    for start in range(0, n, step):
        block = slice(start, min(start + step, n))
        m = block.stop - start
        chosen = X[block] if rows is None else X.take(rows[block], axis=0, out=taken[:m], mode="clip")
        powers[1 : d + 1, :m] = chosen.T
        yield powers[:, :m], None if weight is None else weight[block] if rows is None else weight[rows[block]]


def centre_and_unit(mean: FloatArray, lowest: FloatArray, highest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where to centre sums over samples of a range, and the unit for their deviations."""
    origin = np.nan_to_num(mean).clip(lowest, highest)
    return origin, _unit_for(_half_reach(origin, lowest, highest))


def _half_reach(origin: FloatArray, lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Half the largest distance from an origin within a range; the whole may exceed the range of numbers."""
    return np.maximum(0.5 * highest - 0.5 * origin, 0.5 * origin - 0.5 * lowest)


def _difference(a: FloatArray, b: FloatArray, unit: FloatArray) -> FloatArray:
    """(a - b)/unit, where a - b may exceed the range of numbers."""
    return 2 * ((0.5 * a - 0.5 * b) / unit)


def _mean(features: FloatArray, weight: FloatArray | None) -> FloatArray:
    return features.mean(axis=1) if weight is None else features @ (weight / weight.sum())


def _gram(powers: FloatArray, origin: FloatArray, unit: FloatArray, weight: FloatArray | None) -> FloatArray:
    """Gram matrix of (1, u, u^2), from samples in the place of u."""
    d = len(origin)
    powers[0], u = 1.0, powers[1 : d + 1]
    u -= origin[:, None]
    if (unit != 1).any():
        u *= 1 / unit[:, None]
    np.multiply(u, u, out=powers[d + 1 :])
    if weight is not None:
        powers *= np.sqrt(weight)
    return powers @ powers.T


def _moved(gram: FloatArray, ratio: FloatArray, shift: FloatArray) -> FloatArray:
    """Gram matrix of (1, v, v^2) for v = ratio u + shift, from that of (1, u, u^2): v^2 is linear in 1, u and u^2."""
    d = len(shift)
    ratio, shift, moved = ratio[:, None], shift[:, None], gram.copy()
    for rows in (moved, moved.T):
        one, first, second = rows[0], rows[1 : d + 1], rows[d + 1 :]
        second *= ratio * ratio
        second += (2 * ratio * shift) * first + (shift * shift) * one
        first *= ratio
        first += shift * one
    return moved


def _unit_for(half: FloatArray) -> FloatArray:
    """A unit for deviations of up to twice each number."""
    steps = np.round((np.frexp(half)[1] + 1) / _UNIT_STEP)
    powers = np.where(half > 0, _UNIT_STEP * steps, -_LARGEST_UNIT)
    return np.ldexp(1.0, powers.clip(-_LARGEST_UNIT, _LARGEST_UNIT).astype(int))

"""Do rows still look like the training rows? Which features moved, with one false alarm in twenty for all together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from .numerics.types import FloatArray

__all__ = ["Drift", "DriftReference", "Shift"]

# Deviations beyond so many scales count as this: a few wild values are no drift, and sums are nearly Gaussian.
_FARTHEST = 3.0

# Larger numbers, whose squares could overflow, are taken as this large.
_LARGEST = 1e150

# The standard error of a mean is taken to be at most this part of the deviation: where nearly all rows agree, one that
# does not is no drift.
_LEVERAGE = 0.25

# Fewer rows than this, of a predicted label or of all, tell nothing.
_FEWEST = 8

# Correlations of more statistics than this are taken as 0, which makes false alarms rarer than promised.
_MOST_CORRELATED = 600

# How the chance of a false alarm is shared out, per statistic: the place of a feature in all rows is what drifts first.
_SHARE_OF_PLACE, _SHARE_OF_SPREAD, _SHARE_OF_GROUPS = 1.0, 0.3, 0.15

_N_SIMULATED, _SIMULATED_AT_ONCE = 4_000, 2_000_000


class Shift(NamedTuple):
    """One feature that moved in all rows, or in those of a predicted label.

    Parameters
    ----------
    feature : int
        Its index.
    label : int or None
        Index of the predicted label; None is all rows.
    is_spread : bool
        Whether its distance from the training median changed, not its place.
    change : float
        By how many scales (standard deviations, for Gaussian features).
    p_value : float
        Probability that chance alone moves any feature of any group as surely as this.

    Examples
    --------
    >>> from optiscore.drift import Shift
    >>> Shift(feature=2, label=None, is_spread=False, change=0.8, p_value=0.001).change
    0.8
    """

    feature: int
    label: int | None
    is_spread: bool
    change: float
    p_value: float


class Drift(NamedTuple):
    """Whether rows drifted: the p-value of everything together, and the features that moved, surest first.

    Parameters
    ----------
    p_value : float or None
        Probability that chance alone moves any feature of any group as surely; None where there are too few rows, or no
        features, to tell.
    shifts : list of Shift
        Every feature of every group with enough rows, whether it moved or not.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.drift import DriftReference
    >>> rng = np.random.default_rng(0)
    >>> reference = DriftReference.from_rows(rng.normal(size=(400, 3)), np.zeros(400, dtype=int), n_classes=1)
    >>> drift = reference.compare(rng.normal(size=(100, 3)) + [0, 0.8, 0], np.zeros(100, dtype=int))
    >>> drift.p_value < 0.01, drift.found()[0].feature
    (True, 1)
    """

    p_value: float | None
    shifts: list[Shift]

    def found(self, level: float = 0.05) -> list[Shift]:
        """The features that moved.

        Parameters
        ----------
        level : float, default=0.05
            The chance of any false alarm.

        Returns
        -------
        list of Shift
            Surest first.
        """
        return [shift for shift in self.shifts if shift.p_value <= level]


@dataclass(frozen=True, eq=False)
class DriftReference:
    """Statistics of training rows that drift is told by later: places, spreads and their correlations, and no rows.

    Each feature has two statistics: its deviation u from the training median in units of its scale, clipped, and
    abs(u). Their means in later rows are compared with those in training, for all rows and for the rows of each
    predicted label. The largest deviation is judged against what chance does to the largest of all, which is drawn from
    a normal distribution with the correlations of the training rows.

    Parameters
    ----------
    center, scale : ndarray of shape (n_features,)
        Median and scale of each feature.
    counts : ndarray of shape (n_classes,)
        Training rows by predicted label.
    means, deviations : ndarray of shape (n_classes, 2 * n_features)
        Mean and standard deviation of the statistics in each group.
    correlation : ndarray of shape (2 * n_features, 2 * n_features), or (0, 0)
        Correlations of the statistics within groups; empty where there are too many to keep.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.drift import DriftReference
    >>> rng = np.random.default_rng(0)
    >>> X, predicted = rng.normal(size=(400, 3)), rng.integers(2, size=400)
    >>> reference = DriftReference.from_rows(X, predicted, n_classes=2)
    >>> later, labels = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    >>> reference.compare(later, labels).found()
    []
    >>> moved = reference.compare(later + [0, 0.8, 0], labels).found()[0]
    >>> moved.feature, moved.change > 0.5, moved.p_value < 0.001
    (1, True, True)
    """

    center: FloatArray
    scale: FloatArray
    counts: FloatArray
    means: FloatArray
    deviations: FloatArray
    correlation: FloatArray

    @classmethod
    def from_rows(cls, X: ArrayLike, predicted: ArrayLike, n_classes: int) -> Self:
        """From training rows and the index of the label that each is predicted, by a model that has not seen it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Training rows; NaN is a missing value.
        predicted : array-like of shape (n_rows,)
            Index of the predicted label of each row.
        n_classes : int
            Number of labels.

        Returns
        -------
        DriftReference

        Raises
        ------
        ValueError
            If there are no rows, or groups are not such indices.
        """
        rows, codes = _checked(X, predicted, n_classes)
        if not len(rows):
            raise ValueError("X has no rows: drift is told by what training rows were like")
        known = np.where(np.isnan(rows).all(axis=0), 0.0, rows)
        center = np.nanmedian(known, axis=0) if known.shape[1] else np.zeros(0)
        scale = _scales(known)
        statistics = _statistics(rows, center, scale)
        counts, means, deviations = _moments(statistics, codes, n_classes)
        correlation = np.zeros((0, 0))
        if statistics.shape[1] <= _MOST_CORRELATED:
            within = _over(statistics - means[codes], deviations[codes])
            correlation = within.T @ within / len(rows)
            np.fill_diagonal(correlation, 1.0)
        return cls(center, scale, counts, means, deviations, correlation)

    def compare(self, X: ArrayLike, predicted: ArrayLike, *, random_state: int = 0) -> Drift:
        """Which features of later rows are not where they were.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Later rows; NaN is a missing value.
        predicted : array-like of shape (n_rows,)
            Index of the predicted label of each.
        random_state : int, default=0
            Seed of the draws that stand for chance.

        Returns
        -------
        Drift

        Raises
        ------
        ValueError
            If X has other features than the training rows had, or groups are not such indices.
        """
        rows, codes = _checked(X, predicted, len(self.counts))
        if rows.shape[1] != len(self.center):
            raise ValueError(f"X has {rows.shape[1]} features, but the training rows had {len(self.center)}")
        if not len(rows):
            return Drift(None, [])
        statistics = _statistics(rows, self.center, self.scale)
        later = _moments(statistics, codes, len(self.counts))
        parts = [*self._by_group(*later), self._overall(*later)]
        usable = np.concatenate([np.full(len(part.change), part.is_usable) for part in parts])
        if not usable.any():
            return Drift(None, [])
        surprises = np.concatenate([part.surprise for part in parts])
        by_chance = self._by_chance(parts, random_state)
        order = [i for i in np.argsort(-surprises, kind="stable") if usable[i]]
        p_values = (1 + (by_chance[:, None] >= surprises[order]).sum(axis=0)) / (1 + len(by_chance))
        # Where nearly nothing varied in training, chance has little to draw from: no p-value is below its own.
        weights = np.concatenate([part.weight for part in parts])
        p_values = np.maximum(p_values, np.minimum(2 * weights[order] * np.exp(-surprises[order]), 1))
        changes = np.concatenate([part.change for part in parts])
        width = statistics.shape[1]
        shifts = [
            Shift(
                feature=int(i % width % len(self.center)),
                label=int(i // width) if i // width < len(self.counts) else None,
                is_spread=bool(i % width >= len(self.center)),
                change=float(changes[i]),
                p_value=float(p),
            )
            for i, p in zip(order, p_values, strict=True)
        ]
        return Drift(shifts[0].p_value, shifts)

    def _by_group(self, counts: FloatArray, means: FloatArray, deviations: FloatArray) -> list["_Compared"]:
        weight = _SHARE_OF_GROUPS / len(self.counts)
        pairs = zip(self.counts, counts, self.means, means, self.deviations, deviations, strict=True)
        return [
            _compare(weight, n_before, n, now - before, _pooled(n_before, spread, n, later))
            for n_before, n, before, now, spread, later in pairs
        ]

    def _overall(self, counts: FloatArray, means: FloatArray, deviations: FloatArray) -> "_Compared":
        before, spread = _together(self.counts, self.means, self.deviations)
        now, later = _together(counts, means, deviations)
        n_before, n = self.counts.sum(), counts.sum()
        return _compare(1.0, n_before, n, now - before, _pooled(n_before, spread, n, later))

    def _by_chance(self, parts: Sequence["_Compared"], random_state: int) -> FloatArray:
        """The largest surprise of many draws in which nothing drifted.

        Within the groups deviations are normal with the training correlations; shares of the groups are off by chance,
        too; all rows are what the groups make of them.
        """
        rng = np.random.default_rng(random_state)
        n_classes, q = self.means.shape
        shares = self.counts / self.counts.sum()
        mean, deviation = _together(self.counts, self.means, self.deviations)
        root = _root(self.correlation) if len(self.correlation) else None
        weights = np.concatenate([part.weight for part in parts])
        damping = np.concatenate([part.damping for part in parts])
        largest = []
        at_once = max(1, min(_N_SIMULATED, _SIMULATED_AT_ONCE // (n_classes * q)))
        for start in range(0, _N_SIMULATED, at_once):
            n = min(at_once, _N_SIMULATED - start)
            within = rng.normal(size=(n, n_classes, q))
            within = within if root is None else within @ root
            moved = rng.normal(size=(n, n_classes)) * np.sqrt(shares)
            moved -= moved.sum(axis=1, keepdims=True) * shares
            total = np.einsum("ngq,gq->nq", within, np.sqrt(shares)[:, None] * self.deviations)
            total = _over(total + moved @ (self.means - mean), deviation)
            values = np.concatenate([within.reshape(n, -1), total], axis=1)
            largest.append(_surprise(damping * values, np.inf, weights).max(axis=1))
        return np.concatenate(largest)


class _Compared(NamedTuple):
    """The statistics of a group of rows beside those of training; damped where one row makes the difference."""

    change: FloatArray
    surprise: FloatArray
    weight: FloatArray
    damping: FloatArray
    is_usable: bool


def _compare(weight: float, n_before: float, n: float, change: FloatArray, spread: FloatArray) -> _Compared:
    weights = weight * np.repeat([_SHARE_OF_PLACE, _SHARE_OF_SPREAD], len(change) // 2)
    if min(n_before, n) < _FEWEST:
        nothing = np.zeros_like(change)
        return _Compared(change, nothing, weights, nothing, is_usable=False)
    error = np.sqrt(1 / n_before + 1 / n)
    assumed = np.maximum(spread, error / _LEVERAGE)
    surprise = _surprise(change / (assumed * error), n_before + n - 2, weights)
    return _Compared(change, surprise, weights, spread / assumed, is_usable=True)


def _surprise(t: FloatArray, df: float, weight: FloatArray) -> FloatArray:
    """Negative logarithm of the p-value of one tail, relative to its part of the chance of a false alarm.

    The other tail would add the same to what is found and to what chance does.
    """
    tail = stats.norm.logsf(np.abs(t)) if np.isinf(df) else stats.t.logsf(np.abs(t), df)
    return np.log(weight) - tail


def _scales(X: FloatArray) -> FloatArray:
    """Standard deviations of Gaussian features from quartiles; where these coincide, plain standard deviations."""
    if not X.shape[1]:
        return np.zeros(0)
    low, high = np.nanquantile(X, [0.25, 0.75], axis=0)
    return np.where(high > low, (high - low) / 1.349, np.nanstd(X, axis=0))


def _checked(X: ArrayLike, predicted: ArrayLike, n_classes: int) -> tuple[FloatArray, np.ndarray]:
    """Rows of numbers, in which NaN is a missing value, and an index from 0 to n_classes - 1 for each."""
    rows: FloatArray = check_array(
        X, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_features=0, ensure_min_samples=0
    )
    codes: np.ndarray = column_or_1d(predicted)
    check_consistent_length(rows, codes)
    if len(codes) and (codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= n_classes):
        raise ValueError(f"predicted must be indices of the predicted labels, integers from 0 to {n_classes - 1}")
    return rows.clip(-_LARGEST, _LARGEST), codes.astype(np.intp)


def _statistics(X: FloatArray, center: FloatArray, scale: FloatArray) -> FloatArray:
    deviation = X - center
    # What was constant in training can still move.
    u = np.where(scale > 0, _over(deviation, scale), np.sign(deviation)).clip(-_FARTHEST, _FARTHEST)
    # Missing values are at the median: whether they are missing is a feature of its own.
    u = np.nan_to_num(u)
    return np.hstack([u, np.abs(u)])


def _moments(statistics: FloatArray, codes: np.ndarray, n_classes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Number of rows, means and standard deviations in each group; zeros where it is empty."""
    counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
    members = (codes[:, None] == np.arange(n_classes)).astype(np.float64)
    means = _over(members.T @ statistics, counts[:, None])
    squares = members.T @ np.square(statistics - means[codes])
    return counts, means, np.sqrt(_over(squares, counts[:, None]))


def _together(counts: FloatArray, means: FloatArray, deviations: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of all groups together."""
    shares = counts / counts.sum()
    mean = shares @ means
    return mean, np.sqrt(shares @ (np.square(deviations) + np.square(means - mean)))


def _pooled(n_before: float, before: FloatArray, n: float, later: FloatArray) -> FloatArray:
    """Standard deviation within both."""
    return np.sqrt((n_before * np.square(before) + n * np.square(later)) / max(n_before + n - 2, 1))


def _root(correlation: FloatArray) -> FloatArray:
    """R with R'R = correlation, which may be singular."""
    values, vectors = np.linalg.eigh(correlation)
    return np.sqrt(values.clip(0))[:, None] * vectors.T


def _over(a: FloatArray, b: FloatArray) -> FloatArray:
    """The quotient, and 0 where the denominator is 0."""
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b))), where=np.asarray(b) > 0)

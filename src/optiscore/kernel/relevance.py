"""Weights of columns from what they are worth to predictions of rows left out, and whether to believe them.

A column's importance is the increase of the log loss of left-out rows where its values are those of other rows. Squared
weights are proportional to importances; what is lost in their noise stays at its level. Weights that are learned anew
on two thirds of the rows tell on the last one whether they help.
"""

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

from ..moments.subsets import places_in_class, stratified
from ..numerics.blocks import map_threads, n_threads
from ..numerics.types import FloatArray
from ..trust.calibration import best_sharpness
from ..trust.probabilities import normalise
from .kernels import KERNELS
from .mixture import SHARPNESS, estimated_indicators
from .parameters import RIDGES as LISTED_RIDGES
from .problem import Problem
from .scalings import Weighted
from .spectral_ridge import Spectrum, contrasts, indicators_of

#: Two kernels that see different things: predictions are the mean of both.
SEEING = ("product-laplacian", "rbf-0.25")

# What each round adds to importances, in units of their standard errors.
_DOUBTS = (0.5, 0.25)

# Columns of less than this fraction of the largest importance are left out.
_LEAST = 0.003

# Rows that weights are learned on, at most and at least; columns at most.
_MOST_ROWS, _FEWEST_ROWS, MOST_COLUMNS = 500, 60, 1000

_N_FOLDS = 3

# A gain is believed from so many standard errors on, that of a later round over an earlier one from so many.
_CHANCE, _STEP = 1.5, 0.5

RIDGES = np.array(LISTED_RIDGES)

# A held-out row does not count for more than this probability of its class.
_LEAST_PROBABILITY = 1e-4

# Kernel values of several columns that stay in the cache of a core.
_BLOCK = 131_072


def weigh_columns(problem: Problem, relevance: bool | str, seed: int) -> tuple[Problem, FloatArray]:
    """Return the problem with weighted scalings, and the weights: ones where it stays as it is.

    ``relevance`` is True, False or "auto": weights that help by more than chance.
    """
    n, d = problem.X.shape
    ones = np.ones(d)
    if relevance is True and d > MOST_COLUMNS:
        raise ValueError(
            f"relevance is learned for at most {MOST_COLUMNS:,} columns, here {d:,}. Select columns first, or pass "
            f"relevance=False."
        )
    if relevance is False or not 1 < d <= MOST_COLUMNS or n < _FEWEST_ROWS:
        return problem, ones
    rows = np.sort(stratified(problem.codes, _MOST_ROWS, 2, seed).rows)
    name = "ranks" if "ranks" in problem.scalings else next(iter(problem.scalings))
    known = LabelledColumns(problem.scaled(name, rows), problem.codes[rows], problem.n_classes)
    weights = learn_weights(known, np.random.default_rng(seed), believes=relevance is True)
    if weights is None:
        return problem, ones
    scalings = {name: Weighted(scaling, weights) for name, scaling in problem.scalings.items()}
    return replace(problem, scalings=scalings), weights


class LabelledColumns(NamedTuple):
    """Scaled rows, and their classes."""

    X: FloatArray
    codes: np.ndarray
    n_classes: int

    def take(self, rows: np.ndarray) -> Self:
        """Some of the rows."""
        return self._replace(X=self.X[rows], codes=self.codes[rows])

    def weighted(self, weights: FloatArray) -> Self:
        """Columns times weights; those without are left out."""
        return self._replace(X=(self.X * weights)[:, weights > 0])


def learn_weights(known: LabelledColumns, rng: np.random.Generator, *, believes: bool) -> FloatArray | None:
    """Return weights, 1 for the largest; None where they do not help on held-out rows by more than chance."""
    n = len(known.codes)
    order, others = rng.permutation(n), np.empty(n, dtype=int)
    others[order] = np.roll(order, 1)
    gains = _held_out_gains(known, others, rng)
    chosen = _choose_rounds(gains)
    # Where thirds leave it open, other thirds may tell.
    if gains[chosen].mean() > 0 and not _is_real(gains[chosen]):
        gains = 0.5 * (gains + _held_out_gains(known, others, rng))
        chosen = _choose_rounds(gains)
    if not believes and not _is_real(gains[chosen]):
        return None
    whole = _Rounds(known, known.X[others])
    for doubt in _DOUBTS[: chosen + 1]:
        whole.go_on(doubt)
    return whole.weights


def _held_out_gains(known: LabelledColumns, others: np.ndarray, rng: np.random.Generator) -> FloatArray:
    """Return by how much each round of weights lessens the loss of each row, held out; of shape (n_rounds, n_rows)."""
    n, fold = len(known.codes), _folds(known.codes, rng)
    threads = n_threads(10 * known.X.size * n)

    def gains(k: int) -> FloatArray:
        rounds, held_out = _Rounds(known.take(fold != k), known.X[others[fold != k]]), known.take(fold == k)
        losses = [rounds.losses(held_out)]
        for doubt in _DOUBTS:
            rounds.go_on(doubt)
            losses.append(rounds.losses(held_out))
        return losses[0] - np.array(losses[1:])

    joined = np.empty((len(_DOUBTS), n))
    for k, part in enumerate(map_threads(gains, range(_N_FOLDS), threads)):
        joined[:, fold == k] = part
    return joined


def _choose_rounds(gains: FloatArray) -> int:
    """Return the last round that is better than those before by more than chance, or the first one."""
    best = 0
    for i in range(1, len(gains)):
        if _is_real(gains[i] - gains[best], _STEP):
            best = i
    return best


class _Rounds:
    """Rounds of weights, each from importances under the weights of the one before; and the fit under the last."""

    def __init__(self, known: LabelledColumns, others: FloatArray) -> None:
        self._known, self._others = known, others
        self.weights, self._fitted = np.ones(known.X.shape[1]), _Fitted.to(known)
        self._is_fitted = True

    def go_on(self, doubt: float) -> None:
        fitted, kept = self._fit(), self.weights > 0
        others = (self._others * self.weights)[:, kept]
        weights = np.zeros(len(kept))
        weights[kept] = weights_of_importances(fitted.importances(others), doubt)
        self.weights, self._is_fitted = weights, False

    def losses(self, held_out: LabelledColumns) -> FloatArray:
        return self._fit().losses(held_out.weighted(self.weights))

    def _fit(self) -> "_Fitted":
        if not self._is_fitted:
            self._fitted, self._is_fitted = _Fitted.to(self._known.weighted(self.weights)), True
        return self._fitted


def weights_of_importances(importances: FloatArray, doubt: float) -> FloatArray:
    """Return the root of mean importances plus so many standard errors, relative to the largest; (n_rows, n_columns).

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.kernel.relevance import weights_of_importances
    >>> weights_of_importances(np.array([[0.5, 0.0, 0.2], [0.3, 0.0, -0.2]]), 0.0)
    array([1., 0., 0.])
    >>> weights_of_importances(np.array([[0.5, 0.0, 0.2], [0.3, 0.0, -0.2]]), 1.0).round(2)
    array([1.  , 0.  , 0.55])
    """
    error = importances.std(axis=0) / np.sqrt(len(importances))
    worth = np.maximum(importances.mean(axis=0), 0) + doubt * error
    if not worth.any():
        return np.ones(len(worth))
    worth = worth / worth.max()
    # Two digits are more than what is known of weights, and rounding does not show in them.
    return np.round(np.sqrt(np.where(worth < _LEAST, 0.0, worth)), 2)


class _Regression(NamedTuple):
    """Ridge regression of the indicators with one kernel: K of the rows, P = (G + ridge)^(-1) and a = P T."""

    name: str
    bandwidth: float
    ridge: float
    values: FloatArray
    inverse: FloatArray
    coefficients: FloatArray
    means: FloatArray
    left_out: FloatArray

    @classmethod
    def to(cls, name: str, known: LabelledColumns) -> Self:
        T, bandwidth = contrasts(known.n_classes)[known.codes], KERNELS[name].prepare(known.X)[1]
        values = KERNELS[name].against(known.X, bandwidth, single=True)(known.X)
        spectrum = Spectrum.exact(values.copy())
        path = spectrum.ridge_path(T, RIDGES)
        best = int(path.squared_errors().argmin())
        ridge = float(RIDGES[best])
        absolute = spectrum.absolute_ridge(ridge)
        shrunk = spectrum.factor / (spectrum.eigenvalues + absolute)
        inverse = shrunk @ spectrum.factor.T
        return cls(
            name,
            bandwidth,
            absolute,
            values,
            inverse,
            spectrum.coefficients(T, ridge),
            spectrum.means,
            path.left_out[best],
        )

    def predict(self, rows: FloatArray, anchors: FloatArray) -> FloatArray:
        values = KERNELS[self.name].against(anchors, self.bandwidth, single=True)(rows)
        return (values - self.means) @ self.coefficients

    def changes(self, old: FloatArray, new: FloatArray, n_features: int) -> FloatArray:
        """Return changes of left-out predictions where one column changes; of shape (n_columns, n_rows, n_targets).

        Without row i the coefficients are a - P_i a_i/P_ii, and a change of the row sees these. Single precision is
        more than what is known of importances.
        """
        changed = KERNELS[self.name].ratio(old, new, n_features, self.bandwidth)
        changed -= 1
        changed *= self.values.astype(np.float32)
        own = np.einsum("jik,ik->ji", changed, self.inverse.astype(np.float32)) / np.diagonal(self.inverse)
        seen = (changed.reshape(-1, changed.shape[2]) @ self.coefficients.astype(np.float32)).reshape(*own.shape, -1)
        return seen - own[:, :, None] * self.coefficients


class _Fitted(NamedTuple):
    """Regressions with a few kernels, averaged, and a softmax of the indicators that they estimate."""

    known: LabelledColumns
    regressions: list[_Regression]
    fractions: FloatArray
    sharpness: float

    @classmethod
    def to(cls, known: LabelledColumns) -> Self:
        regressions = [_Regression.to(name, known) for name in SEEING]
        fractions = np.bincount(known.codes, minlength=known.n_classes) / len(known.codes)
        left_out = np.mean([each.left_out for each in regressions], axis=0) @ indicators_of(known.n_classes)
        sharpness = best_sharpness(estimated_indicators(left_out, fractions), known.codes, *SHARPNESS)
        return cls(known, regressions, fractions, sharpness)

    def losses(self, held_out: LabelledColumns) -> FloatArray:
        """Return the log loss of each of other rows."""
        found = np.mean([each.predict(held_out.X, self.known.X) for each in self.regressions], axis=0)
        return self._losses(found, held_out.codes)

    def importances(self, others: FloatArray) -> FloatArray:
        """Return by how much left-out losses grow where one column is that of other rows; (n_rows, n_columns)."""
        X, codes = self.known.X, self.known.codes
        n, d = X.shape
        left_out = np.mean([each.left_out for each in self.regressions], axis=0)
        plain, grown = self._losses(left_out, codes), np.zeros((n, d))
        varying, step = np.flatnonzero((others != X).any(axis=0)), max(1, _BLOCK // n**2)
        for start in range(0, len(varying), step):
            columns = varying[start : start + step]
            x, other = (values.T[columns][:, :, None].astype(np.float32) for values in (X, others))
            y = X.T[columns][:, None, :].astype(np.float32)
            changes = np.mean([each.changes(x - y, other - y, d) for each in self.regressions], axis=0)
            for j, change in zip(columns, changes, strict=True):
                grown[:, j] = self._losses(left_out + change, codes) - plain
        return grown

    def _losses(self, z: FloatArray, codes: np.ndarray) -> FloatArray:
        indicators = estimated_indicators(z @ indicators_of(self.known.n_classes), self.fractions)
        log_proba = normalise(self.sharpness * indicators)
        return -np.maximum(log_proba[codes, np.arange(len(codes))], np.log(_LEAST_PROBABILITY))


def _is_real(gain: FloatArray, errors: float = _CHANCE) -> bool:
    return bool(gain.mean() > errors * gain.std() / np.sqrt(len(gain)))


def _folds(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a third for each row, such that all have as much of each class; whatever the classes are called."""
    order = rng.permutation(len(codes))
    fold = np.empty(len(codes), dtype=int)
    by_first = {code: place for place, code in enumerate(dict.fromkeys(codes[order].tolist()))}
    starts = np.array([by_first.get(code, 0) for code in range(codes.max() + 1)])
    fold[order] = (places_in_class(codes[order], np.bincount(codes)) + starts[codes[order]]) % _N_FOLDS
    return fold

"""Ridge regression on kernel features from one eigendecomposition: every ridge, with each row left out exactly."""

from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import eigh, helmert, solve_triangular
from scipy.linalg.lapack import dpotrf

from ..numerics.types import FloatArray

# Directions with less than this fraction of the largest eigenvalue are rounding.
_SMALLEST_EIGENVALUE = 1e-14

# What is added to the landmarks' own kernel matrix, relative to its diagonal, so that it has a Cholesky factor.
_JITTER = 1e-10

# Correlations with targets of variance 1 that are rounding.
_ROUNDING = 1e-9

# Rows whose squares are made at a time.
_BLOCK_ROWS = 512


def contrasts(n_classes: int) -> FloatArray:
    """Orthogonal columns H, of shape (n_classes, n_classes - 1), that indicators less their fractions are told by.

    Indicators E less their class fractions sum to 0 over the classes, so that E = 2 (E H) H'. Of two classes, E H is
    the second column.
    """
    return -helmert(n_classes).T / np.sqrt(2)


def indicators_of(n_classes: int) -> FloatArray:
    """Return the matrix from contrasts to the indicators of all classes, or of the second of two.

    Other names of the classes change the order of the indicators and nothing else, whatever the axes mean to what comes
    behind.
    """
    return 2 * contrasts(n_classes).T if n_classes > 2 else np.ones((1, 1))


class Masses(NamedTuple):
    """Weights of n rows, (n, 1): a row that is left out is so with all of its weight. None: each weighs 1."""

    mass: FloatArray | None
    n: int

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.n) if self.mass is None else float(self.mass.sum())

    @property
    def root(self) -> FloatArray | float:
        """Roots of the weights, which rows are multiplied with: the rest is least squares without weights."""
        return 1.0 if self.mass is None else np.sqrt(self.mass)

    @property
    def share(self) -> FloatArray | float:
        """Parts of the total."""
        return 1 / self.n if self.mass is None else self.mass / self.total

    def mean(self, values: FloatArray) -> FloatArray:
        """Return the weighted mean over the rows, along the first axis."""
        mean: FloatArray = values.mean(axis=0) if self.mass is None else self.mass[:, 0] @ values / self.total
        return mean

    def take(self, rows: np.ndarray) -> "Masses":
        """Those of some of the rows."""
        return Masses(None if self.mass is None else self.mass[rows], len(rows))


class RidgePath(NamedTuple):
    """Ridge regressions of one target with several ridges."""

    #: Prediction for each row by the regression without it, less that regression's intercept; of shape (n_ridges,
    #: n_rows, n_targets).
    left_out: FloatArray
    #: Target minus prediction, with the row left out; of shape (n_ridges, n_rows, n_targets).
    error: FloatArray
    masses: Masses

    def squared_errors(self) -> FloatArray:
        """Mean over the rows of the squared errors of all indicators, from those of their contrasts; per ridge."""
        return 2 * self.masses.mean(np.square(self.error).sum(axis=2).T)


class Spectrum(NamedTuple):
    """Centred kernel features of n rows, F = U diag(w)^(1/2), and how functions of them are written with anchors."""

    #: w, positive; of shape (rank,).
    eigenvalues: FloatArray
    #: The orthonormal U is their product, or the first alone: it is never made where that saves memory; of shape
    #: (n_rows, r).
    factor: FloatArray
    rotation: FloatArray | None
    #: B: the function with values U a in the rows is sum over anchors of (k(x, anchor) - mean) (B a/w); of shape
    #: (n_anchors, rank).
    expansion: FloatArray
    #: Mean kernel value of the rows with each anchor; of shape (n_anchors,).
    means: FloatArray
    masses: Masses

    @classmethod
    def exact(cls, kernel_matrix: FloatArray, mass: FloatArray | None = None) -> Self:
        """Where the anchors are the rows: the kernel matrix is centred in place."""
        masses = Masses(mass, len(kernel_matrix))
        means = center_and_weigh(kernel_matrix, masses)
        # Centring makes the constant vector one of eigenvalue 0, where it would mix with others. As that of by far the
        # largest eigenvalue, the last, it is told from them and dropped.
        top = 2 * np.trace(kernel_matrix) / len(means)
        kernel_matrix += top * (masses.root * np.transpose(masses.root))
        w, U = np.linalg.eigh(kernel_matrix)
        w, U = _positive(w[:-1], U[:, :-1])
        return cls(w, U, None, masses.root * U, means, masses)

    @classmethod
    def thin(cls, rows_by_anchors: FloatArray, anchors_by_anchors: FloatArray, mass: FloatArray | None = None) -> Self:
        """With fewer anchors than rows (Nystroem): C = rows by anchors is centred in place.

        With K = L L' for the anchors, the features are C L'^(-1), and eigenvectors of L^(-1) C'C L'^(-1) make U of it.
        """
        C, K, masses = rows_by_anchors, anchors_by_anchors, Masses(mass, len(rows_by_anchors))
        means = masses.mean(C)
        C -= means
        C *= masses.root
        K = K + _JITTER * np.diagonal(K).mean() * np.eye(len(K))
        L, failed = dpotrf(K, lower=True, clean=True)
        if failed:
            raise ArithmeticError("a kernel matrix is not positive definite; please report the data.")
        half = solve_triangular(L, C.T @ C, lower=True, check_finite=False)
        gram = solve_triangular(L, half.T, lower=True, check_finite=False)
        w, R = _positive(*np.linalg.eigh(0.5 * (gram + gram.T)))
        B = solve_triangular(L, R, lower=True, trans="T", check_finite=False)
        B *= np.sqrt(w)
        return cls(w, C, B / w, B, means, masses)

    def ridge_path(self, T: FloatArray, ridges: FloatArray) -> RidgePath:
        """Regressions of T, of shape (n_rows, n_targets), with ridges times the mean eigenvalue over all rows.

        With h = 1/n + sum_k U_k^2 w_k/(w_k + ridge), the error without row i is that with it, divided by 1 - h_i. Its
        intercept is the mean of the other targets: the prediction less that is what is returned, since it would tell
        the row's own target.
        """
        n, q = T.shape
        masses = self.masses
        centred = T - masses.mean(T)
        heavy = masses.root * centred
        absolute = np.array([self.absolute_ridge(float(ridge)) for ridge in ridges])
        shrink = self.eigenvalues[:, None] / (self.eigenvalues[:, None] + absolute)
        weighted = (shrink[:, :, None] * self._project(heavy)[:, None, :]).reshape(len(shrink), len(ridges) * q)
        rotated = weighted if self.rotation is None else self.rotation @ weighted
        fitted = (self.factor @ rotated).reshape(n, len(ridges), q).transpose(1, 0, 2)
        leverage = np.transpose(masses.share) + self._squares(shrink).T
        error = (heavy - fitted) / (1 - leverage)[:, :, None] / masses.root
        return RidgePath(centred / (1 - masses.share) - error, error, masses)

    def coefficients(self, T: FloatArray, ridge: float) -> FloatArray:
        """Return coefficients (n_anchors, n_targets) of the kernel values of new rows, less ``means``."""
        inverse = 1 / (self.eigenvalues + self.absolute_ridge(ridge))
        masses = self.masses
        return self.expansion @ (inverse[:, None] * self._project(masses.root * (T - masses.mean(T))))

    def absolute_ridge(self, ridge: float) -> float:
        """Return the ridge times the sum of the eigenvalues over the number of rows, which is added to these."""
        return ridge * float(self.eigenvalues.sum()) / self.masses.total

    def _project(self, T: FloatArray) -> FloatArray:
        """U'T."""
        return self.factor.T @ T if self.rotation is None else self.rotation.T @ (self.factor.T @ T)

    def _squares(self, weights: FloatArray) -> FloatArray:
        """Squares of U, row by row, times weights."""
        parts = []
        for start in range(0, len(self.factor), _BLOCK_ROWS):
            block = self.factor[start : start + _BLOCK_ROWS]
            parts.append(np.square(block if self.rotation is None else block @ self.rotation) @ weights)
        return np.concatenate(parts)


def center_and_weigh(kernel_matrix: FloatArray, masses: Masses) -> FloatArray:
    """Return mean kernel values of a matrix that is centred, and multiplied with roots of weights, in place."""
    means = masses.mean(kernel_matrix)
    kernel_matrix -= means
    kernel_matrix -= (means - masses.mean(means))[:, None]
    if masses.mass is not None:
        kernel_matrix *= masses.root
        kernel_matrix *= np.transpose(masses.root)
    return means


def predictive_projector(left_out: FloatArray, T: FloatArray, masses: Masses) -> FloatArray:
    """Projector (n_targets, n_targets) on the directions in which left-out predictions have something to say.

    Leaving a row out takes its own target from the prediction. In a direction in which nothing is predicted, that is
    all that is left, and tells the target by its opposite. Directions v, uncorrelated between the targets, stay where
    the predictions left_out v and the targets T v are positively correlated by more than the standard error.
    """
    n = len(T)
    centred = T - masses.mean(T)
    heavy = centred * masses.share * n
    covariance = heavy.T @ centred / n
    cross = left_out.T @ heavy / n
    _, V = eigh(0.5 * (cross + cross.T), covariance, check_finite=False)
    products = (left_out @ V) * (heavy @ V)
    strength = products.mean(axis=0)
    kept = strength > np.maximum(products.std(axis=0) / np.sqrt(n), _ROUNDING)
    return V[:, kept] @ V[:, kept].T @ covariance if kept.any() else np.zeros_like(covariance)


def _positive(w: FloatArray, U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, in increasing order, that are positive beyond rounding, and their eigenvectors."""
    first = int(np.searchsorted(w, _SMALLEST_EIGENVALUE * max(w.max(initial=0), 0.0), side="right"))
    return w[first:], U[:, first:]

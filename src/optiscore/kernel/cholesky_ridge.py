"""Ridge regression on kernel features, one Cholesky factor per ridge: rows left out, and how they change with it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs, dtrtrs

from ..numerics.blocks import map_threads, n_threads
from ..numerics.types import FloatArray
from .spectral_ridge import Masses, center_and_weigh

# What is added to the landmarks' own kernel matrix, relative to its diagonal, so that it has a Cholesky factor.
_JITTER = 1e-7

# Mean eigenvalues below this are rounding.
_ALIKE = 1e-12

# Numbers in a block of kernel values.
_BLOCK = 1_000_000


class RidgeFit(NamedTuple):
    """Regression of targets with one ridge."""

    #: What kernel values, less their means, are multiplied with; of shape (n_anchors, n_targets).
    coefficients: FloatArray
    #: Prediction for each row by the regression without it, less that regression's intercept; of shape (n_rows,
    #: n_targets).
    left_out: FloatArray
    #: Its derivative by the logarithm of the ridge, where it was asked for.
    change: FloatArray | None


class ExactRidge:
    """Rows that are compared with all rows.

    With G the centred kernel matrix and P the inverse of G + lambda I, orthogonal to constants, a = P T are the
    coefficients and a_i/P_ii the error of row i by the regression without it.
    """

    def __init__(self, kernel_matrix: FloatArray, T: FloatArray, mass: FloatArray | None = None) -> None:
        """Take over a kernel matrix, which is centred in place, and centred targets, of shape (n_rows, n_targets)."""
        self.masses = masses = Masses(mass, len(kernel_matrix))
        self.means = center_and_weigh(kernel_matrix, masses)
        self.G, self._T = kernel_matrix, T
        self.mean_eigenvalue = _positive(float(np.trace(kernel_matrix)) / masses.total)
        # Centring makes constants an eigenvector of eigenvalue 0; a larger one keeps it apart from the others.
        self.constant = 2 * masses.total * self.mean_eigenvalue
        self.G += self.constant / masses.total * (masses.root * np.transpose(masses.root))

    def fit(self, ridge: float, n_rows: int | None = None, *, change: bool = False) -> RidgeFit:
        """Regression with the ridge times the mean eigenvalue; all rows are left out at once."""
        masses, absolute = self.masses, ridge * self.mean_eigenvalue
        # LAPACK's arrays run the other way, which for a symmetric matrix is the same.
        lower = _cholesky(self.G.T.copy(order="F"), absolute)
        a = self._off_constants(dpotrs(lower, masses.root * self._T, lower=True)[0])
        slope_of_a = -self._off_constants(dpotrs(lower, a, lower=True)[0]) if change else None
        P, _ = dpotri(lower, lower=True, overwrite_c=True)
        constant = absolute + self.constant
        q = np.diagonal(P)[:, None] - masses.share / constant
        error, slope = a / q / masses.root, None
        if slope_of_a is not None:
            squares = np.einsum("ij,ij->i", P, P) + np.einsum("ij,ij->j", P, P) - np.diagonal(P) ** 2
            slope_of_q = masses.share / constant**2 - squares[:, None]
            slope = -absolute * (slope_of_a / q - a * slope_of_q / q**2) / masses.root
        return RidgeFit(masses.root * a, self._T / (1 - masses.share) - error, slope)

    def _off_constants(self, a: FloatArray) -> FloatArray:
        root = self.masses.root
        return a - root * (np.sum(root * a, axis=0) / self.masses.total)


class ThinRidge:
    """Rows that are compared with landmarks (Nystroem): features F = C L'^(-1) with L L' the landmarks' kernel matrix.

    With R R' = F'F + lambda I, the leverage of a row is 1/n + |R^(-1) f|^2. L is triangular: the first columns of F are
    the features of the first landmarks, and the first block of F'F and the first rows of R^(-1) f are those of the
    regression on them alone.
    """

    def __init__(
        self,
        compare: Callable[[FloatArray], FloatArray],
        anchors: FloatArray,
        block: Callable[[slice], tuple[FloatArray, FloatArray]],
        masses: Masses,
        left_out: np.ndarray,
    ) -> None:
        """Sum over rows and their centred targets, block by block; rows at some places will be left out."""
        m, n = len(anchors), masses.n
        K = compare(anchors)
        self._L = _cholesky(np.asfortranarray(K), _JITTER * float(np.trace(K)) / m)
        # Columns are rows of samples, as LAPACK wants them.
        features, T = np.empty((m, len(left_out)), order="F"), np.empty((len(left_out), block(slice(0, 1))[1].shape[1]))
        gram, sums, values = np.zeros((m, m), order="F"), np.zeros(m), np.zeros(m)
        products, step, threads = np.zeros((m, T.shape[1])), max(1, _BLOCK // m), n_threads(10 * n * m)
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            rows, targets = block(part)
            C = np.concatenate(map_threads(compare, np.array_split(rows, threads), threads))
            here = masses.take(np.arange(n)[part])
            values += here.total * here.mean(C)
            F = dtrtrs(self._L, C.T, lower=True, overwrite_b=True)[0]
            inside = (part.start <= left_out) & (left_out < part.stop)
            places = left_out[inside] - part.start
            features[:, inside], T[inside] = F[:, places], targets[places]
            sums += here.total * here.mean(F.T)
            if here.mass is not None:
                F *= np.transpose(here.root)
            gram = dsyrk(1.0, F, beta=1.0, c=gram, lower=True, overwrite_c=True)
            products += F @ (here.root * targets)
        gram += np.tril(gram, -1).T
        self._total, self._left_out = masses.total, masses.take(left_out)
        center, self.means = sums / self._total, values / self._total
        self._gram, self._products, self._T = gram - self._total * center * center[:, None], products, T
        self._features = features
        self._features -= center[:, None]
        self.mean_eigenvalue = _positive(float(np.trace(self._gram)) / self._total)

    def fit(
        self, ridge: float, n_rows: int | None = None, n_anchors: int | None = None, *, change: bool = False
    ) -> RidgeFit:
        """Regression with the ridge times the mean eigenvalue; of the first rows that are left out, and landmarks."""
        m, mass = n_anchors, self._left_out.mass
        heavy: Any = 1.0 if mass is None else mass[:n_rows]
        share = heavy / self._total
        gram, features, T = self._gram[:m, :m], self._features[:m, :n_rows], self._T[:n_rows]
        absolute = ridge * _positive(float(np.trace(gram)) / self._total)
        R = _cholesky(gram.copy(order="F"), absolute)
        b = dpotrs(R, self._products[:m], lower=True)[0]
        forward = dtrtrs(R, features, lower=True)[0]
        outside = 1 - share - heavy * np.einsum("ij,ij->j", forward, forward)[:, None]
        residual = T - features.T @ b
        error, slope = residual / outside, None
        if change:
            back = dtrtrs(R, forward, lower=True, trans=1)[0]
            slope_of_outside = absolute * heavy * np.einsum("ij,ij->j", back, back)[:, None]
            slope = -absolute * (features.T @ dpotrs(R, b, lower=True)[0]) / outside
            slope += residual * slope_of_outside / outside**2
        coefficients = dtrtrs(self._L[:m, :m], b, lower=True, trans=1)[0]
        return RidgeFit(coefficients, T / (1 - share) - error, slope)


def inverse_of_centred(
    kernel_matrix: FloatArray, ridge: float, mass: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return mean kernel values, and (G + ridge)^(-1) off constants, of a matrix that is centred in place.

    With weights of the rows, the ridge is divided by these.
    """
    exact = ExactRidge(kernel_matrix, np.zeros((len(kernel_matrix), 1)), mass)
    root, total = exact.masses.root, exact.masses.total
    # A part of the rows of a map that nearly interpolates: rounding must not make the matrix indefinite.
    ridge = _positive(max(ridge, _JITTER * exact.mean_eigenvalue))
    lower = _cholesky(exact.G.T.copy(order="F"), ridge)
    P, _ = dpotri(lower, lower=True, overwrite_c=True)
    P += np.tril(P, -1).T
    P -= 1 / (total * (ridge + exact.constant)) * (root * np.transpose(root))
    P *= root * np.transpose(root)
    return exact.means, np.ascontiguousarray(P)


def _cholesky(matrix: FloatArray, ridge: float) -> FloatArray:
    """Return the lower factor of a matrix, which is overwritten, plus a ridge."""
    matrix.flat[:: len(matrix) + 1] += ridge
    factor, failed = dpotrf(matrix, lower=True, clean=True, overwrite_a=True)
    if failed:
        raise ArithmeticError("a kernel matrix is not positive definite; please report the data.")
    lower: FloatArray = factor
    return lower


def _positive(size: float) -> float:
    """Return a size, or 1 where it is 0 but for rounding: all rows are alike, and any ridge does."""
    return size if size > _ALIKE else 1.0

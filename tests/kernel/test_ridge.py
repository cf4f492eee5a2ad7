"""Kernel ridge regressions: leaving out equals refitting, slopes in the ridge, nested landmarks, three ways alike."""

import numpy as np
import pytest
from kinds import blobs

from optiscore.kernel.cholesky_ridge import ExactRidge, ThinRidge
from optiscore.kernel.kernels import KERNELS
from optiscore.kernel.scalings import SCALINGS
from optiscore.kernel.spectral_ridge import Masses, Spectrum, contrasts

RIDGES = np.array([1e-5, 1e-3, 0.1, 10.0])
X, y = blobs(3, n=50, d=4)
T = contrasts(3)[y]


def refitted(K_rows, K_anchors, i, T, absolute_ridge):
    """Ridge regression without row i, its intercept taken off the prediction: least squares with a penalty a'K a."""
    others = np.delete(np.arange(len(T)), i)
    mean = K_rows[others].mean(axis=0)
    eigenvalues, vectors = np.linalg.eigh(K_anchors)
    penalty = np.sqrt(absolute_ridge * eigenvalues.clip(0))[:, None] * vectors.T
    targets = T[others] - T[others].mean(axis=0)
    stacked = np.vstack([K_rows[others] - mean, penalty]), np.vstack([targets, np.zeros((len(penalty), T.shape[1]))])
    weights = np.linalg.lstsq(*stacked, rcond=1e-14)[0]
    return (K_rows[i] - mean) @ weights


def refitted_exactly(K, i, T, absolute_ridge):
    """The same in the dual, where the anchors are the other rows."""
    others = np.delete(np.arange(len(T)), i)
    n = len(others)
    center = np.eye(n) - 1 / n
    K_others, targets = K[np.ix_(others, others)], T[others] - T[others].mean(axis=0)
    dual = np.linalg.solve(center @ K_others @ center + absolute_ridge * np.eye(n), targets)
    return (K[i, others] - K_others.mean(axis=0)) @ center @ dual


def exact_ridge(kernel, rows, bandwidth):
    return ExactRidge(kernel(rows, rows, bandwidth), T - T.mean(axis=0))


def thin_ridge(kernel, rows, anchors, bandwidth, left_out=None):
    centred = T - T.mean(axis=0)
    places = np.arange(len(rows)) if left_out is None else left_out
    compare = kernel.against(anchors, bandwidth)
    return ThinRidge(compare, anchors, lambda part: (rows[part], centred[part]), Masses(None, len(rows)), places)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("name", KERNELS)
def test_leaving_out_is_refitting(name, scaling):
    """Scaling, bandwidth and absolute ridge are held fixed."""
    kernel, rows = KERNELS[name], SCALINGS[scaling].fit(X)(X)
    bandwidth = kernel.prepare(rows)[1]
    K = kernel(rows, rows, bandwidth)
    spectrum, exact = Spectrum.exact(K.copy()), exact_ridge(kernel, rows, bandwidth)
    path = spectrum.ridge_path(T, RIDGES)
    for r, ridge in enumerate(RIDGES):
        absolute, fit = spectrum.absolute_ridge(ridge), exact.fit(ridge)
        assert ridge * exact.mean_eigenvalue == pytest.approx(absolute, rel=1e-12)
        expected = np.array([refitted_exactly(K, i, T, absolute) for i in range(0, 50, 7)])
        np.testing.assert_allclose(path.left_out[r, ::7], expected, atol=1e-9)
        np.testing.assert_allclose(fit.left_out[::7], expected, atol=1e-8)
        others = np.array([np.delete(T, i, axis=0).mean(axis=0) for i in range(0, 50, 7)])
        np.testing.assert_allclose(path.error[r, ::7], T[::7] - others - expected, atol=1e-9)
        new, known = kernel(rows[:5] + 0.1, rows, bandwidth) - spectrum.means, spectrum.coefficients(T, ridge)
        np.testing.assert_allclose(new @ fit.coefficients, new @ known, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("jitter", [1e-10, 1e-7], ids=["all ridges", "one ridge"])
def test_leaving_out_is_refitting_with_landmarks(name, jitter):
    """The jitter on the landmarks' matrix is part of the map."""
    kernel, rows = KERNELS[name], SCALINGS["standard"].fit(X)(X)
    anchors = rows[:40:2]
    bandwidth = kernel.prepare(anchors)[1]
    C, K = kernel(rows, anchors, bandwidth), kernel(anchors, anchors, bandwidth)
    thin, spectrum = thin_ridge(kernel, rows, anchors, bandwidth), Spectrum.thin(C.copy(), K)
    path = spectrum.ridge_path(T, RIDGES)
    K = K + jitter * np.diagonal(K).mean() * np.eye(len(K))
    for r, ridge in enumerate(RIDGES):
        left_out = path.left_out[r] if jitter == 1e-10 else thin.fit(ridge).left_out
        absolute = spectrum.absolute_ridge(ridge) if jitter == 1e-10 else ridge * thin.mean_eigenvalue
        for i in range(0, 50, 7):
            np.testing.assert_allclose(left_out[i], refitted(C, K, i, T, absolute), atol=1e-6)


@pytest.mark.parametrize("name", ["product-laplacian", "rbf-1", "linear"])
@pytest.mark.parametrize("thin", [False, True])
def test_slopes_in_the_logarithm_of_the_ridge(name, thin):
    kernel, step = KERNELS[name], 1e-5
    bandwidth = kernel.prepare(X)[1]
    ridge = thin_ridge(kernel, X, X[:20], bandwidth) if thin else exact_ridge(kernel, X, bandwidth)
    for at in (0.01, 0.3, 5.0):
        low, high = (ridge.fit(at * np.exp(sign * step)).left_out for sign in (-1, 1))
        change = ridge.fit(at, change=True).change
        np.testing.assert_allclose(change, (high - low) / (2 * step), atol=1e-5 * np.abs(change).max() + 1e-8)
    assert ridge.fit(0.1).change is None


def test_the_first_landmarks_are_a_regression_of_their_own():
    kernel = KERNELS["product-gaussian"]
    order = np.random.default_rng(0).permutation(50)
    many, few = (thin_ridge(kernel, X, X[order[:m]], 1.0, order) for m in (40, 15))
    for ridge in (1e-3, 0.1):
        nested, alone = many.fit(ridge, 30, 15), few.fit(ridge, 30)
        np.testing.assert_allclose(nested.left_out, alone.left_out, atol=1e-9)
        np.testing.assert_allclose(nested.coefficients, alone.coefficients, rtol=1e-5, atol=1e-7)


def test_rows_that_are_left_out_may_be_some_of_all():
    kernel = KERNELS["rbf-1"]
    some = np.array([31, 4, 17])
    whole, part = (thin_ridge(kernel, X, X[:20], 1.0, rows).fit(0.1) for rows in (None, some))
    np.testing.assert_allclose(part.left_out, whole.left_out[some], atol=1e-12)
    np.testing.assert_allclose(part.coefficients, whole.coefficients, rtol=1e-9)


def test_all_rows_as_landmarks_are_all_rows():
    kernel = KERNELS["product-laplacian"]
    thin, exact = thin_ridge(kernel, X, X, 1.0), exact_ridge(kernel, X, 1.0)
    for ridge in (0.01, 1.0):
        np.testing.assert_allclose(thin.fit(ridge).left_out, exact.fit(ridge).left_out, atol=1e-4)


@pytest.mark.parametrize("kind", ["spectral", "thin spectral", "Cholesky", "thin Cholesky"])
def test_weights_are_repetitions_that_are_left_out_together(kind):
    """The oracle repeats rows, and leaves all copies of one out."""
    rng = np.random.default_rng(0)
    rows, weight = rng.normal(size=(30, 2)), rng.integers(1, 4, 30).astype(float)
    targets = (rows[:, :1] + rng.normal(size=(30, 1)) > 0).astype(float)
    kernel, mass, ridge = KERNELS["rbf-1"], weight[:, None], 0.1
    K, masses = kernel(rows, rows, 1.5), Masses(mass, 30)
    centred = targets - np.average(targets, axis=0, weights=weight)
    if kind == "spectral":
        spectrum = Spectrum.exact(K.copy(), mass)
    elif kind == "thin spectral":
        spectrum = Spectrum.thin(K.copy(), K, mass)
    if "spectral" in kind:
        left_out, absolute = spectrum.ridge_path(targets, np.array([ridge])).left_out[0], spectrum.absolute_ridge(ridge)
    else:
        compare = kernel.against(rows, 1.5)
        thin = ThinRidge(compare, rows, lambda part: (rows[part], centred[part]), masses, np.arange(30))
        fitted = thin if "thin" in kind else ExactRidge(K.copy(), centred, mass)
        fit = fitted.fit(ridge, change=True)
        left_out, absolute = fit.left_out, ridge * fitted.mean_eigenvalue
        near = fitted.fit(ridge * 1.0001)
        np.testing.assert_allclose(fit.change, (near.left_out - left_out) / np.log(1.0001), rtol=1e-2, atol=1e-5)
    places = np.repeat(np.arange(30), weight.astype(int))
    for i in (0, 7, 20):
        others = places[places != i]
        n = len(others)
        center = np.eye(n) - 1 / n
        G = center @ K[np.ix_(others, others)] @ center
        dual = np.linalg.solve(G + absolute * np.eye(n), targets[others] - targets[others].mean(axis=0))
        expected = (K[i, others] - K[np.ix_(others, others)].mean(axis=0)) @ center @ dual
        np.testing.assert_allclose(left_out[i], expected, rtol=2e-4 if "thin" in kind else 1e-8)

"""Kernels and scalings: the formulas one by one, positive definiteness, and what is far out or constant."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from scipy.stats import norm, rankdata

from optiscore.kernel.kernels import KERNEL_LISTS, KERNELS
from optiscore.kernel.scalings import SCALINGS, NormalScores, Standardised

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.normal(size=(25, 3))


def obvious(name, x, y, scale):
    """A kernel of two points, straight from its definition."""
    kind, _, detail = name.partition("-")
    if kind == "linear":
        return x @ y
    if kind == "product":
        c, u = len(x) ** -0.5, x - y
        k = np.exp(-np.abs(u)) if detail == "laplacian" else np.exp(-(u**2) / 2)
        return np.prod((1 + c * k) / (1 + c))
    distance = np.linalg.norm(x - y) / scale
    return np.exp(-float(detail) * (distance if kind == "laplacian" else distance**2))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values(name, dtype):
    kernel = KERNELS[name]
    scale = kernel.prepare(X)[1]
    values = kernel(X.astype(dtype), Y.astype(dtype), scale)
    assert values.dtype == dtype
    expected = [[obvious(name, x, y, scale) for y in Y] for x in X]
    np.testing.assert_allclose(values, expected, atol=1e-12 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("name", KERNELS)
def test_positive_definite(name):
    eigenvalues = np.linalg.eigvalsh(KERNELS[name](X, X, KERNELS[name].prepare(X)[1]))
    assert eigenvalues.min() > -1e-12 * eigenvalues.max()


def test_the_unit_is_the_median_distance():
    assert KERNELS["rbf-1"].prepare(X)[1] == pytest.approx(np.median(pdist(X)))
    assert KERNELS["rbf-1"].prepare(np.zeros((5, 2)))[1] == 1
    # Where most pairs coincide, the mean of the others; rounding between copies does not count.
    copies = np.repeat(RNG.normal(size=(2, 3)), [30, 1], axis=0)
    assert KERNELS["rbf-1"].prepare(copies)[1] == pytest.approx(cdist(copies[:1], copies[-1:])[0, 0])


def test_lists_grow():
    short, default, long = (set(KERNEL_LISTS[name]) for name in ("short", "default", "long"))
    assert short < default < long == set(KERNELS)


def test_normal_scores_are_those_of_mid_ranks():
    column = RNG.integers(0, 6, 50).astype(float)
    scores = NormalScores.fit(column[:, None])(column[:, None])[:, 0]
    np.testing.assert_allclose(scores, norm.ppf((rankdata(column) - 0.5) / 50), rtol=1e-12)


def test_normal_scores_of_many_values_keep_some_knots():
    column = RNG.normal(size=(20_000, 1))
    scaling = NormalScores.fit(column)
    assert scaling.values.size <= 2000
    np.testing.assert_allclose(scaling(column)[:, 0], norm.ppf((rankdata(column) - 0.5) / 20_000), atol=1e-2)


def test_single_precision_far_from_zero_is_scaled_in_double():
    from optiscore import KernelDiscriminantMap

    samples = (1e5 + RNG.normal(size=(3000, 2))).astype(np.float32)
    model = KernelDiscriminantMap(["linear"], scalings="standard", max_landmarks=10, random_state=0)
    scaler = model.fit(samples, np.arange(3000) % 2).scaler_
    np.testing.assert_allclose(scaler.scale, samples.astype(np.float64).std(axis=0), rtol=1e-9)


def test_standardised():
    scaled = Standardised.fit(X)(X)
    np.testing.assert_allclose(scaled, (X - X.mean(axis=0)) / X.std(axis=0), rtol=1e-10)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_points_and_constant_features_stay_finite(scaling, dtype):
    samples = np.c_[X, np.full(40, 7.0), np.repeat([1e30, -1e30], 20)].astype(dtype)
    fitted = SCALINGS[scaling].fit(samples)
    far = fitted(np.array([[1e37, -1e37, 0, 1e37, 1e37]], dtype=dtype))
    assert far.dtype == dtype
    assert np.isfinite(far).all()
    assert np.abs(far).max() < 20
    assert not fitted(samples)[:, 3].any()

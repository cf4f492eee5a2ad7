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
@pytest.mark.parametrize("single", [False, True])
def test_values(name, single):
    kernel = KERNELS[name]
    scale = kernel.prepare(X)[1]
    values = kernel.against(Y, scale, single=single)(X)
    expected = [[obvious(name, x, y, scale) for y in Y] for x in X]
    np.testing.assert_allclose(values, expected, rtol=2e-6 if single else 1e-12, atol=1e-12)


COLUMNS = {
    "binary": lambda n: RNG.integers(0, 2, n),
    "constant": lambda n: np.full(n, 0.3),
    "few": lambda n: RNG.integers(-3, 4, n) / 2,
    "twenty": lambda n: RNG.integers(0, 20, n) / 7,
    "continuous": lambda n: RNG.normal(size=n),
    "wide": lambda n: RNG.normal(size=n) * 500,
}


@pytest.mark.parametrize("name", ["product-laplacian", "product-gaussian"])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("kinds", [[kind] for kind in COLUMNS] + [list(COLUMNS)], ids=lambda kinds: " ".join(kinds))
def test_products_are_exact_for_every_kind_of_column_and_beyond_what_was_seen(name, single, kinds):
    anchors = np.column_stack([COLUMNS[kind](60) for kind in kinds * 3])
    rows = np.r_[anchors[:10], anchors[:10] + 0.1, 3 * anchors[:10], 0 * anchors[:1], anchors[:1] - 1000]
    compare = KERNELS[name].against(anchors, 1.0, single=single)
    expected = [[obvious(name, x, y, 1.0) for y in anchors] for x in rows]
    np.testing.assert_allclose(compare(rows), expected, rtol=1e-5 if single else 1e-12)
    alone = np.concatenate([compare(row[None]) for row in rows])
    np.testing.assert_allclose(compare(rows), alone, rtol=1e-13, err_msg="a row's company does not matter")


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

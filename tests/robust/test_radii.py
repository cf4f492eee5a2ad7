"""Radii and the limit distribution behind them: closed forms, Monte Carlo, both forms of the weights, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from optiscore import LimitLaw, clt_radius, empirical_radius
from optiscore.robust.limit_law import _feature_covariance, _gram_matrix


def chi_square_marginals(n, d, rng):
    """The samples of the paper's Figure 1."""
    return (rng.chisquare(1, size=(n, d)) - 1) / np.sqrt(2)


def kolmogorov_distance(draws, law):
    """Largest difference of the two distribution functions over 500 quantiles; above 1.95/sqrt(n) once in 1000."""
    p = np.linspace(0.001, 0.999, 500)
    return np.abs(law.cdf(np.quantile(draws, p)) - p).max()


def weights_of_chi_square_marginals(d):
    """Known exactly: 4 +- sqrt 13, d times each, and 1 for every pair."""
    return np.repeat([4 + np.sqrt(13), 4 - np.sqrt(13), 1.0], [d, d, d * (d - 1) // 2])


def test_clt_radius_of_small_integer_types():
    assert clt_radius(np.int32(10), np.int8(100)) == clt_radius(10, 100)


@given(st.integers(1, 200), st.floats(1, 1e9), st.floats(0.01, 0.99))
def test_clt_radius_is_corollary_2_4(d, n, quantile):
    assert clt_radius(n, d, quantile) == pytest.approx(chi2.ppf(quantile, d * (d + 3) / 2) / n, rel=1e-10)


@pytest.mark.parametrize("n_weights", [1, 2, 3, 10, 230, 2000])
def test_equal_weights_give_a_chi_square(n_weights):
    law = LimitLaw(np.full(n_weights, 0.7))
    p = np.array([1e-6, 0.01, 0.4, 0.5, 0.6, 0.65, 0.68, 0.683, 0.7, 0.99, 1 - 1e-6])
    x = 0.7 * chi2.ppf(p, n_weights)
    np.testing.assert_allclose(law.cdf(x), p, rtol=1e-12)
    np.testing.assert_allclose(law.pdf(x), chi2.pdf(x / 0.7, n_weights) / 0.7, rtol=1e-9)
    np.testing.assert_allclose(law.ppf(p), x, rtol=1e-9)


@pytest.mark.parametrize("weights", [[1.0, 1e-3], [5, 1, 1, 0.1], [100.0] + [1.0] * 50, [3.0]])
def test_law_agrees_with_monte_carlo(weights):
    law = LimitLaw(weights)
    draws = law.sample(100_000, random_state=0)
    assert kolmogorov_distance(draws, law) < 1.95 / np.sqrt(draws.size)
    assert draws.mean() == pytest.approx(law.mean, rel=0.02)
    assert draws.var() == pytest.approx(law.variance, rel=0.05)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30), st.floats(0.001, 0.999))
def test_quantile_inverts_the_cdf(weights, p):
    law = LimitLaw(weights)
    assert float(law.cdf(law.ppf(p))) == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize(("small", "n_small"), [(0.05, 200), (0.01, 1000), (1e-3, 30), (1e-4, 1500), (0.5, 3)])
def test_spiked_law(small, n_small):
    """One weight among many small ones, against quadrature over the chi-square of the large weight."""
    law = LimitLaw([1.0] + [small] * n_small)
    z, step = np.linspace(-12, 12, 200_001, retstep=True)
    for x in law.mean * np.array([0.5, 0.95, 1 - 1e-9, 1.0, 1.01, 1.5, 3.0]):
        rest = chi2.cdf((x - z**2) / small, n_small)
        expected = float((rest * np.exp(-(z**2) / 2)).sum()) * step / np.sqrt(2 * np.pi)
        assert float(law.cdf(x)) == pytest.approx(expected, abs=1e-8)


@given(st.lists(st.floats(-4, 0).map(lambda e: 10.0**e), min_size=1, max_size=200))
def test_cdf_increases_across_the_mean(weights):
    law = LimitLaw(weights)
    x = law.mean * np.linspace(0.8, 1.2, 21)
    assert (np.diff(law.cdf(x)) >= -1e-12).all()


@pytest.mark.parametrize("unit", [1e-200, 1e-5, 1e200])
def test_units_of_the_law(unit):
    plain, scaled = LimitLaw([3.0, 1.0, 0.2]), LimitLaw(unit * np.array([3.0, 1.0, 0.2]))
    assert float(scaled.ppf(0.3)) == pytest.approx(unit * float(plain.ppf(0.3)), rel=1e-10)
    assert float(scaled.cdf(unit * 2.0)) == pytest.approx(float(plain.cdf(2.0)), rel=1e-12)


def test_law_outside_its_support():
    law = LimitLaw([1.0, 2.0])
    assert law.cdf([-1.0, 0.0]).tolist() == [0.0, 0.0]
    assert law.pdf(-1.0) == 0.0
    assert law.cdf([1e6, np.inf]).tolist() == [1.0, 1.0]
    assert np.isnan(law.cdf(np.nan))
    assert np.isnan(law.pdf(np.nan))
    assert 0 <= law.cdf(1e-300) < 1e-40
    assert repr(law) == "LimitLaw(2 weights, mean=3)"
    assert law.cdf(np.ones((2, 3))).shape == (2, 3)


def test_exact_law_of_figure_1():
    law = LimitLaw(weights_of_chi_square_marginals(5))
    assert float(law.ppf(0.5)) == pytest.approx(45.26285, abs=1e-5)
    assert clt_radius(1, 5) == pytest.approx(19.34, abs=0.005)


def test_estimated_law_of_figure_1():
    X = chi_square_marginals(200_000, 5, np.random.default_rng(0))
    exact = LimitLaw(weights_of_chi_square_marginals(5))
    assert empirical_radius(X) * 200_000 == pytest.approx(float(exact.ppf(0.5)), rel=0.05)
    assert LimitLaw.from_samples(X).mean == pytest.approx(exact.mean, rel=0.05)


def test_gaussian_samples_give_the_clt_radius():
    X = np.random.default_rng(1).normal(size=(100_000, 4)) @ np.diag([1e-3, 1.0, 5.0, 1e4])
    for quantile in (0.1, 0.5, 0.95):
        assert empirical_radius(X, quantile) == pytest.approx(clt_radius(100_000, 4, quantile), rel=0.03)


@given(st.integers(1, 4), st.integers(5, 40), st.integers(0, 2**32 - 1))
def test_features_and_gram_matrix_have_the_same_spectrum(d, n, seed):
    rng = np.random.default_rng(seed)
    eta, shares = rng.normal(size=(n, d)), rng.dirichlet(np.ones(n))
    features = np.linalg.eigvalsh(_feature_covariance(eta, shares))[::-1]
    gram = np.linalg.eigvalsh(_gram_matrix(eta, shares))[::-1]
    m = min(features.size, gram.size)
    np.testing.assert_allclose(features[:m], gram[:m], atol=1e-9 * max(1, features[0]))


def test_weights_are_those_of_theorem_2_3():
    """H'H + tr(Z^2)/2 with the joint covariance of H and Z estimated entry by entry, for d = 2."""
    eta = chi_square_marginals(4000, 2, np.random.default_rng(2))
    eta = (eta - eta.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(eta.T, bias=True))).T
    entries = np.column_stack([eta, eta[:, 0] ** 2, eta[:, 0] * eta[:, 1], eta[:, 1] ** 2])
    joint = np.cov(entries.T, bias=True)
    draws = np.random.default_rng(3).multivariate_normal(np.zeros(5), joint, size=200_000)
    h, z = draws[:, :2], draws[:, 2:]
    limit = np.square(h).sum(axis=1) + 0.5 * (z[:, 0] ** 2 + 2 * z[:, 1] ** 2 + z[:, 2] ** 2)
    law = LimitLaw.from_samples(eta)
    assert kolmogorov_distance(limit, law) < 0.005


def test_fewer_samples_than_features():
    """The weights sum to the mean of |eta|^2 + (|eta|^4 - 2 |eta|^2 + d)/2, whichever form they come from."""
    X = np.random.default_rng(4).normal(size=(60, 20))
    deviations = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->i", deviations @ np.linalg.inv(deviations.T @ deviations / 60), deviations)
    law = LimitLaw.from_samples(X)
    assert law.weights.size < 60
    assert law.mean == pytest.approx((squares + (squares**2 - 2 * squares + 20) / 2).mean(), rel=1e-10)


@pytest.mark.parametrize("unit", [1e-200, 1e155, 1e200])
def test_units_of_the_samples_do_not_matter(unit):
    X = chi_square_marginals(100, 3, np.random.default_rng(8))
    assert empirical_radius(X * unit) == pytest.approx(empirical_radius(X), rel=1e-9)


def test_samples_of_weight_zero_do_not_count():
    X, weight = np.random.default_rng(9).normal(size=(100, 3)), np.zeros(100)
    weight[1:60] = 1e307
    law = LimitLaw.from_samples(X, sample_weight=weight)
    np.testing.assert_allclose(law.weights, LimitLaw.from_samples(X[1:60]).weights, rtol=1e-9)


def test_given_moments_allow_fewer_samples_than_dimensions():
    X = np.random.default_rng(5).normal(size=(10, 20))
    with pytest.raises(ValueError, match="not positive definite"):
        empirical_radius(X)
    assert empirical_radius(X, mean=np.zeros(20), covariance=np.eye(20)) > 0


def test_weights_act_as_repetitions():
    rng = np.random.default_rng(6)
    X, weight = chi_square_marginals(200, 3, rng), rng.integers(1, 4, size=200)
    weighted = empirical_radius(X, sample_weight=weight)
    assert weighted == pytest.approx(empirical_radius(np.repeat(X, weight, axis=0)), rel=1e-9)


def test_subsample_stands_for_all():
    X = np.random.default_rng(7).normal(size=(3000, 25))
    assert empirical_radius(X, max_samples=300) == pytest.approx(empirical_radius(X), rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clt_radius(0, 2), "n_samples must be a positive number"),
        (lambda: clt_radius(np.nan, 2), "n_samples must be a positive number"),
        (lambda: clt_radius(10, 0), "n_features must be a positive integer"),
        (lambda: clt_radius(10, 2.5), "n_features must be a positive integer"),
        (lambda: clt_radius(10, 2, quantile=1.0), "quantile must lie strictly between 0 and 1"),
        (lambda: empirical_radius(np.ones((4, 2)), quantile=np.nan), "quantile must lie strictly between 0 and 1"),
        (lambda: empirical_radius(np.ones(4)), "X must be of shape"),
        (lambda: empirical_radius([[np.nan], [1.0]]), "X contains NaN or infinity"),
        (lambda: clt_radius(10, np.inf), "n_features must be a positive integer"),
        (lambda: clt_radius("a", 2), "n_samples must be a positive number"),
        (lambda: clt_radius(10, 2, quantile="a"), "quantile must be a number strictly between 0 and 1"),
        (lambda: empirical_radius(np.full((50, 2), 0.1)), "no spread in feature 0"),
        (lambda: empirical_radius(np.eye(3), sample_weight=[1, -1, 1]), "sample_weight must hold 3 numbers"),
        (lambda: empirical_radius(np.eye(3), mean=[0.0], covariance=np.eye(3)), "as many features as X"),
        (lambda: empirical_radius(np.eye(3), max_samples=1), "max_samples must be an integer"),
        (lambda: empirical_radius([[1, 2], [3]]), "X must be an array of real numbers"),
        (lambda: LimitLaw([1j]), "weights must be an array of real numbers"),
        (lambda: LimitLaw([]), "weights must be finite"),
        (lambda: LimitLaw([-1.0]), "weights must be finite"),
        (lambda: LimitLaw([0.0]), "weights must be finite"),
        (lambda: LimitLaw([1.0]).ppf(0.0), "probability must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

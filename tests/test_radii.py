"""Radii and the limit law behind them: closed forms, Monte Carlo, both forms of the weights, and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from optiscore import LimitLaw, clt_radius, limit_radius
from optiscore.limit_law import _feature_covariance, _gram_matrix


def chi_square_marginals(n, d, rng):
    """The samples of the paper's Figure 1."""
    return (rng.chisquare(1, size=(n, d)) - 1) / np.sqrt(2)


def weights_of_chi_square_marginals(d):
    """Known exactly: 4 +- sqrt 13, d times each, and 1 for every pair."""
    return np.repeat([4 + np.sqrt(13), 4 - np.sqrt(13), 1.0], [d, d, d * (d - 1) // 2])


@given(st.integers(1, 200), st.floats(1, 1e9), st.floats(0.01, 0.99))
def test_clt_radius_is_corollary_2_4(d, n, quantile):
    assert clt_radius(n, d, quantile) == pytest.approx(chi2.ppf(quantile, d * (d + 3) / 2) / n, rel=1e-10)


@pytest.mark.parametrize("n_weights", [1, 2, 3, 10, 230, 2000])
def test_equal_weights_give_a_chi_square(n_weights):
    law = LimitLaw(np.full(n_weights, 0.7))
    p = np.array([1e-6, 0.01, 0.4, 0.5, 0.6, 0.99, 1 - 1e-6])
    x = 0.7 * chi2.ppf(p, n_weights)
    np.testing.assert_allclose(law.cdf(x), p, rtol=1e-10)
    np.testing.assert_allclose(law.pdf(x), chi2.pdf(x / 0.7, n_weights) / 0.7, rtol=1e-9)
    np.testing.assert_allclose(law.quantile(p), x, rtol=1e-9)


@pytest.mark.parametrize("weights", [[1.0, 1e-3], [5, 1, 1, 0.1], [100.0] + [1.0] * 50, [3.0]])
def test_law_agrees_with_monte_carlo(weights):
    law = LimitLaw(weights)
    draws = law.sample(100_000, random_state=0)
    assert kstest(draws, law.cdf).pvalue > 1e-3
    assert draws.mean() == pytest.approx(law.mean, rel=0.02)
    assert draws.var() == pytest.approx(law.variance, rel=0.05)


@given(st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=30), st.floats(0.001, 0.999))
def test_quantile_inverts_the_cdf(weights, p):
    law = LimitLaw(weights)
    assert float(law.cdf(law.quantile(p))) == pytest.approx(p, abs=1e-9)


def test_law_outside_its_support():
    law = LimitLaw([1.0, 2.0])
    assert law.cdf([-1.0, 0.0]).tolist() == [0.0, 0.0]
    assert law.pdf(-1.0) == 0.0
    assert law.cdf(1e6) == 1.0
    assert law.cdf(np.ones((2, 3))).shape == (2, 3)


def test_exact_law_of_figure_1():
    law = LimitLaw(weights_of_chi_square_marginals(5))
    assert float(law.quantile(0.5)) == pytest.approx(45.26, abs=0.03)
    assert clt_radius(1, 5) == pytest.approx(19.34, abs=0.005)


def test_estimated_law_of_figure_1():
    X = chi_square_marginals(200_000, 5, np.random.default_rng(0))
    exact = LimitLaw(weights_of_chi_square_marginals(5))
    assert limit_radius(X) * 200_000 == pytest.approx(float(exact.quantile(0.5)), rel=0.05)
    assert LimitLaw.from_samples(X).mean == pytest.approx(exact.mean, rel=0.05)


def test_gaussian_samples_give_the_clt_radius():
    X = np.random.default_rng(1).normal(size=(100_000, 4)) @ np.diag([1e-3, 1.0, 5.0, 1e4])
    for quantile in (0.1, 0.5, 0.95):
        assert limit_radius(X, quantile) == pytest.approx(clt_radius(100_000, 4, quantile), rel=0.03)


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
    assert kstest(limit, law.cdf).statistic < 0.005


def test_fewer_samples_than_features():
    X = np.random.default_rng(4).normal(size=(60, 20))
    assert 0.5 < limit_radius(X) / clt_radius(60, 20) < 1.5


def test_given_moments_allow_fewer_samples_than_dimensions():
    X = np.random.default_rng(5).normal(size=(10, 20))
    with pytest.raises(ValueError, match="not positive definite"):
        limit_radius(X)
    assert limit_radius(X, mean=np.zeros(20), covariance=np.eye(20)) > 0


def test_weights_act_as_repetitions():
    rng = np.random.default_rng(6)
    X, weight = chi_square_marginals(200, 3, rng), rng.integers(1, 4, size=200)
    weighted = limit_radius(X, sample_weight=weight)
    assert weighted == pytest.approx(limit_radius(np.repeat(X, weight, axis=0)), rel=1e-9)


def test_subsample_stands_for_all():
    X = np.random.default_rng(7).normal(size=(3000, 25))
    assert limit_radius(X, max_samples=300) == pytest.approx(limit_radius(X), rel=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clt_radius(0, 2), "n_samples must be a positive number"),
        (lambda: clt_radius(np.nan, 2), "n_samples must be a positive number"),
        (lambda: clt_radius(10, 0), "n_features must be a positive whole number"),
        (lambda: clt_radius(10, 2.5), "n_features must be a positive whole number"),
        (lambda: clt_radius(10, 2, quantile=1.0), "quantile must lie strictly between 0 and 1"),
        (lambda: limit_radius(np.ones((4, 2)), quantile=np.nan), "quantile must lie strictly between 0 and 1"),
        (lambda: limit_radius(np.ones(4)), "X must be of shape"),
        (lambda: limit_radius([[np.nan], [1.0]]), "X contains NaN or infinity"),
        (lambda: limit_radius(np.ones((4, 2))), "the variance of feature 0 is 0"),
        (lambda: limit_radius(np.eye(3), sample_weight=[1, -1, 1]), "sample_weight must hold 3 finite numbers"),
        (lambda: LimitLaw([]), "weights must be finite"),
        (lambda: LimitLaw([-1.0]), "weights must be finite"),
        (lambda: LimitLaw([0.0]), "weights must be finite"),
        (lambda: LimitLaw([1.0]).quantile(0.0), "probability must lie strictly between 0 and 1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()

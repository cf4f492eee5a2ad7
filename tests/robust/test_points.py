"""log_score and extremal_moments on points: known special cases, invariance, attainment, extremes and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import KINDS
from scipy.stats import multivariate_normal

from optiscore import extremal_moments, log_score, moment_divergence

seeds = st.integers(0, 2**32 - 1)
radii = st.floats(-8, 1.5).map(lambda e: 10.0**e)
dimensions = st.integers(1, 6)
kinds = st.sampled_from(KINDS)


def random_moments(d, rng):
    """A mean and a well-conditioned covariance."""
    root = rng.normal(size=(d, d))
    return rng.normal(size=d), root @ root.T + 0.3 * np.eye(d)


def score_at(x, mu, sigma, name):
    """The score of a point at given moments, straight from its definition."""
    if name == "nonparametric":
        return -np.log1p((x - mu) @ np.linalg.solve(sigma, x - mu))
    return multivariate_normal(mu, sigma, allow_singular=False).logpdf(x)


@given(dimensions, seeds)
def test_radius_zero_is_the_normal_density(d, seed):
    rng = np.random.default_rng(seed)
    m, S = random_moments(d, rng)
    X = rng.normal(scale=3, size=(5, d))
    expected = np.atleast_1d(multivariate_normal(m, S).logpdf(X))
    for name in ("gaussian", "fixed-mean"):
        for side in ("optimistic", "pessimistic"):
            np.testing.assert_allclose(log_score(X, m, S, 0, likelihood=name, side=side), expected, rtol=1e-10)


@given(kinds, dimensions, radii, seeds)
def test_affine_invariance(kind, d, rho, seed):
    """D is affine invariant (paper, Section 2): densities change by log|det A|, probabilities not at all."""
    name, side = kind
    rng = np.random.default_rng(seed)
    m, S = random_moments(d, rng)
    A, b = rng.normal(size=(d, d)) + 2 * np.eye(d), rng.normal(size=d)
    X = rng.normal(scale=2, size=(4, d))
    plain = log_score(X, m, S, rho, likelihood=name, side=side)
    mapped = log_score(X @ A.T + b, A @ m + b, A @ S @ A.T, rho, likelihood=name, side=side)
    volume = 0.0 if name == "nonparametric" else np.linalg.slogdet(A)[1]
    np.testing.assert_allclose(mapped, plain - volume, rtol=1e-7, atol=1e-7)


@given(kinds, dimensions, radii, seeds)
def test_extremal_moments_attain_the_score(kind, d, rho, seed):
    name, side = kind
    rng = np.random.default_rng(seed)
    m, S = random_moments(d, rng)
    x = m + rng.normal(scale=2, size=d) * rng.choice([0.0, 0.1, 1.0])
    mu, sigma = extremal_moments(x, m, S, rho, likelihood=name, side=side)
    value = log_score(x, m, S, rho, likelihood=name, side=side)[0]
    assert score_at(x, mu, sigma, name) == pytest.approx(value, rel=1e-6, abs=1e-7)
    spent = moment_divergence(m, S, mu, sigma)
    assert spent <= rho * (1 + 1e-5) + 1e-12
    alpha = (x - m) @ np.linalg.solve(S, x - m)
    slack = name == "nonparametric" and side == "optimistic" and np.log1p(alpha) <= rho
    slack |= name == "fixed-mean" and side == "optimistic" and d == 1
    if not slack:
        assert spent == pytest.approx(rho, rel=1e-5, abs=1e-12)
    if name == "fixed-mean":
        np.testing.assert_array_equal(mu, m)


def test_slack_set_makes_the_point_itself_the_mean():
    mu, sigma = extremal_moments([0.5, 0.5], [0, 0], np.eye(2), 1.0, likelihood="nonparametric")
    np.testing.assert_array_equal(mu, [0.5, 0.5])
    assert moment_divergence([0, 0], np.eye(2), mu, sigma) < 1.0


def test_radius_zero_gives_the_nominal_moments_back():
    mu, sigma = extremal_moments([1.0, 2.0], [0, 0], np.eye(2), 0)
    np.testing.assert_array_equal(mu, [0, 0])
    np.testing.assert_array_equal(sigma, np.eye(2))


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("d", [1, 2000])
@pytest.mark.parametrize("rho", [1e-12, 1e3])
def test_extreme_dimensions_and_radii(kind, d, rho):
    name, side = kind
    X = np.vstack([np.zeros(d), np.full(d, 1e5), np.full(d, 1e200)])
    values = log_score(X, np.zeros(d), np.eye(d), rho, likelihood=name, side=side)
    assert np.isfinite(values).all()
    assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_ill_conditioned_covariance(kind):
    name, side = kind
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    S = (basis * np.logspace(0, -12, 5)) @ basis.T
    S = (S + S.T) / 2
    X = rng.normal(size=(20, 5))
    assert np.isfinite(log_score(X, np.zeros(5), S, 0.3, likelihood=name, side=side)).all()
    scaled = log_score(X, np.zeros(5), S * 1e-150, 0.3, likelihood=name, side=side)
    assert np.isfinite(scaled).all()


def test_units_do_not_matter():
    """Features on scales from 1e-100 to 1e100 change a log density by their volume only."""
    rng = np.random.default_rng(1)
    m, S = random_moments(3, rng)
    X = rng.normal(size=(10, 3))
    units = np.array([1e-100, 1.0, 1e100])
    plain = log_score(X, m, S, 0.2)
    scaled = log_score(X * units, m * units, S * units * units[:, None], 0.2)
    np.testing.assert_allclose(scaled, plain - np.log(units).sum(), rtol=1e-9, atol=1e-9)


def test_float32_in_float32_out():
    X = np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    single = log_score(X, [0, 0], np.eye(2), 0.1)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, log_score(X.astype(np.float64), [0, 0], np.eye(2), 0.1), rtol=1e-5)


def test_one_point_or_many():
    assert log_score([1.0, 2.0], [0, 0], np.eye(2), 0.1).shape == (1,)
    assert log_score([[1, 2], [3, 4], [5, 6]], [0, 0], np.eye(2), 0.1).shape == (3,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": [[np.nan, 0.0]]}, "X contains NaN or infinity"),
        ({"X": [[np.inf, 0.0]]}, "X contains NaN or infinity"),
        ({"X": [[1.0, 2.0, 3.0]]}, "X must hold points of 2 features"),
        ({"X": [["a", "b"]]}, "X must be an array of real numbers"),
        ({"X": [[10**400, 0]]}, "X must be an array of real numbers"),
        ({"covariance": [[1.0, 0.0], [0.0]]}, "covariance must be an array of real numbers"),
        ({"radius": 10**400}, "radius must be a number"),
        ({"mean": [0.0, np.nan]}, "mean contains NaN or infinity"),
        ({"mean": [[0.0, 0.0]]}, "mean must be a vector"),
        ({"covariance": [[1.0, np.inf], [np.inf, 1.0]]}, "covariance contains NaN or infinity"),
        ({"covariance": [1.0, 1.0]}, "covariance must be of shape"),
        ({"covariance": [[1.0, 0.5], [0.1, 1.0]]}, "covariance is not symmetric"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "covariance is not positive definite"),
        ({"covariance": [[1.0, 0.0], [0.0, 0.0]]}, "the variance of feature 1 is 0"),
        ({"radius": -0.1}, "radius must be a finite number >= 0"),
        ({"radius": np.nan}, "radius must be a finite number >= 0"),
        ({"radius": np.inf}, "radius must be a finite number >= 0"),
        ({"radius": "large"}, "radius must be a number"),
        ({"likelihood": "laplace"}, "likelihood must be one of"),
        ({"side": "neutral"}, "side must be"),
    ],
)
def test_bad_input_is_named(changes, message):
    arguments = {"X": [[1.0, 2.0]], "mean": [0.0, 0.0], "covariance": np.eye(2), "radius": 0.1} | changes
    with pytest.raises(ValueError, match=message):
        log_score(**arguments)
    arguments["x"] = np.asarray(arguments.pop("X"))[0]
    with pytest.raises(ValueError, match=message.replace("X", "x")):
        extremal_moments(**arguments)


def test_moments_of_many_points_are_refused():
    with pytest.raises(ValueError, match="x must be one point"):
        extremal_moments(np.zeros((2, 2)), [0, 0], np.eye(2), 0.1)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("size", [1e-200, 1e-120, 1e-60, 1e40, 1e80])
def test_moments_of_points_near_and_far(kind, size):
    name, side = kind
    x = np.array([size, 0.0])
    mu, sigma = extremal_moments(x, [0, 0], np.eye(2), 0.3, likelihood=name, side=side)
    slack = name == "nonparametric" and side == "optimistic" and size < 0.5
    assert moment_divergence([0, 0], np.eye(2), mu, sigma) == pytest.approx(0.0 if slack else 0.3, abs=1e-6)


def test_points_too_far_for_their_moments_are_refused():
    with pytest.raises(ValueError, match="move it closer"):
        extremal_moments([1e150, 0], [0, 0], np.eye(2), 0.3)


@pytest.mark.parametrize("name", ["gaussian", "nonparametric", "fixed-mean"])
def test_order_of_the_sides_where_scores_saturate(name):
    far = [[1e150], [1e154]]
    worst, nominal, best = (
        log_score(far, [0], [[1]], rho, likelihood=name, side=side)
        for rho, side in ((0.3, "pessimistic"), (0.0, "optimistic"), (0.3, "optimistic"))
    )
    assert (worst <= nominal).all()
    assert (nominal <= best).all()


def test_singular_covariances_are_refused():
    rng = np.random.default_rng(0)
    for _ in range(100):
        root = rng.normal(size=(6, 5))
        with pytest.raises(ValueError, match="not positive definite"):
            log_score(np.zeros(6), np.zeros(6), root @ root.T, 0.1)


def test_float32_covariance_may_be_as_asymmetric_as_its_rounding():
    root = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    S = root @ root.T + np.eye(4, dtype=np.float32)
    S[0, 1] *= 1 + 1e-6
    assert np.isfinite(log_score(np.zeros(4), np.zeros(4), S, 0.1)).all()


def test_unrepresentable_moments_are_refused():
    with pytest.raises(ValueError, match="use a smaller radius"):
        extremal_moments([0.0], [0], [[1]], 1000, likelihood="fixed-mean", side="pessimistic")

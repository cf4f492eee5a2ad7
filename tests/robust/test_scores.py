"""The extreme scores as functions of alpha: derivatives, limits, monotonicity and shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import KINDS, extreme

from optiscore.scores import Likelihood, get_likelihood

radii = st.floats(-12, 3).map(lambda e: 10.0**e)
alphas = st.floats(-12, 12).map(lambda e: 10.0**e) | st.just(0.0) | st.just(1.0)
dimensions = st.sampled_from([1, 2, 3, 10, 100, 2000])
kinds = st.sampled_from(KINDS)


def tolerance(value):
    """Rounding of a value, absolute below 1."""
    return 1e-11 * max(1.0, abs(value))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 20])
def test_derivative_matches_finite_differences(kind, d):
    alpha = np.array([0.2, 0.9, 1.3, 4.0, 30.0, 500.0])
    h = 1e-5 * alpha
    score = extreme(kind, 0.4, d)
    difference = (score.value(alpha + h) - score.value(alpha - h)) / (2 * h)
    np.testing.assert_allclose(score.derivative(alpha), difference, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 20])
def test_dual_variable_is_the_derivative_by_radius(kind, d):
    """Envelope theorem: |dL*/drho| = |dq*/drho| = gamma."""
    alpha, rho, h = np.array([0.2, 0.9, 1.3, 4.0, 30.0]), 0.4, 1e-6
    difference = extreme(kind, rho + h, d).value(alpha) - extreme(kind, rho - h, d).value(alpha)
    np.testing.assert_allclose(
        extreme(kind, rho, d).dual_variable(alpha), np.abs(difference) / (2 * h), rtol=1e-6, atol=1e-8
    )


@given(kinds, dimensions, radii, alphas)
def test_optimistic_above_nominal_above_pessimistic(kind, d, rho, alpha):
    at = np.array([alpha])
    nominal = extreme(kind, 0.0, d).log_score(at)[0]
    difference = extreme(kind, rho, d).log_score(at)[0] - nominal
    assert (difference if kind[1] == "optimistic" else -difference) >= -tolerance(nominal)


@given(kinds, dimensions, radii, radii, alphas)
def test_monotone_in_radius(kind, d, rho_1, rho_2, alpha):
    low, high = sorted([rho_1, rho_2])
    at = np.array([alpha])
    near, far = extreme(kind, low, d).log_score(at)[0], extreme(kind, high, d).log_score(at)[0]
    growth = far - near if kind[1] == "optimistic" else near - far
    assert growth >= -tolerance(near)


@given(kinds, dimensions, radii, alphas, alphas)
def test_decreasing_in_alpha(kind, d, rho, alpha_1, alpha_2):
    at = np.array(sorted([alpha_1, alpha_2]))
    near, far = extreme(kind, rho, d).log_score(at)
    assert near >= far - tolerance(far)


@given(kinds, dimensions, alphas)
def test_continuous_at_radius_zero(kind, d, alpha):
    """At radius 1e-12 a score has moved by the order of sqrt(rho (2 d + 4 alpha + alpha**2)), no more."""
    at = np.array([alpha])
    nominal, near = extreme(kind, 0.0, d).value(at)[0], extreme(kind, 1e-12, d).value(at)[0]
    assert abs(near - nominal) <= 3e-6 * np.sqrt(d + alpha + alpha**2) + tolerance(nominal)


@given(radii.filter(lambda rho: rho < 25), dimensions)
def test_continuous_at_the_kink(rho, d):
    """The optimistic nonparametric score leaves 1 with slope 0 where log(1 + alpha) = rho."""
    score = extreme(("nonparametric", "optimistic"), rho, d)
    kink = np.expm1(rho)
    gamma, value, slope = score.solve(kink * np.array([1 - 1e-7, 1 + 1e-7]))
    assert value[0] == gamma[0] == slope[0] == 0.0
    assert 0 <= value[1] <= 1e-10 * max(1, kink)
    assert 0 <= slope[1] <= 1e-5


@given(kinds, dimensions, radii | st.just(0.0), st.floats(0, 1.7e308))
def test_finite_for_every_alpha(kind, d, rho, alpha):
    score = extreme(kind, rho, d)
    at = np.array([alpha])
    assert np.isfinite(score.log_score(at)).all()
    assert np.isfinite(score.derivative(at)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_radius_has_a_dual_variable_next_to_the_pivot(kind):
    """There the dual variable is at the end of its range, and rounding may move it beyond."""
    steps = np.array([-1e-8, -1e-12, -1e-16, 0.0, 1e-16, 2e-16, 1e-15, 1e-12, 1e-8])
    for rho in 10 ** np.random.default_rng(0).uniform(-6, 1.5, size=1_000):
        score = extreme(kind, rho, 2)
        assert np.isfinite(score.value((score.pivot * (1 + steps)) ** 2)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_one_radius_per_alpha(kind):
    alpha, radius = np.array([0.0, 2.0, 5.0, 5.0]), np.array([0.1, 0.0, 3.0, 0.2])
    together = extreme(kind, radius, 3).solve(alpha)
    for i in range(alpha.size):
        alone = extreme(kind, radius[i], 3).solve(alpha[i : i + 1])
        for a, b in zip(together, alone, strict=True):
            np.testing.assert_array_equal(a[i : i + 1], b)


@pytest.mark.parametrize("kind", KINDS)
def test_keeps_the_shape(kind):
    score = extreme(kind, 0.3, 3)
    alpha = np.arange(12.0).reshape(3, 4)
    assert score.value(alpha).shape == (3, 4)
    assert score.value(np.empty(0)).shape == (0,)
    assert score.value(np.float64(2.0)).shape == ()
    np.testing.assert_array_equal(score.value(alpha)[1], score.value(alpha[1]))


def test_objects_check_their_parameters():
    for radius in (-1.0, np.nan, np.inf, np.array([0.1, -0.1])):
        with pytest.raises(ValueError, match="radius must be finite and >= 0"):
            extreme(("gaussian", "optimistic"), radius, 2)
    for n_features in (0, -3, 2.5):
        with pytest.raises(ValueError, match="n_features must be a positive integer"):
            extreme(("gaussian", "optimistic"), 0.1, n_features)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_errors_below_zero_count_as_zero(kind):
    for radius in (0.0, 0.3):
        score = extreme(kind, radius, 2)
        assert score.value(np.array([-1e-17])) == score.value(np.array([0.0]))
        assert score.tabulate("value")(np.array([-1e-17])) == score.tabulate("value")(np.array([0.0]))


@given(kinds, st.sampled_from([1e-200, 1e-100, 1e8, 1e150]), alphas)
def test_absurd_radii_give_finite_scores(kind, rho, alpha):
    assert np.isfinite(extreme(kind, rho, 3).log_score(np.array([alpha]))).all()


def test_registry():
    gaussian = get_likelihood("gaussian")
    assert get_likelihood(gaussian) is gaussian
    assert isinstance(gaussian, Likelihood)
    with pytest.raises(ValueError, match="likelihood must be one of"):
        get_likelihood("laplace")
    with pytest.raises(ValueError, match="side must be"):
        gaussian.at("neutral", 0.1, 2)

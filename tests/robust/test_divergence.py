"""The divergence of moments: definition, invariance, precision near 0 and bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from optiscore import moment_divergence


def random_moments(d, rng):
    root = rng.normal(size=(d, d))
    return rng.normal(size=d), root @ root.T + 0.2 * np.eye(d)


def definition(m_1, S_1, m_2, S_2):
    """Definition 2.1, word for word."""
    ratio = S_1 @ np.linalg.inv(S_2)
    w = m_2 - m_1
    return w @ np.linalg.solve(S_2, w) + np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(w)


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_definition_and_affine_invariance(d, seed):
    rng = np.random.default_rng(seed)
    (m_1, S_1), (m_2, S_2) = random_moments(d, rng), random_moments(d, rng)
    value = moment_divergence(m_1, S_1, m_2, S_2)
    assert value == pytest.approx(definition(m_1, S_1, m_2, S_2), rel=1e-8, abs=1e-9)
    A, b = rng.normal(size=(d, d)) + 2 * np.eye(d), rng.normal(size=d)
    mapped = moment_divergence(A @ m_1 + b, A @ S_1 @ A.T, A @ m_2 + b, A @ S_2 @ A.T)
    assert mapped == pytest.approx(value, rel=1e-6, abs=1e-8)


def test_zero_at_equal_moments_and_not_symmetric():
    m, S = random_moments(4, np.random.default_rng(0))
    assert moment_divergence(m, S, m, S) == 0.0
    assert moment_divergence(m, S, m, 2 * S) != pytest.approx(moment_divergence(m, 2 * S, m, S))


@pytest.mark.parametrize("t", [1e-3, 1e-6, 1e-8])
def test_no_cancellation_near_equal_moments(t):
    """D covariances scaled by 1 + t cost d (t - log(1 + t)), of the order of t**2."""
    S = np.diag([1.0, 2.0, 3.0])
    with mp.workdps(50):
        step = mpf(float(1 + t)) - 1
        expected = float(3 * (step - mp.log(1 + step)))
    assert moment_divergence(np.zeros(3), S * (1 + t), np.zeros(3), S) == pytest.approx(expected, rel=1e-7)


def test_far_covariances():
    assert moment_divergence([0], [[1e-12]], [0], [[1.0]]) == pytest.approx(1e-12 + 12 * np.log(10) - 1, rel=1e-12)
    assert moment_divergence([0], [[1e12]], [0], [[1.0]]) == pytest.approx(1e12, rel=1e-10)


def test_beyond_the_range_of_numbers():
    for far in ([1e200], [1e308]):
        with pytest.raises(ValueError, match="the divergence exceeds the range"):
            moment_divergence([-1e308], [[1e-200]], far, [[1e-200]])
    with pytest.raises(ValueError, match="the divergence exceeds the range"):
        moment_divergence([0], [[1e300]], [0], [[1e-300]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [[1]], [0, 0], np.eye(2)), "as many features"),
        (([0, 0], [[1]], [0, 0], np.eye(2)), "cov_1 must be of shape"),
        (([0, 0], np.eye(2), [0, 0], [[1, 0.5], [0.2, 1]]), "cov_2 is not symmetric"),
        (([0, 0], np.eye(2), [0, 0], [[1, 1], [1, 1]]), "cov_2 is not positive definite"),
        (([0, 0], -np.eye(2), [0, 0], np.eye(2)), "cov_1 is not positive definite"),
        (([0, np.nan], np.eye(2), [0, 0], np.eye(2)), "mean_1 contains NaN"),
        (([0, 0], np.eye(2), [[0, 0]], np.eye(2)), "mean_2 must be a vector"),
        (([0, 0], np.eye(2), [0j, 0], np.eye(2)), "mean_2 must be an array of real numbers"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        moment_divergence(*arguments)

"""Tabulated scores against the exact solve, over the whole range and at their delicate places."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import KINDS, extreme

from optiscore.robust.scores.table import ALPHA_MAX

CASES = [(d, rho) for d in (1, 2, 30, 1000) for rho in (0.0, 1e-12, 1e-4, 0.3, 5.0, 1e3)]


def delicate_alphas(score, rng):
    """All magnitudes, both sides of the place where the score bends most, and the ends."""
    near = 10 ** rng.uniform(-12, 2, 400)
    below = np.abs(score.pivot - near[near < score.pivot])
    return np.concatenate(
        [
            [0.0, 1.0, ALPHA_MAX],
            10 ** rng.uniform(-15, 12, 1500),
            np.minimum((score.pivot + near) ** 2, ALPHA_MAX),
            below**2,
            score.n_features * rng.uniform(0.2, 3, 300),
        ]
    )


def error_of(table, exact, alpha):
    """Relative error, absolute below 1."""
    return (np.abs(table(alpha) - exact) / np.maximum(1, np.abs(exact))).max()


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("quantity", ["value", "log_score"])
def test_table_meets_the_exact_solve(kind, quantity):
    rng = np.random.default_rng(0)
    for d, rho in CASES:
        score = extreme(kind, rho, d)
        alpha = delicate_alphas(score, rng)
        assert error_of(score.tabulate(quantity), getattr(score, quantity)(alpha), alpha) < 2e-11, (d, rho)


@settings(max_examples=60)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 2000),
    st.floats(-12, 3).map(lambda e: 10.0**e),
    st.integers(0, 2**32 - 1),
)
def test_table_meets_the_exact_solve_anywhere(kind, d, rho, seed):
    score = extreme(kind, rho, d)
    alpha = delicate_alphas(score, np.random.default_rng(seed))
    assert error_of(score.tabulate("value"), score.value(alpha), alpha) < 2e-11


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_single_precision_table(kind):
    rng = np.random.default_rng(1)
    for d, rho in [(1, 0.3), (2, 1e-6), (30, 5.0), (2, 0.0), (2000, 5.7)]:
        score = extreme(kind, rho, d)
        alpha = delicate_alphas(score, rng).astype(np.float32)
        table = score.tabulate("value", np.float32)
        assert table(alpha).dtype == np.float32
        assert error_of(table, score.value(alpha.astype(np.float64)), alpha) < 1e-5, (d, rho)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_beyond_the_table_the_exact_solve_answers(kind):
    score = extreme(kind, 0.3, 4)
    alpha = np.array([1.0, 2e12, 1e100, np.inf])
    np.testing.assert_allclose(score.tabulate("value")(alpha), score.value(alpha), rtol=1e-10)
    assert np.isfinite(score.tabulate("value", np.float32)(np.array([3e38], dtype=np.float32))).all()


def test_flat_part_is_exactly_flat():
    score = extreme(("nonparametric", "optimistic"), 0.8, 3)
    alpha = np.linspace(0, np.expm1(0.8) * (1 - 1e-9), 1001)
    assert (score.tabulate("value")(alpha) == 0).all()


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("rho", [0.0, 0.4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_curves_are_alike_and_can_be_pickled(kind, rho, dtype):
    table = extreme(kind, rho, 1).tabulate("value", dtype)
    assert table([0.0, 2.0]).dtype == dtype
    copy = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(copy([0.5, 3.0]), table([0.5, 3.0]))


def test_what_cannot_be_tabulated_is_named():
    score = extreme(("gaussian", "optimistic"), 0.8, 3)
    with pytest.raises(ValueError, match="quantity must be"):
        score.tabulate("values")
    with pytest.raises(ValueError, match="dtype must be float32 or float64"):
        score.tabulate(dtype=np.float16)
    with pytest.raises(ValueError, match="one radius"):
        extreme(("gaussian", "optimistic"), np.array([0.1, 0.2]), 3).tabulate()


def test_keeps_the_shape_and_is_built_once():
    score = extreme(("gaussian", "optimistic"), 0.8, 3)
    table = score.tabulate()
    assert table(np.ones((2, 3))).shape == (2, 3)
    assert table(np.empty(0)).shape == (0,)
    assert extreme(("gaussian", "optimistic"), 0.8, 3).tabulate() is table

"""Tabulated scores against the exact solve, over the whole range and at their delicate places."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import KINDS, extreme

from optiscore.scores.table import ALPHA_MAX

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
        assert error_of(score.tabulate(quantity), getattr(score, quantity)(alpha), alpha) < 1e-10, (d, rho)


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
    assert error_of(score.tabulate("value"), score.value(alpha), alpha) < 1e-10


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_single_precision_table(kind):
    rng = np.random.default_rng(1)
    for d, rho in [(1, 0.3), (2, 1e-6), (30, 5.0)]:
        score = extreme(kind, rho, d)
        alpha = delicate_alphas(score, rng).astype(np.float32)
        table = score.tabulate("value", np.float32)
        assert table(alpha).dtype == np.float32
        assert error_of(table, score.value(alpha.astype(np.float64)), alpha) < 3e-6, (d, rho)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_beyond_the_table_the_exact_solve_answers(kind):
    score = extreme(kind, 0.3, 4)
    alpha = np.array([1.0, 2e12, 1e100])
    np.testing.assert_allclose(score.tabulate("value")(alpha), score.value(alpha), rtol=1e-10)


def test_flat_part_is_exactly_flat():
    score = extreme(("nonparametric", "optimistic"), 0.8, 3)
    alpha = np.linspace(0, np.expm1(0.8) * (1 - 1e-9), 1001)
    assert (score.tabulate("value")(alpha) == 0).all()


def test_keeps_the_shape_and_is_built_once():
    score = extreme(("gaussian", "optimistic"), 0.8, 3)
    table = score.tabulate()
    assert table(np.ones((2, 3))).shape == (2, 3)
    assert table(np.empty(0)).shape == (0,)
    assert extreme(("gaussian", "optimistic"), 0.8, 3).tabulate() is table

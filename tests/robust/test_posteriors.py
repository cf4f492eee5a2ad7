"""Posteriors and decisions from log scores: by exponentials, or by logarithms where those underflow."""

import numpy as np
import pytest

from optiscore.robust.log_scores import LogScores
from optiscore.robust.posteriors import _bounds_by_logarithms, posterior_bounds
from optiscore.robust.rules import MinimaxRule, OffsetRule


def make_scores(n_classes, n, spread, width, dtype):
    rng = np.random.default_rng(0)
    high = rng.normal(scale=spread, size=(n_classes, n))
    return (high - rng.exponential(width, size=high.shape)).astype(dtype), high.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(("spread", "width"), [(1, 0.1), (1, 3), (30, 30), (1e3, 10), (10, 1e3), (1e4, 1e4)])
def test_bounds_are_those_of_logarithms(n_classes, spread, width, dtype):
    low, high = make_scores(n_classes, 500, spread, width, dtype)
    for found, expected in zip(posterior_bounds(low, high), _bounds_by_logarithms(low, high), strict=True):
        rtol, atol = (1e-9, 1e-200) if dtype == np.float64 else (1e-2, 1e-24)
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
        assert found.dtype == dtype
        assert ((found >= 0) & (found <= 1)).all()


@pytest.mark.parametrize("n_classes", [3, 10, 130])
@pytest.mark.parametrize(("spread", "width"), [(1, 0.1), (1, 3), (30, 30), (10, 1e3)])
def test_minimax_decisions_are_those_of_its_columns(n_classes, spread, width):
    """The class whose worst odds are best, although most samples are decided without computing odds."""
    low, high = make_scores(n_classes, 2_000, spread, width, np.float64)
    rule = MinimaxRule(np.random.default_rng(1).normal(size=n_classes))
    scores = LogScores(high, low, high)
    np.testing.assert_array_equal(rule.choose(scores), rule.columns(scores).argmax(axis=0))


@pytest.mark.parametrize("n", [1, 5, 3_000])
def test_the_first_of_equal_columns_is_chosen(n):
    high = np.repeat(np.array([[0.0], [1.0], [1.0], [-1.0]]), n, axis=1)
    assert (OffsetRule(np.zeros(4)).choose(LogScores(high, high, high)) == 1).all()

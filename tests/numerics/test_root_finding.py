"""The root finder on functions that trip up a plain Newton method."""

import numpy as np
import pytest

from optiscore.numerics.root_finding import find_root

PROBLEMS = {
    "steep": (lambda z: np.expm1(z), lambda z: np.exp(z), -700.0, 700.0, 0.0),
    "flat": (lambda z: np.arctan(1e3 * (z - 2)), lambda z: 1e3 / (1 + (1e3 * (z - 2)) ** 2), -1e3, 1e4, 2.0),
    "zero slope at the root": (lambda z: (z - 1) ** 3, lambda z: 3 * (z - 1) ** 2, -50.0, 70.0, 1.0),
    "step": (lambda z: np.sign(z - 0.3), lambda z: np.zeros_like(z), -5.0, 5.0, 0.3),
    "wrong slope": (lambda z: z - 0.7, lambda z: np.full_like(z, 1e-3), -9.0, 9.0, 0.7),
    "linear": (lambda z: 2 * z - 3, lambda z: np.full_like(z, 2.0), 0.0, 4.0, 1.5),
    "root at the end": (lambda z: z, lambda z: np.ones_like(z), 0.0, 8.0, 0.0),
    "root beyond the end, by rounding": (lambda z: np.expm1(z) + 2e-16, lambda z: np.exp(z), 0.0, 0.3, 0.0),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_converges_and_says_so(name):
    function, slope, lower, upper, root = PROBLEMS[name]
    n = 7
    result = find_root(lambda z: (function(z), slope(z)), np.full(n, lower), np.full(n, upper))
    assert result.converged.all()
    accuracy = 1e-4 if "zero slope" in name else 1e-12
    np.testing.assert_allclose(result.root, root, atol=accuracy)


def test_many_problems_at_once():
    c = np.logspace(-8, 8, 10_001)
    result = find_root(lambda z, c: (z**3 - c, 3 * z**2), np.zeros_like(c), 1 + c, (c,))
    assert result.converged.all()
    np.testing.assert_allclose(result.root, np.cbrt(c), rtol=1e-12, atol=1e-12)


def test_admits_that_it_ran_out_of_iterations():
    result = find_root(
        lambda z: (np.sign(z - 0.3), np.zeros_like(z)), np.full(3, -5.0), np.full(3, 5.0), max_iterations=4
    )
    assert not result.converged.any()
    assert result.n_iterations == 4


def test_nothing_to_do():
    result = find_root(lambda z: (z, z), np.empty(0), np.empty(0))
    assert result.root.size == 0
    assert result.n_iterations == 0

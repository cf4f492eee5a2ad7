"""Candidates of a search: which of them wins, and which are refused."""

import numpy as np
import pytest

from optiscore.robust.candidates import Candidates, choose_candidate, radius_grid
from optiscore.scores import LIKELIHOODS


def candidates(n=5):
    return Candidates([LIKELIHOODS["gaussian"]], [0.0, 0.5], radius_grid(np.arange(n), None, np.ones(2), True))


def test_ties_go_to_the_best_neighbourhood():
    surface = np.zeros((2, 5, 5))
    surface[0, 0, 0] = surface[1, 2, 2] = 1
    surface[1, 2, 3] = 0.5
    assert choose_candidate(surface.ravel(), candidates()) == 25 + 2 * 5 + 2
    surface[0, 4, 4] = 1 + 1e-15
    assert choose_candidate(surface.ravel(), candidates()) == 25 + 2 * 5 + 2
    surface[0, 4, 4] = 1.1
    assert choose_candidate(surface.ravel(), candidates()) == 24


def test_further_ties_go_to_the_larger_radius():
    assert choose_candidate(np.ones(50), candidates()) == 24
    surface = np.full((2, 5, 5), np.nan)
    surface[0, 1, 1] = surface[0, 1, 3] = 0.7
    assert choose_candidate(surface.ravel(), candidates()) == 1 * 5 + 3
    surface[0, 1, 3] = -np.inf
    assert choose_candidate(surface.ravel(), candidates()) == 1 * 5 + 1
    assert choose_candidate(np.full(50, np.inf), candidates()) == 24
    assert choose_candidate(np.where(np.arange(50) == 7, 1e-14, 0), candidates()) == 7
    with pytest.raises(ValueError, match="NaN for every candidate"):
        choose_candidate(np.full(50, np.nan), candidates())


def test_factors_that_exceed_the_largest_radius_are_refused():
    with pytest.raises(ValueError, match="times the clt radii must be at most"):
        radius_grid(None, [1e15], np.array([2.0, 2.0]), per_class=False)

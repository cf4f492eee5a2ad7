"""Curves of all classes: tables that are built where they are asked for, and the same bits whenever that is."""

import threading

import numpy as np
import pytest
from kinds import KINDS, blobs

from optiscore import LIKELIHOODS, OptimisticScoreClassifier
from optiscore.robust.log_scores import ClassCurves, _tables
from optiscore.robust.scores.table import ALPHA_MAX


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("likelihood", "side"), KINDS)
def test_tables_agree_with_the_search(likelihood, side, dtype):
    radii, volumes = (0.3, 0.0, 0.3, 1.7), np.array([0.0, 1.0, -2.0, 3.0])
    extremes = [LIKELIHOODS[likelihood].at(side, radius, 4) for radius in radii]
    for chosen in ([0, 2, 3], [0, 1, 2, 3]):
        some = [extremes[i] for i in chosen]
        curves = ClassCurves(some, volumes[chosen], dtype)
        alpha = np.random.default_rng(0).exponential(5, size=(len(chosen), 300)).astype(dtype)
        alpha[:, :4] = [0.0, 1.0, 1e11, 100 * ALPHA_MAX]
        exact = np.stack(
            [each.log_score(row) + dtype(v) for each, row, v in zip(some, alpha, volumes[chosen], strict=True)]
        )
        tolerance = 1e-10 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(curves(alpha), exact, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("likelihood", "side"), KINDS)
def test_what_is_asked_first_changes_no_bit(likelihood, side):
    extremes = tuple(LIKELIHOODS[likelihood].at(side, radius, 3) for radius in (0.2, 1.3))
    alpha = 10 ** np.random.default_rng(0).uniform(-6, 9, size=(2, 400))
    _tables.cache_clear()
    whole = ClassCurves(extremes, np.zeros(2), np.float64)(alpha)
    _tables.cache_clear()
    piecewise = ClassCurves(extremes, np.zeros(2), np.float64)
    found = np.concatenate(
        [piecewise(np.ascontiguousarray(alpha[:, i : i + 1])) for i in range(399, -1, -1)][::-1], axis=1
    )
    np.testing.assert_array_equal(found, whole)


def test_threads_that_build_one_table():
    _tables.cache_clear()
    extremes = tuple(LIKELIHOODS["gaussian"].at("optimistic", radius, 3) for radius in (0.21, 1.31))
    curves, alpha = ClassCurves(extremes, np.zeros(2), np.float64), 10 ** np.linspace(-3, 9, 2000)
    found = {}

    def ask(i):
        found[i] = np.stack([curves(np.full((2, 1), a))[:, 0] for a in np.roll(alpha, 250 * i)], axis=1)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, values in found.items():
        np.testing.assert_array_equal(np.roll(values, -250 * i, axis=1), curves(np.stack([alpha, alpha])))


def test_a_model_says_the_same_however_often_it_is_asked():
    X, y = blobs(3)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    first = model.predict_proba_bounds(X)
    for _ in range(120):
        model.predict(X[:1])
    for before, after in zip(first, model.predict_proba_bounds(X), strict=True):
        np.testing.assert_array_equal(before, after)

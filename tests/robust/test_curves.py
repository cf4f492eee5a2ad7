"""Curves of all classes: solved for at first, looked up once that pays, and the same numbers either way."""

import numpy as np
import pytest
from kinds import KINDS, blobs

from optiscore import LIKELIHOODS, OptimisticScoreClassifier
from optiscore.robust.curves import ClassCurves
from optiscore.robust.scores.table import ALPHA_MAX


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("likelihood", "side"), KINDS)
def test_tables_agree_with_the_search(likelihood, side, dtype):
    radii, volumes = (0.3, 0.0, 0.3, 1.7), np.array([0.0, 1.0, -2.0, 3.0])
    extremes = [LIKELIHOODS[likelihood].at(side, radius, 4) for radius in radii]
    for chosen in ([0, 2, 3], [0, 1, 2, 3]):
        some = [extremes[i] for i in chosen]
        searched, tabulated = (ClassCurves(some, volumes[chosen], dtype) for _ in range(2))
        tabulated.expect(20_000)
        alpha = np.random.default_rng(0).exponential(5, size=(len(chosen), 300)).astype(dtype)
        alpha[:, :3] = [0.0, 1.0, 1e11]
        tolerance = 1e-10 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(tabulated(alpha), searched(alpha), rtol=tolerance, atol=tolerance)
        # One look-up for all classes or one for each, whatever the number of samples.
        wide = np.tile(alpha, (1, 60))
        np.testing.assert_allclose(
            tabulated(wide)[:, :300], tabulated(alpha), rtol=1e-12 if dtype == np.float64 else 1e-6
        )
        # Beyond the table the score is solved for.
        far = np.full((len(chosen), 2), 100 * ALPHA_MAX, dtype=dtype)
        np.testing.assert_allclose(tabulated(far), searched(far), rtol=tolerance)


def test_a_model_that_is_asked_often_makes_tables():
    X, y = blobs(2)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    before = model.predict_proba_bounds(X)
    curves = model._model.scores._known["pessimistic", np.float64]
    assert curves._curves is None
    for _ in range(50):
        model.predict(X[:1])
    assert curves._curves is not None
    np.testing.assert_allclose(model.predict_proba_bounds(X), before, atol=1e-10)

"""Drift of moments: rows of the same distribution are inside, moved ones outside, and few say nothing."""

import numpy as np
from kinds import blobs

from optiscore import OptimisticScoreClassifier
from optiscore.drift import measure_drift, training_groups


def test_rows_of_the_same_distribution_and_others():
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(*blobs(2, n=300))
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=4000)
    X = np.stack([rng.multivariate_normal(model.means_[c], model.covariances_[c]) for c in codes])
    training = training_groups(model, X[:2000])
    groups = measure_drift(model, training, 2000, X[2000:])
    assert groups[-1].rows == 2000
    assert not any("guarantee does not cover" in group.verdict for group in groups)
    moved = measure_drift(model, training, 2000, X + 5 * np.sqrt(np.diagonal(model.covariances_[0])))
    assert "outside the ball" in moved[-1].verdict
    assert measure_drift(model, training, 2000, X[:3])[-1].verdict == "too few rows to tell"

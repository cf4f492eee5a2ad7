"""Many classes: rivals that cannot matter are not asked; slopes of moderated probabilities."""

import numpy as np
import pytest
from kinds import blobs

from optiscore import KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis
from optiscore.moderated import certainty


@pytest.mark.parametrize("make", [KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_interval_of_the_predicted_class_is_one_of_all(make, n_classes):
    X, y = blobs(n_classes, n=160)
    model = make().fit(X[:100], y[:100])
    lower, upper = model.predict_proba_interval(X, 0.8)
    places = np.arange(len(X)), model.predict_proba(X).argmax(axis=1)
    low, high = model.predict_proba_interval(X, 0.8, classes="predicted")
    np.testing.assert_allclose(low, lower[places], atol=1e-12)
    np.testing.assert_allclose(high, upper[places], atol=1e-12)
    with pytest.raises(ValueError, match="classes must be 'all' or 'predicted', got 'best'"):
        model.predict_proba_interval(X, classes="best")


@pytest.mark.parametrize("covariance", ["own", "shared"])
def test_rivals_that_are_not_asked_do_not_matter(covariance, monkeypatch):
    X, y = blobs(30, n=900, d=5)
    model = ModeratedDiscriminantAnalysis(covariance).fit(X[:600], y[:600])
    found = model.stability(X[600:]), *model.predict_proba_interval(X[600:])
    monkeypatch.setattr(certainty, "_RIVALS", 30)
    asked = model.stability(X[600:]), *model.predict_proba_interval(X[600:])
    np.testing.assert_allclose(found[0], asked[0], atol=1e-12)
    np.testing.assert_allclose(found[1], asked[1], atol=0.02)
    np.testing.assert_allclose(found[2], asked[2], atol=0.02)


@pytest.mark.parametrize("covariance", ["own", "shared"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_gradients_are_finite_differences(covariance, n_classes):
    X, y = blobs(n_classes, n=90, d=3)
    (model,) = ModeratedDiscriminantAnalysis(covariance, feature_map=None).fit(X, y)._model.gaussians.models
    Q, asked = X[:20], np.array([np.arange(20) % n_classes, (np.arange(20) + 1) % n_classes])

    def log_proba(Z):
        alpha = model.distances(Z)
        return model.moderated_log_proba(alpha, model.log_joint(alpha))[asked, np.arange(20)]

    found, step = model.moderated_gradients(Q, model.distances(Q), asked), 1e-5
    for j in range(3):
        shift = step * (np.arange(3) == j)
        expected = (log_proba(Q + shift) - log_proba(Q - shift)) / (2 * step)
        np.testing.assert_allclose(found[:, :, j], expected, rtol=1e-5, atol=1e-7)


def test_behind_a_kernel_map_very_many_classes_share_a_covariance():
    X, y = blobs(110, n=330, d=3)
    model = KernelDiscriminantClassifier(["linear"], scalings=["standard"]).fit(X, y)
    assert model.mixture_.models[0].coordinate_models.gaussians.moments.covariances is None
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.stability(X[:3]).shape == (3,)

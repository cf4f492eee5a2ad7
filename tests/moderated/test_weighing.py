"""Weights of two Gaussian models and their sharpness, from training samples that are left out."""

import numpy as np
import pytest
from kinds import blobs
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from optiscore import ModeratedDiscriminantAnalysis, load, save
from optiscore.moderated.weighing import weigh_models


def indicators(n, seed):
    """A rare class, and rare columns of zeros and ones of which few say anything."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 40)) < rng.uniform(0.01, 0.3, 40)).astype(float)
    return X, (rng.random(n) < 0.05 + 0.3 * X[:, :3].max(axis=1)).astype(int)


def test_columns_of_zeros_and_ones_say_no_more_than_they_know():
    rng = np.random.default_rng(0)
    frequent = rng.uniform(0.01, 0.3, 40)
    X = (rng.random((3000, 40)) < frequent).astype(float)
    y = (rng.random(3000) < 0.04 + 0.2 * X[:, -3:].max(axis=1)).astype(int)
    (X_train, X_new), (y_train, y_new) = np.split(X, [500]), np.split(y, [500])
    plain = ModeratedDiscriminantAnalysis(calibration=None).fit(X_train, y_train)
    model = ModeratedDiscriminantAnalysis().fit(X_train, y_train)
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    losses = [log_loss(y_new, each.predict_proba(X_new)) for each in (plain, model, line)]
    assert losses[1] < losses[0] - 0.02
    assert losses[1] < 1.15 * losses[2]
    assert model.score(X_new, y_new) >= max(np.mean(y_new == 0), plain.score(X_new, y_new)) - 0.005
    assert model.sharpness_ < 1


def test_gaussian_classes_are_taken_as_they_are():
    X, y = blobs(2, n=400, d=3)
    model = ModeratedDiscriminantAnalysis(feature_map=None).fit(X, y)
    assert model.sharpness_ == 1
    assert model.model_weights_.sum() == pytest.approx(1)
    assert ModeratedDiscriminantAnalysis("own").fit(X, y).model_weights_.tolist() == [1]


def test_the_weights_have_the_least_loss():
    """A slow oracle: the loss of the mixture over a grid of weights, shrunk by two samples on each side."""
    X, y = blobs(3, n=150, d=4)
    model = ModeratedDiscriminantAnalysis(calibration=None).fit(X, y)
    models, Z = model._model.gaussians.models, model._model.mapped(X)
    (w, _), s = weigh_models(models, Z, y, np.ones(150))
    assert s == 1
    p = [np.exp(m.moderated_log_proba(*m.leave_out(m.distances(Z), y)))[y, np.arange(150)] for m in models]
    grid = np.linspace(0.001, 0.999, 999)[:, None]
    value = np.log(grid * p[0] + (1 - grid) * p[1]).sum(axis=1) + 2 * np.log(grid * (1 - grid))[:, 0]
    assert grid[value.argmax(), 0] == pytest.approx(w, abs=1e-3)


def test_sharpness_is_a_power_of_the_densities():
    X, y = blobs(3, n=90, d=3)
    model = ModeratedDiscriminantAnalysis("own", feature_map=None, calibration=None).fit(X, y)
    (own,) = model._model.gaussians.models
    alpha = own.distances(X)
    log_density = own.log_joint(alpha) - own.log_priors[:, None]
    tempered = own.with_sharpness(0.3)
    expected = log_softmax(own.log_priors[:, None] + 0.3 * log_density, axis=0)
    np.testing.assert_allclose(tempered.nominal_log_proba(alpha), expected, atol=1e-12)
    np.testing.assert_allclose(own.log_density(alpha), tempered.log_density(alpha))


def test_stability_and_intervals_are_those_of_densities_with_other_priors(tmp_path):
    """Log odds divided by the sharpness s are those with the priors to the power 1/s."""
    X, y = indicators(800, 0)
    model = ModeratedDiscriminantAnalysis("shared", feature_map=None).fit(X, y)
    s = model.sharpness_
    assert s < 1
    priors = model.priors_ ** (1 / s) / (model.priors_ ** (1 / s)).sum()
    plain = ModeratedDiscriminantAnalysis("shared", feature_map=None, calibration=None, priors=priors).fit(X, y)
    np.testing.assert_allclose(model.stability(X), plain.stability(X), atol=1e-9)
    odds = [np.log(end / (1 - end)) for end in (model.predict_proba_interval(X)[0], plain.predict_proba_interval(X)[0])]
    np.testing.assert_allclose(odds[0], s * odds[1], atol=1e-7)
    save(model, tmp_path / "m.skops")
    assert (load(tmp_path / "m.skops").predict_proba(X) == model.predict_proba(X)).all()


def test_weights_of_samples_are_repetitions_here_too():
    X, y = indicators(300, 1)
    weight = np.random.default_rng(0).integers(1, 3, 300)
    model = ModeratedDiscriminantAnalysis().fit(X, y, weight)
    repeated = ModeratedDiscriminantAnalysis().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert model.sharpness_ == repeated.sharpness_
    np.testing.assert_allclose(model.predict_proba(X), repeated.predict_proba(X), atol=1e-8)
    assert model.loo_weights_.sum() == weight.sum()


def test_calibration_is_auto_or_none():
    with pytest.raises(ValueError, match="calibration must be 'auto' or None, got 'isotonic'"):
        ModeratedDiscriminantAnalysis(calibration="isotonic").fit(*blobs(2))

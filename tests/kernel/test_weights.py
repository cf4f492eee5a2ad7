"""Weights of samples, class probabilities and threads of the kernel classifier."""

import numpy as np
import pytest
from kinds import blobs
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression

from optiscore import KernelDiscriminantClassifier, KernelDiscriminantMap, ModeratedDiscriminantAnalysis, load, save

SETTINGS = ({}, {"max_landmarks": 60}, {"average": False})


def everything(model, X):
    return np.column_stack(
        [model.predict_proba(X), *model.predict_proba_interval(X), model.stability(X), model.typicality(X)]
    )


@pytest.mark.parametrize("settings", SETTINGS)
def test_only_ratios_of_weights_matter_and_equal_ones_are_none(settings):
    X, y = blobs(3, n=200, d=3)
    plain = KernelDiscriminantClassifier("short", **settings).fit(X, y)
    equal = KernelDiscriminantClassifier("short", **settings).fit(X, y, np.full(200, 7.0))
    np.testing.assert_allclose(everything(equal, X), everything(plain, X), atol=1e-6)
    weight = np.random.default_rng(0).uniform(0.2, 2, 200)
    models = [KernelDiscriminantClassifier("short", **settings).fit(X, y, w) for w in (weight, 1e3 * weight)]
    np.testing.assert_allclose(models[0].predict_proba(X), models[1].predict_proba(X), atol=1e-7)


def test_weight_0_is_no_sample():
    X, y = blobs(2, n=150)
    weight = np.random.default_rng(0).integers(0, 3, 150)
    model = KernelDiscriminantClassifier("short").fit(X, y, weight)
    fewer = KernelDiscriminantClassifier("short").fit(X[weight > 0], y[weight > 0], weight[weight > 0])
    assert (model.predict_proba(X) == fewer.predict_proba(X)).all()
    assert len(model.loo_proba_) == np.count_nonzero(weight)


def test_weights_are_nearly_repetitions():
    """Copies are left out one by one where they are repeated: ridges are then too small, so one is given."""
    X, y = blobs(2, n=120, d=3)
    weight = np.random.default_rng(0).integers(1, 3, 120)
    settings = {"kernels": ["rbf-0.25"], "scalings": ["standard"], "ridges": [1.0], "relevance": False}
    model = KernelDiscriminantClassifier(**settings).fit(X, y, weight)
    repeated = KernelDiscriminantClassifier(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    unweighted = KernelDiscriminantClassifier(**settings).fit(X, y)
    apart = [np.abs(other.predict_proba(X) - repeated.predict_proba(X)).mean() for other in (model, unweighted)]
    assert apart[0] < 0.03
    assert apart[0] < 0.7 * apart[1]
    np.testing.assert_allclose(model.priors_, repeated.priors_)


def test_weights_move_the_answer_where_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    left, above = X[:, 0] < 0, X[:, 1] > 0
    y, group = np.where(rng.random(400) < 0.5, left, above).astype(int), left == above
    heavy = KernelDiscriminantClassifier("short").fit(X, y, np.where(group, 1.0, 20.0))
    assert heavy.loo_weights_[~group].mean() > 10 * heavy.loo_weights_[group].mean()
    points = rng.normal(size=(500, 2))
    assert heavy.predict_proba(points)[:, 1].mean() == pytest.approx(
        np.average(y, weights=np.where(group, 1, 20)), abs=0.1
    )


def test_landmarks_and_subsets_keep_the_weights():
    X, y = blobs(3, n=900, d=3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 900)
    model = KernelDiscriminantClassifier("short", max_landmarks=80).fit(X, y, weight)
    exact = KernelDiscriminantClassifier("short", max_landmarks=None).fit(X, y, weight)
    assert np.abs(model.predict_proba(X) - exact.predict_proba(X)).mean() < 0.05
    assert model.loo_weights_.sum() == pytest.approx(900, rel=0.02)


def test_class_probabilities_are_those_of_with_priors(tmp_path):
    X, y = blobs(3, n=150)
    given = KernelDiscriminantClassifier("short", priors={0: 0.6, 1: 0.3, 2: 0.1}).fit(X, y)
    later = KernelDiscriminantClassifier("short").fit(X, y).with_priors([0.6, 0.3, 0.1])
    assert (given.predict_proba(X) == later.predict_proba(X)).all()
    with pytest.raises(ValueError, match="priors must be positive"):
        KernelDiscriminantClassifier(priors=[1.0, -1.0, 1.0]).fit(X, y)
    weighted = KernelDiscriminantClassifier("short").fit(X, y, np.arange(1.0, 151))
    save(weighted, tmp_path / "m.skops")
    assert (everything(load(tmp_path / "m.skops"), X) == everything(weighted, X)).all()


def test_threads_do_not_matter():
    X, y = blobs(2, n=700, d=4)
    one, all_ = (KernelDiscriminantClassifier("short", n_jobs=n_jobs).fit(X, y) for n_jobs in (1, -1))
    np.testing.assert_allclose(one.predict_proba(X), all_.predict_proba(X), atol=1e-9)


def test_weights_pass_through_other_estimators():
    X, y = blobs(2, n=100)
    weight = np.linspace(0.5, 2, 100)
    voting = VotingClassifier(
        [("kernel", KernelDiscriminantClassifier("short")), ("line", LogisticRegression())], voting="soft"
    )
    assert voting.fit(X, y, sample_weight=weight).predict_proba(X).shape == (100, 2)
    mapped = ModeratedDiscriminantAnalysis(feature_map=KernelDiscriminantMap("short")).fit(X, y, weight)
    unweighted = ModeratedDiscriminantAnalysis(feature_map=KernelDiscriminantMap("short")).fit(X, y)
    assert not np.allclose(mapped.feature_map_.transform(X), unweighted.feature_map_.transform(X))

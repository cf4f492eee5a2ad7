"""The kernel discriminant classifier: scikit-learn's checks, leaving out against refitting, averages, files, errors."""

import copy
import pickle

import numpy as np
import pytest
from kinds import blobs
from scikit_learn_checks import scikit_learn_checks
from scipy.special import log_softmax, ndtr
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict

from optiscore import KernelDiscriminantClassifier, KernelDiscriminantMap, ModeratedDiscriminantAnalysis, load, save
from optiscore.kernel.mixture import CoordinateModels, weights_of
from optiscore.kernel.spectral_ridge import indicators_of
from optiscore.trust.calibration import best_sharpness

SETTINGS = ({}, {"average": False}, {"max_landmarks": 60, "random_state": 0})


@scikit_learn_checks(
    KernelDiscriminantClassifier(),
    KernelDiscriminantClassifier("short", average=False),
    KernelDiscriminantClassifier("long", max_landmarks=15, random_state=0),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_outputs_agree_with_each_other(settings, n_classes):
    X, y = blobs(n_classes)
    labels = np.array(["ant", "bee", "cat", "dog", "eel"])[y]
    model = KernelDiscriminantClassifier(**settings).fit(X, labels)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert (model.predict(X) == model.classes_[proba.argmax(axis=1)]).all()
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X), atol=1e-9)
    values = model.decision_function(X)
    expected = np.log(proba[:, 1] / proba[:, 0]) if n_classes == 2 else np.log(proba)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert model.maps_["weight"].sum() == pytest.approx(1)
    assert (np.diff(model.maps_["weight"]) <= 0).all()
    assert len(model.mixture_.models) == len(model.maps_["kernel"])
    assert model.loo_proba_.shape == (len(y), n_classes)
    assert model.loo_log_loss_ == pytest.approx(log_loss(labels, model.loo_proba_))
    sets = model.predict_set(X, utility="u80")
    assert sets[np.arange(len(y)), proba.argmax(axis=1)].all()


def moderated(model, X):
    alpha = model.distances(X)
    return np.exp(model.moderated_log_proba(alpha, model.log_joint(alpha)))


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_leaving_out_of_the_gaussian_models_is_nearly_refitting(kind, n_classes):
    X, y = blobs(n_classes, n=160, d=n_classes - 1)
    model = ModeratedDiscriminantAnalysis(feature_map=None).fit(X, y)._model.gaussians.models[kind]
    quick = np.exp(model.moderated_log_proba(*model.leave_out(model.distances(X), y)))
    inside = moderated(model, X)
    slow = np.empty_like(quick)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        other = ModeratedDiscriminantAnalysis(feature_map=None).fit(X[rest], y[rest])._model.gaussians.models[kind]
        slow[:, i] = moderated(other, X[i : i + 1])[:, 0]
    assert np.abs(quick - slow).max() < 0.05
    assert np.abs(quick - slow).mean() < 0.2 * np.abs(inside - slow).mean()


def test_a_class_of_one_sample_has_no_density_without_it():
    X, y = np.r_[blobs(2)[0], [[50.0, 50, 50]]], np.r_[blobs(2)[1], 2]
    for model in ModeratedDiscriminantAnalysis(feature_map=None).fit(X, y)._model.gaussians.models:
        proba = np.exp(model.moderated_log_proba(*model.leave_out(model.distances(X), y)))
        assert proba[2, -1] == 0
        np.testing.assert_allclose(proba.sum(axis=0), 1)
    fitted = KernelDiscriminantClassifier().fit(X, y)
    assert np.isfinite(fitted.predict_proba(X)).all()
    assert np.isfinite(fitted.loo_log_loss_)


def test_left_out_probabilities_are_those_of_new_rows():
    """What the classifier says of its own quality is what cross-validation finds."""
    for X, y in (blobs(4, n=300), load_breast_cancer(return_X_y=True)):
        model = KernelDiscriminantClassifier("short")
        honest = cross_val_predict(model, X, y, cv=10, method="predict_proba")
        assert model.fit(X, y).loo_log_loss_ == pytest.approx(log_loss(y, honest), abs=0.03)


def test_curved_and_straight_boundaries():
    X, y = make_moons(300, noise=0.2, random_state=0)
    X_new, y_new = make_moons(2000, noise=0.2, random_state=1)
    for average in (True, False):
        model = KernelDiscriminantClassifier(average=average).fit(X, y)
        assert model.score(X_new, y_new) > 0.955
        assert log_loss(y_new, model.predict_proba(X_new)) < 0.13
        assert len(model.mixture_.models) == 1 if not average else len(model.mixture_.models) > 1
    X, y = load_iris(return_X_y=True)
    assert (cross_val_predict(KernelDiscriminantClassifier("short"), X, y) == y).mean() > 0.94


@pytest.mark.parametrize("n_classes", [2, 3, 8])
@pytest.mark.parametrize("kind", ["gaussian", "one feature", "binary", "constant"])
def test_of_noise_nothing_is_learned(n_classes, kind):
    """Log losses are that of the fractions of the classes, for new rows and for rows that are left out."""
    rng = np.random.default_rng(0)
    features = {
        "gaussian": rng.normal(size=(1200, 6)),
        "one feature": rng.normal(size=(1200, 1)),
        "binary": rng.integers(0, 2, (1200, 1)),
        "constant": np.ones((1200, 2)),
    }
    X, y = features[kind], rng.integers(0, n_classes, 1200)
    model = KernelDiscriminantClassifier().fit(X[:200], y[:200])
    assert log_loss(y[200:], model.predict_proba(X[200:])) < np.log(n_classes) + 0.05
    assert model.loo_log_loss_ == pytest.approx(np.log(n_classes), abs=0.06)


def test_more_classes_than_features():
    rng = np.random.default_rng(0)
    y = np.r_[np.arange(90) % 30, rng.integers(0, 30, 1000)]
    X = 2 * rng.normal(size=(30, 5))[y] + rng.normal(size=(len(y), 5))
    model = KernelDiscriminantClassifier().fit(X[:90], y[:90])
    assert model.score(X[90:], y[90:]) > 0.55
    assert log_loss(y[90:], model.predict_proba(X[90:])) < 1.5


def test_weights():
    class Trial:
        def __init__(self, criterion):
            self.loss = criterion

    weights = weights_of([Trial(0.5), Trial(0.4), Trial(0.41), Trial(0.7)], 100)
    kept = np.exp([-2.0, 0, -0.2])
    np.testing.assert_allclose(weights, [*(kept / kept.sum()), 0])


@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_best_sharpness_has_the_least_loss(n_classes):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(n_classes, 300))
    codes = np.array([rng.choice(n_classes, p=np.exp(column)) for column in log_softmax(2 * logits, axis=0).T])

    second = np.argsort(logits, axis=0)[-2]

    def loss(s):
        """That of the samples, and of half a sample of the second most probable class."""
        log_proba = log_softmax(s * logits, axis=0)
        return -log_proba[codes, np.arange(300)].sum() - 0.5 * log_proba[second, np.arange(300)].mean()

    best = best_sharpness(logits, codes, 0.1, 50)
    assert best == pytest.approx(2, rel=0.25)
    assert loss(best) <= min(loss(best * f) for f in (0.99, 1.01))
    right = logits.argmax(axis=0)
    few, many = (best_sharpness(logits[:, :n], right[:n], 0.1, 1e4) for n in (30, 300))
    assert 5 < few < many < 1e3, "where all are right, certainty grows with their number"
    assert best_sharpness(logits, codes, 5, 50) == 5
    assert best_sharpness(logits, codes, 0.1, 1) == 1


@pytest.mark.parametrize("average", [True, False])
def test_names_of_classes_do_not_matter(average):
    X, y = load_wine(return_X_y=True)
    names = np.array(["c", "a", "b"])
    plain = KernelDiscriminantClassifier(average=average).fit(X[::2], y[::2])
    renamed = KernelDiscriminantClassifier(average=average).fit(X[::2], names[y[::2]])
    proba = plain.predict_proba(X[1::2])[:, np.argsort(names)]
    np.testing.assert_allclose(renamed.predict_proba(X[1::2]), proba, atol=1e-7)


def test_three_models_are_averaged():
    X, y = blobs(3)
    z = KernelDiscriminantMap(["linear"]).fit_transform(X, y) @ indicators_of(3)
    models = CoordinateModels.fit(z, y, np.bincount(y) / len(y))
    gaussian = models.gaussians
    indicators = z + np.bincount(y) / len(y)
    softmax = np.exp(log_softmax(models.sharpness * indicators, axis=1))
    np.testing.assert_allclose(models.proba(z).T, (2 * np.exp(gaussian.log_proba(z)).T + softmax) / 3, rtol=1e-10)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_stability_and_intervals(average, n_classes):
    X, y = blobs(n_classes, n=200)
    model = KernelDiscriminantClassifier(average=average).fit(X, y)
    proba, stability = model.predict_proba(X), model.stability(X)
    lower, upper = model.predict_proba_interval(X, 0.8)
    assert ((lower <= proba) & (proba <= upper)).all()
    wider = model.predict_proba_interval(X, 0.99)
    assert ((wider[0] <= lower) & (upper <= wider[1])).all()
    assert ((stability >= 1 / n_classes) & (stability <= 1)).all()
    sure = proba.max(axis=1) > np.median(proba.max(axis=1))
    assert stability[sure].mean() > stability[~sure].mean()
    assert not hasattr(model, "nominal_proba")
    assert model.stability(X[:3].astype(np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match="confidence_level must lie strictly between 0 and 1"):
        model.predict_proba_interval(X, 1.5)


def test_influences_are_those_of_refitting_without_a_row():
    """The jackknife of the probabilities of one map: moments and temperature change little."""
    X, y = blobs(2, n=80, d=3)
    settings = {"kernels": ["rbf-1"], "scalings": ["standard"], "ridges": [0.3], "average": False, "relevance": False}
    model, points = KernelDiscriminantClassifier(**settings).fit(X, y), blobs(2, n=30, d=3)[0] * 0.7
    log_odds = np.log(model.predict_proba(points)).T
    changes = []
    for i in range(80):
        rest = np.delete(np.arange(80), i)
        other = KernelDiscriminantClassifier(**settings).fit(X[rest], y[rest])
        changes.append(np.log(other.predict_proba(points)).T - log_odds)
    spread = np.sqrt(np.square([each[1] - each[0] for each in changes]).sum(axis=0))
    found = np.sqrt(model._model.log_odds(points).variances[0])
    assert 0.7 < np.median(found / spread) < 1.8
    assert np.corrcoef(found, spread)[0, 1] > 0.6


def test_models_of_other_samples_agree_as_often_as_stability_says():
    X, y = make_moons(4000, noise=0.35, random_state=0)
    X_new = make_moons(500, noise=0.35, random_state=1)[0]
    models = [KernelDiscriminantClassifier("short").fit(X[i : i + 150], y[i : i + 150]) for i in range(0, 1500, 150)]
    labels = np.array([model.predict(X_new) for model in models])
    # Two samples differ by the root of 2 more than one does from the mean.
    said, done = [], []
    for i, model in enumerate(models):
        odds = model._model.log_odds(X_new)
        said.append(ndtr(odds.log_odds[0] / np.sqrt(2 * odds.variances[0])))
        done.append((np.delete(labels, i, axis=0) == labels[i]).mean(axis=0))
    said, done = np.concatenate(said), np.concatenate(done)
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 0.99), (0.99, 1.01)):
        group = (said >= low) & (said < high)
        assert done[group].mean() == pytest.approx(said[group].mean(), abs=0.1)


@pytest.mark.parametrize("make", [KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis])
def test_sets_hold_the_truth_as_often_as_asked(make):
    X, y = blobs(4, n=3400, d=3)
    model = make().fit(X[:400], y[:400])
    truth, rows = y[400:], np.arange(3000)
    for level in (0.8, 0.95):
        named = model.predict_set(X[400:], level)
        assert named[rows, truth].mean() == pytest.approx(level, abs=0.04)
        by_class = model.predict_set(X[400:], level, by_class=True)[rows, truth]
        assert min(by_class[truth == c].mean() for c in range(4)) > level - 0.08
    assert (named.sum(axis=1) >= 1).all()
    assert named.sum() > model.predict_set(X[400:], 0.5).sum()


@pytest.mark.parametrize("make", [KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis])
def test_other_proportions_of_the_classes(make):
    rng = np.random.default_rng(0)
    X, y = blobs(3, n=6000, d=3)
    X += 1.5 * np.eye(3)[y]
    model = make().fit(X[:400], y[:400])
    new = rng.choice(np.arange(400, 6000), 500, p=(lambda w: w / w.sum())(np.array([0.1, 1.0, 2.0])[y[400:]]))
    found = model.estimate_priors(X[new])
    truth = np.bincount(y[new]) / 500
    np.testing.assert_allclose(found.priors, truth, atol=0.08)
    assert ((found.low - 0.03 <= truth) & (truth <= found.high + 0.03)).all()
    assert found.p_value < 0.01
    assert "p-value of no change" in str(found)
    shifted = model.with_priors(found.priors)
    assert log_loss(y[new], shifted.predict_proba(X[new])) < log_loss(y[new], model.predict_proba(X[new]))
    assert shifted.stability(X[:5]).shape == (5,)
    covered = shifted.predict_set(X[new])[np.arange(500), y[new]].mean()
    assert covered > 0.84
    same = model.estimate_priors(X[400:900])
    assert same.p_value > 0.01
    np.testing.assert_allclose(model.with_priors(None).predict_proba(X), model.predict_proba(X), atol=1e-12)
    again = shifted.estimate_priors(X[new])
    np.testing.assert_allclose(again.priors, found.priors, atol=0.02)


def test_what_was_learned_without_left_out_rows_has_no_sets_at_a_level():
    X, y = blobs(3)
    model = ModeratedDiscriminantAnalysis(feature_map=None).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="there are no left-out probabilities: learn from samples with fit"):
        model.predict_set(X)
    assert model.predict_set(X, utility="u65").any(axis=1).all()


def test_typicality_is_that_of_the_features():
    X, y = blobs(2)
    model = KernelDiscriminantClassifier("short").fit(X, y)
    np.testing.assert_allclose(model.typicality(X), ModeratedDiscriminantAnalysis("own").fit(X, y).typicality(X))
    assert (model.typicality(X + 1000) < 1e-6).all()
    wide = np.random.default_rng(0).normal(size=(20, 1001))
    with pytest.raises(ValueError, match="no typicality for more than 1000 features"):
        KernelDiscriminantClassifier(["linear"]).fit(wide, np.arange(20) % 2).typicality(wide)


@pytest.mark.parametrize("settings", SETTINGS)
def test_float32_is_kept(settings):
    X, y = blobs(3)
    single = KernelDiscriminantClassifier(**settings).fit(X.astype(np.float32), y)
    double = KernelDiscriminantClassifier(**settings).fit(X, y)
    points = X.astype(np.float32)
    for method in ("predict_proba", "predict_log_proba", "decision_function", "typicality"):
        assert getattr(single, method)(points).dtype == np.float32, method
    if not settings.get("average", True):
        assert single.stability(points).dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(points), double.predict_proba(X), atol=5e-3)


@pytest.mark.parametrize("settings", SETTINGS)
def test_copies_and_files_predict_the_same_bits(settings, tmp_path):
    X, y = blobs(3)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = KernelDiscriminantClassifier(**settings).fit(X, labels)
    save(model, tmp_path / "model.skops")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), load(tmp_path / "model.skops")):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        np.testing.assert_array_equal(other.typicality(X), model.typicality(X))
    again = clone(model).fit(X, labels)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


MANY = {700: {}, 1700: {}, 900: {"max_landmarks": 400}}


@pytest.mark.parametrize("n", MANY)
def test_more_rows_than_every_combination_is_tried_on(n):
    """The same answers twice, whatever rows come along; what is said of left-out rows holds for new ones."""
    X, y = blobs(3, n=n + 600, d=6)
    X[:, 0] = X[:, 0] > 0
    X[:, 1] = X[:, 1].round().clip(-3, 3)
    X, X_new, y, y_new = X[:n], X[n:], y[:n], y[n:]
    model, again = (KernelDiscriminantClassifier(**MANY[n]).fit(X, y) for _ in range(2))
    proba = model.predict_proba(X_new)
    np.testing.assert_array_equal(again.predict_proba(X_new), proba)
    alone = np.concatenate([model.predict_proba(X_new[i : i + 1]) for i in range(40)])
    np.testing.assert_allclose(alone, proba[:40], atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(np.tile(X_new, (9, 1)))[:600], proba, atol=1e-12)
    rows = model.loo_indices_
    assert (np.diff(rows) > 0).all()
    assert model.loo_proba_.shape == (len(rows), 3)
    assert model.loo_log_loss_ == pytest.approx(log_loss(y[rows], model.loo_proba_), rel=0.01)
    assert model.loo_log_loss_ == pytest.approx(log_loss(y_new, proba), abs=0.05)
    names = np.array(["c", "a", "b"])
    renamed = KernelDiscriminantClassifier(**MANY[n]).fit(X, names[y])
    np.testing.assert_allclose(renamed.predict_proba(X_new), proba[:, np.argsort(names)], atol=1e-6)


def test_rows_that_are_left_out_hold_every_class():
    X, y = blobs(3, n=5000)
    y[:8] = 3
    X[:8] += 9
    model = KernelDiscriminantClassifier(["rbf-1", "linear"]).fit(X, y)
    assert 1900 < len(model.loo_indices_) < 2100
    assert set(range(8)) <= set(model.loo_indices_)
    assert np.bincount(y[model.loo_indices_]).min() == 8
    assert model.predict_proba(X).shape == (5000, 4)


@pytest.mark.parametrize("n_rare", [1, 2, 10])
def test_rare_classes_beside_landmarks(n_rare):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1700, 3)), np.arange(1700) % 2
    X[:, 0] += y
    y[5 : 5 + n_rare] = 2
    for seed in range(3):
        model = KernelDiscriminantClassifier(["linear"], max_landmarks=50, random_state=seed).fit(X, y)
        assert np.isfinite(model.predict_log_proba(X)).all()


def test_typicality_does_not_hang_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 3)), np.repeat([0, 1], [1200, 300])
    X[:, 0] += 6 * y
    model = KernelDiscriminantClassifier(["linear"], scalings=["standard"], relevance=False).fit(X, y)
    assert np.median(model.typicality(X[y == 1])) > 0.2


def test_one_combination_finds_its_ridge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = (0.3 * X[:, 0] + rng.normal(size=1000) > 0).astype(int)
    model = KernelDiscriminantClassifier(["rbf-1"], scalings=["standard"], relevance=False).fit(X, y)
    best = KernelDiscriminantClassifier(["rbf-1"], scalings=["standard"], relevance=False, ridges=[10.0]).fit(X, y)
    assert model.loo_log_loss_ < best.loo_log_loss_ + 0.003


@pytest.mark.parametrize("n", [80, 700, 1700])
def test_columns_that_are_all_constant(n):
    model = KernelDiscriminantClassifier("short").fit(np.ones((n, 2)), np.arange(n) % 2)
    np.testing.assert_allclose(model.predict_proba(np.ones((2, 2))), 0.5, atol=0.01)
    assert np.isfinite(model.stability(np.ones((2, 2)))).all()
    assert np.isfinite(model.predict_proba_interval(np.zeros((2, 2)))).all()


def test_a_rare_class_counts_by_its_part_in_proportions():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9000, 3)), (rng.random(9000) < 0.004).astype(int)
    X[:, 0] += 5 * y
    model = KernelDiscriminantClassifier(["linear"], scalings=["standard"], relevance=False).fit(X, y)
    y_new = (rng.random(8000) < 0.004).astype(int)
    X_new = rng.normal(size=(8000, 3))
    X_new[:, 0] += 5 * y_new
    found = model.estimate_priors(X_new)
    assert found.training[1] == pytest.approx(y.mean(), abs=0.002)
    assert found.priors[1] == pytest.approx(y_new.mean(), abs=0.003)
    assert found.p_value > 0.01


@pytest.mark.parametrize("priors", [None, "equal", [0.95, 0.05]])
def test_proportions_do_not_hang_on_given_priors(priors):
    rng = np.random.default_rng(0)
    y, y_new = (rng.random(400) < 0.2).astype(int), (rng.random(3000) < 0.5).astype(int)
    X, X_new = (rng.normal(size=(len(labels), 2)) + 2.0 * labels[:, None] for labels in (y, y_new))
    found = ModeratedDiscriminantAnalysis(priors=priors).fit(X, y).estimate_priors(X_new)
    assert found.priors[1] == pytest.approx(y_new.mean(), abs=0.05)
    assert found.training[1] == pytest.approx(y.mean(), abs=0.02)


def test_sets_ask_one_thing():
    X, y = blobs(2)
    model = KernelDiscriminantClassifier("short").fit(X, y)
    with pytest.raises(ValueError, match="by utility or by min_probability, not by both"):
        model.predict_set(X, utility="u65", min_probability=0.1)
    with pytest.raises(ValueError, match="confidence_level must be one number"):
        model.predict_set(X, [0.9])


def test_copies_need_no_anchor_each():
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (2000, 3)).astype(float)
    y = (cells.sum(axis=1) + rng.normal(size=2000) > 3).astype(int)
    for n in (800, 2000):
        model = KernelDiscriminantClassifier().fit(cells[:n], y[:n])
        assert max(len(each.expansion.anchors) for each in model.mixture_.models) <= 27
    whole = KernelDiscriminantClassifier(["rbf-1"], scalings="standard", ridges=[0.1], average=False)
    spread = whole.fit(cells[:800] + 1e-9 * rng.normal(size=(800, 3)), y[:800]).predict_proba(cells[:50])
    assert len(whole.mixture_.models[0].expansion.anchors) == 800
    np.testing.assert_allclose(whole.fit(cells[:800], y[:800]).predict_proba(cells[:50]), spread, atol=1e-4)


def test_a_first_file_without_the_places_of_left_out_rows_is_of_all_rows():
    X, y = blobs(2)
    model = KernelDiscriminantClassifier("short").fit(X, y)
    state = {name: value for name, value in model.__getstate__().items() if name != "loo_indices_"}
    old = KernelDiscriminantClassifier("short")
    old.__setstate__(state)
    assert old.loo_indices_.tolist() == list(range(len(y)))


def test_blocks_of_rows_do_not_matter():
    X, y = blobs(2)
    model = KernelDiscriminantClassifier().fit(X, y)
    many = np.tile(X, (50, 1))
    np.testing.assert_allclose(model.predict_proba(many)[: len(X)], model.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("kernels", ["default", "long"])
def test_far_points_copies_and_constants_stay_finite(kernels):
    X, y = blobs(3)
    X = np.c_[X, X[:, 0], np.full(len(X), 7.0)]
    X, y = np.r_[X, X[:30]], np.r_[y, y[:30]]
    model = KernelDiscriminantClassifier(kernels, average=False).fit(X, y)
    for points in (X, 1e3 * X, 1e300 * X / np.abs(X).max()):
        assert np.isfinite(model.predict_log_proba(points)).all()
        assert np.isfinite(model.stability(points)).all()
        assert np.isfinite(model.predict_proba_interval(points)).all()


def test_results_tell_what_was_tried():
    X, y = blobs(2)
    model = KernelDiscriminantClassifier("short").fit(X, y)
    results = model.results_
    assert {len(column) for column in results.values()} == {3 * 2 * 9}
    assert np.isfinite(results["squared_error"]).all()
    judged = np.isfinite(results["log_loss"])
    assert 3 * 2 * 2 <= judged.sum() <= 3 * 2 * 3
    assert np.nanmin(results["log_loss"]) == model.maps_["log_loss"][0]


def test_bad_parameters_are_named():
    X, y = blobs(2)
    with pytest.raises(ValueError, match="average must be True or False"):
        KernelDiscriminantClassifier(average="all").fit(X, y)
    with pytest.raises(ValueError, match="kernels must be one of"):
        KernelDiscriminantClassifier("none").fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        KernelDiscriminantClassifier().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="utility must be"):
        KernelDiscriminantClassifier("short").fit(X, y).predict_set(X, utility="u50")

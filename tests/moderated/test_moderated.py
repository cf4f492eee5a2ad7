"""Moderated discriminant analysis: scikit-learn's checks, special cases, certainty, weights, blocks, files, errors."""

import copy
import pickle

import numpy as np
import pytest
from kinds import blobs
from scikit_learn_checks import scikit_learn_checks
from scipy.special import softmax
from scipy.stats import kstest, multivariate_normal, norm
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, LedoitWolf
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from optiscore import ModeratedDiscriminantAnalysis, PowerMap, RidgeCovariance, load, save

KINDS = ("both", "own", "shared")
METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "nominal_proba",
    "stability",
    "predict_set",
    "typicality",
    "score_samples",
)
PAIRS = ("predict_proba_interval", "likelihood_ratio")


def everything(model, X):
    parts = [getattr(model, method)(X) for method in METHODS if method != "predict_set"]
    parts.append(model.predict_set(X, utility="u65"))
    return parts + [part for pair in PAIRS for part in getattr(model, pair)(X)]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@scikit_learn_checks(
    ModeratedDiscriminantAnalysis(),
    ModeratedDiscriminantAnalysis("own", feature_map=None),
    ModeratedDiscriminantAnalysis("shared", feature_map=StandardScaler()),
    ModeratedDiscriminantAnalysis(feature_map=None, covariance_estimator=RidgeCovariance()),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nominal_posteriors_are_those_of_discriminant_analysis(n_classes):
    X, y = blobs(n_classes)
    plain = {"feature_map": None, "covariance_estimator": EmpiricalCovariance(), "calibration": None}
    shared = ModeratedDiscriminantAnalysis("shared", **plain).fit(X, y).nominal_proba(X)
    lda = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=EmpiricalCovariance()).fit(X, y)
    np.testing.assert_allclose(shared, lda.predict_proba(X), atol=1e-10)
    densities = [multivariate_normal(X[y == c].mean(axis=0), np.cov(X[y == c].T, bias=True)) for c in range(n_classes)]
    joint = np.stack([density.logpdf(X) for density in densities], axis=1) + np.log(np.bincount(y) / len(y))
    own = ModeratedDiscriminantAnalysis("own", **plain).fit(X, y)
    np.testing.assert_allclose(own.nominal_proba(X), softmax(joint, axis=1), atol=1e-10)
    np.testing.assert_allclose(own.score_samples(X), np.logaddexp.reduce(joint, axis=1), rtol=1e-10)
    both = ModeratedDiscriminantAnalysis(**plain).fit(X, y)
    np.testing.assert_allclose(both.nominal_proba(X), (shared + own.nominal_proba(X)) / 2, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_outputs_agree_with_each_other(kind, n_classes):
    X, y = blobs(n_classes)
    labels = np.array(["ant", "bee", "cat", "dog", "eel"])[y]
    model = ModeratedDiscriminantAnalysis(kind).fit(X, labels)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert (model.predict(X) == model.classes_[proba.argmax(axis=1)]).all()
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X), atol=1e-9)
    values = model.decision_function(X)
    expected = np.log(proba[:, 1] / proba[:, 0]) if n_classes == 2 else np.log(proba)
    np.testing.assert_allclose(values, expected, atol=1e-9)
    lower, upper = model.predict_proba_interval(X)
    nominal = model.nominal_proba(X)
    assert ((lower <= nominal + 1e-12) & (nominal <= upper + 1e-12)).all()
    wider = model.predict_proba_interval(X, 0.99)
    assert (wider[0] <= lower + 1e-9).all()
    assert (wider[1] >= upper - 1e-9).all()
    ratio, rival = model.likelihood_ratio(X)
    confidence = model.stability(X)
    assert (rival != model.predict(X)).all()
    np.testing.assert_allclose(confidence, norm.cdf(np.copysign(np.sqrt(np.abs(ratio)), ratio)), rtol=1e-12)
    if kind != "both":
        assert (ratio >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_more_samples_make_surer(kind):
    X, y = blobs(2, n=60)
    plain = {"feature_map": None, "covariance_estimator": EmpiricalCovariance(), "calibration": None}
    few = ModeratedDiscriminantAnalysis(kind, **plain).fit(X, y)
    many = clone(few).fit(X, y, np.full(len(y), 50.0))
    np.testing.assert_allclose(few.nominal_proba(X), many.nominal_proba(X), atol=1e-10)
    assert np.mean(many.predict_proba(X).max(axis=1)) > np.mean(few.predict_proba(X).max(axis=1))
    widths = [np.mean(upper - lower) for lower, upper in (m.predict_proba_interval(X) for m in (few, many))]
    assert widths[1] < 0.5 * widths[0]
    clear = np.abs(few.nominal_proba(X)[:, 0] - 0.5) > 0.2
    assert (many.stability(X)[clear] >= few.stability(X)[clear] - 1e-9).all()
    nearly_exact = clone(few).fit(X, y, np.full(len(y), 1e9))
    np.testing.assert_allclose(nearly_exact.predict_proba(X), nearly_exact.nominal_proba(X), atol=1e-4)


def test_integer_weights_are_repetitions():
    X, y = blobs(3)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    for feature_map in (None, "power"):
        model = ModeratedDiscriminantAnalysis(feature_map=feature_map)
        weighted, repeated = clone(model).fit(X, y, weight), model.fit(np.repeat(X, weight, 0), np.repeat(y, weight))
        np.testing.assert_allclose(weighted.class_count_, repeated.class_count_)
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)
        np.testing.assert_allclose(weighted.stability(X), repeated.stability(X), atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e100])
def test_weights_of_any_size(kind, size):
    X, y = blobs(3)
    model = ModeratedDiscriminantAnalysis(kind).fit(X, y, np.full(len(y), size))
    for part in everything(model, X):
        assert part.dtype.kind in "bi" or np.isfinite(part).all()
    with pytest.raises(ValueError, match="Sample weights must be at most 1e\\+100"):
        model.fit(X, y, np.full(len(y), 1e101))


@pytest.mark.parametrize("kind", KINDS)
def test_float32_is_kept(kind):
    X, y = blobs(3)
    single = ModeratedDiscriminantAnalysis(kind).fit(X.astype(np.float32), y)
    double = ModeratedDiscriminantAnalysis(kind).fit(X, y)
    points = X.astype(np.float32)
    for method in METHODS[1:6] + METHODS[7:]:
        assert getattr(single, method)(points).dtype == np.float32, method
    for lower, upper in (single.predict_proba_interval(points),):
        assert lower.dtype == upper.dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(points), double.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1, 20), (1, 1), (2, 3, 4), (3, 200)])
def test_tiny_classes_work_and_are_uncertain(kind, sizes):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(len(y), 6)) + 4 * y[:, None]
    model = ModeratedDiscriminantAnalysis(kind, feature_map=None).fit(X, y)
    points = rng.normal(size=(50, 6)) + 2
    for part in everything(model, points):
        assert part.dtype.kind in "biU" or np.isfinite(part).all()
    if max(sizes) <= 20:
        assert np.median(model.predict_proba(points).max(axis=1)) < 0.97


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("feature_map", [None, "power"])
def test_far_points_stay_finite(kind, feature_map):
    X, y = blobs(3)
    model = ModeratedDiscriminantAnalysis(kind, feature_map=feature_map).fit(X, y)
    for size in (1e3, 1e30, 1e150, 1e300):
        far = size * np.random.default_rng(0).normal(size=(20, 3)) / 10
        for part in everything(model, far):
            assert part.dtype.kind in "biU" or np.isfinite(part).all()
        assert (model.typicality(far) < 1e-2).all()


def test_constant_and_collinear_features():
    X, y = blobs(2)
    X = np.c_[X, X[:, 0], np.full(len(X), 7.0)]
    model = ModeratedDiscriminantAnalysis().fit(X, y)
    for part in everything(model, X):
        assert np.isfinite(part).all()


def test_sets_maximise_expected_utility():
    X, y = blobs(4, n=200)
    model = ModeratedDiscriminantAnalysis().fit(X, y)
    proba = model.predict_proba(X)
    for utility, (a, b) in {"u65": (1.6, 0.6), "u80": (2.2, 1.2)}.items():
        named = model.predict_set(X, utility=utility)
        for row, chosen in zip(proba, named, strict=True):
            best = max(sum(sorted(row)[::-1][:k]) * (a / k - b / k**2) for k in (1, 2, 3, 4))
            k = chosen.sum()
            assert row[chosen].sum() * (a / k - b / k**2) == pytest.approx(best)
    assert (model.predict_set(X, utility="u80").sum(axis=1) >= model.predict_set(X, utility="u65").sum(axis=1)).all()
    by_probability = model.predict_set(X, min_probability=0.2)
    assert (by_probability == ((proba >= 0.2) | (proba == proba.max(axis=1, keepdims=True)))).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_classes", "n"), [(2, 30), (10, 8)])
def test_typicality_is_uniform_for_new_samples_of_gaussian_classes(kind, n_classes, n):
    rng = np.random.default_rng(0)
    values = []
    for _ in range(120):
        y = np.repeat(np.arange(n_classes), n)
        plain = {"feature_map": None, "covariance_estimator": EmpiricalCovariance(), "calibration": None}
        model = ModeratedDiscriminantAnalysis(kind, **plain)
        model.fit(rng.normal(size=(n * n_classes, 3)) + 100 * y[:, None], y)
        values.extend(model.typicality(rng.normal(size=(20, 3))))
    assert kstest(values, "uniform").statistic < 0.07


def test_one_feature_far_out_is_untypical_behind_the_map():
    rng = np.random.default_rng(0)
    X, y = np.c_[rng.normal(size=(40, 60)), np.full(40, 7.0)], np.arange(40) % 2
    model = ModeratedDiscriminantAnalysis().fit(X, y)
    for feature in (3, 60):
        odd = X[:5].copy()
        odd[:, feature] = 1e6
        assert (model.typicality(odd) < 1e-3).all()


def test_a_moderated_probability_may_lie_outside_its_interval():
    """A mean over a skewed distribution: the documentation says so, and this is such a case."""
    X, y = load_iris(return_X_y=True)
    model = ModeratedDiscriminantAnalysis().fit(X[::5], y[::5])
    lower, _ = model.predict_proba_interval(X[:1])
    assert model.predict_proba(X[:1])[0, 0] < lower[0, 0] <= model.nominal_proba(X[:1])[0, 0]


def test_blocks_give_the_model_of_all_samples():
    X, y = blobs(3)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    for feature_map in (None, PowerMap().fit(X), StandardScaler().fit(X)):
        model = ModeratedDiscriminantAnalysis(feature_map=feature_map)
        for rows in np.array_split(np.random.default_rng(1).permutation(len(y)), 7):
            model.partial_fit(X[rows], y[rows], [0, 1, 2], weight[rows])
        mapped = X if feature_map is None else feature_map.transform(X)
        trained = ModeratedDiscriminantAnalysis(feature_map=None, calibration=None).fit(mapped, y, weight)
        np.testing.assert_allclose(model.predict_proba(X), trained.predict_proba(mapped), atol=1e-9)
        np.testing.assert_allclose(model.stability(X), trained.stability(mapped), atol=1e-8)
        restored = pickle.loads(pickle.dumps(model))
        assert same(everything(restored.partial_fit(X, y), X), everything(model.partial_fit(X, y), X))


def test_certainty_is_that_of_the_sample_whatever_the_priors():
    """Priors move the log odds; the shared covariance and its evidence stay those of the sample."""
    X, y = blobs(2)
    models = [
        ModeratedDiscriminantAnalysis("shared", feature_map=None, priors=priors).fit(X, y)
        for priors in ([0.5, 0.5], [0.99, 0.01])
    ]
    assert (models[0].covariance_ == models[1].covariance_).all()
    odds = [np.log(model.nominal_proba(X)[:, 0] / model.nominal_proba(X)[:, 1]) for model in models]
    np.testing.assert_allclose(odds[1] - odds[0], np.log(99), rtol=1e-6)


def test_shared_needs_no_regular_classes():
    rng = np.random.default_rng(0)
    y = np.arange(24) % 4
    model = ModeratedDiscriminantAnalysis("shared", feature_map=None, covariance_estimator=EmpiricalCovariance())
    assert np.isfinite(model.fit(rng.normal(size=(24, 8)), y).predict_proba(rng.normal(size=(5, 8)))).all()
    for kind in KINDS:
        with pytest.raises(ValueError, match="exceeds the range"):
            ModeratedDiscriminantAnalysis(kind, feature_map=None).fit(1e200 * rng.normal(size=(24, 3)), y)


def test_maps_that_are_frozen():
    X, y = blobs(2)
    frozen = FrozenEstimator(PowerMap().fit(X))
    model = ModeratedDiscriminantAnalysis(feature_map=frozen).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), ModeratedDiscriminantAnalysis().fit(X, y).predict_proba(X))


def test_what_needs_all_samples_is_refused_block_by_block():
    X, y = blobs(2)
    for model, words in (
        (ModeratedDiscriminantAnalysis(), "'power' needs all samples"),
        (ModeratedDiscriminantAnalysis(feature_map=StandardScaler()), "must be fitted already"),
        (ModeratedDiscriminantAnalysis(feature_map=None, covariance_estimator=LedoitWolf()), "LedoitWolf"),
    ):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(ValueError, match=words):
            model.partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match="cannot go on after fit"):
        ModeratedDiscriminantAnalysis(feature_map=None).fit(X, y).partial_fit(X, y)
    waiting = ModeratedDiscriminantAnalysis(feature_map=None).partial_fit(X[y == 0], y[y == 0], [0, 1])
    with pytest.raises(NotFittedError, match="no samples of class '1' yet"):
        waiting.predict(X)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_and_files_predict_the_same_bits(kind, tmp_path):
    X, y = blobs(3)
    for feature_map in ("power", None, StandardScaler()):
        model = ModeratedDiscriminantAnalysis(kind, feature_map=feature_map).fit(X, y)
        save(model, tmp_path / "model.skops")
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), load(tmp_path / "model.skops")):
            assert same(everything(other, X), everything(model, X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"covariance": "all"}, "covariance must be one of"),
        ({"feature_map": "kernel"}, "feature_map must be 'power', None or a transformer"),
        ({"feature_map": StandardScaler}, "feature_map must be"),
        ({"priors": [0.5, 0.6]}, "priors must be positive and sum to 1"),
        ({"covariance_estimator": 3}, "covariance_estimator must be None or an estimator"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    X, y = blobs(2)
    with pytest.raises(ValueError, match=words):
        ModeratedDiscriminantAnalysis(**parameters).fit(X, y)


def test_bad_arguments_of_methods_are_named():
    X, y = blobs(2)
    model = ModeratedDiscriminantAnalysis().fit(X, y)
    with pytest.raises(ValueError, match="confidence_level must lie strictly between 0 and 1"):
        model.predict_proba_interval(X, 1.0)
    with pytest.raises(ValueError, match="utility must be"):
        model.predict_set(X, utility="u50")
    with pytest.raises(ValueError, match="min_probability must lie"):
        model.predict_set(X, min_probability=2)


def test_certificates_say_something():
    """On the table of which the worst-case certificates covered 0.7 %."""
    X, y = load_breast_cancer(return_X_y=True)
    model = ModeratedDiscriminantAnalysis().fit(X[::2], y[::2])
    assert (model.stability(X[1::2]) > 0.95).mean() > 0.5
    assert model.score(X[1::2], y[1::2]) > 0.95


def simulate_coverage(kind, d, sizes, level, n_repeats):
    """Fraction of true posteriors inside their interval: Gaussian classes, unshrunk."""
    rng = np.random.default_rng([d, *sizes])
    inside = []
    for _ in range(n_repeats):
        A = [np.eye(d) + 0.4 * rng.normal(size=(d, d)) / np.sqrt(d) for _ in range(2)]
        if kind == "shared":
            A[1] = A[0]
        means = [np.zeros(d), 1.5 * rng.normal(size=d) / np.sqrt(d)]
        y = np.repeat([0, 1], sizes)
        X = np.concatenate([m + rng.normal(size=(n, d)) @ a.T for m, a, n in zip(means, A, sizes, strict=True)])
        points = np.concatenate([m + rng.normal(size=(50, d)) @ a.T for m, a in zip(means, A, strict=True)])
        joint = [multivariate_normal(m, a @ a.T).logpdf(points) for m, a in zip(means, A, strict=True)]
        truth = softmax(np.stack(joint, axis=1) + np.log(np.array(sizes) / sum(sizes)), axis=1)[:, 1]
        plain = {"feature_map": None, "covariance_estimator": EmpiricalCovariance(), "calibration": None}
        model = ModeratedDiscriminantAnalysis(kind, **plain)
        lower, upper = model.fit(X, y).predict_proba_interval(points, level)
        inside.append(((lower[:, 1] <= truth) & (truth <= upper[:, 1])).mean())
    return 100 * float(np.mean(inside))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["own", "shared"])
@pytest.mark.parametrize("d", [2, 5, 10, 20])
def test_intervals_cover_what_they_promise(kind, d):
    for times, tolerance in ((4, 6), (10, 3), (40, 3)):
        for ratio in (1, 5):
            for level in (0.5, 0.9, 0.95):
                found = simulate_coverage(kind, d, (times * d, ratio * times * d), level, 150)
                # Three standard errors of so many repetitions, most of whose error is common to all points.
                assert abs(found - 100 * level) <= tolerance + 1.5, (kind, d, times, ratio, level, found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["own", "shared"])
def test_intervals_of_several_classes_cover_at_least_what_they_promise(kind):
    """From pairwise ends: conservative for more than two classes; the priors are given."""
    rng, d, n = np.random.default_rng(0), 3, 40
    priors, y = np.array([0.6, 0.3, 0.1]), np.repeat([0, 1, 2], n)
    inside = []
    for _ in range(150):
        A = np.eye(d) + 0.4 * rng.normal(size=(3, d, d)) / np.sqrt(d)
        A = A if kind == "own" else np.stack([A[0]] * 3)
        means = 1.5 * rng.normal(size=(3, d)) / np.sqrt(d)
        X, points = (
            np.concatenate([m + rng.normal(size=(k, d)) @ a.T for m, a in zip(means, A, strict=True)]) for k in (n, 30)
        )
        joint = [multivariate_normal(m, a @ a.T).logpdf(points) for m, a in zip(means, A, strict=True)]
        truth = softmax(np.stack(joint, axis=1) + np.log(priors), axis=1)
        model = ModeratedDiscriminantAnalysis(
            kind, feature_map=None, priors=priors, covariance_estimator=EmpiricalCovariance()
        )
        lower, upper = model.fit(X, y).predict_proba_interval(points, 0.9)
        inside.append(((lower <= truth) & (truth <= upper)).mean())
    assert 0.87 <= np.mean(inside) <= 0.99

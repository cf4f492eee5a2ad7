"""The classifier as an estimator: scikit-learn's checks, special cases, thresholds, weights, types and bad input."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from kinds import SETTINGS, blobs
from scikit_learn_checks import scikit_learn_checks
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn import __version__ as sklearn_version
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, GraphicalLasso, LedoitWolf, MinCovDet, ledoit_wolf
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from optiscore import OptimisticScoreClassifier, RidgeCovariance, clt_radius, empirical_radius, log_score
from optiscore.scores import LIKELIHOODS

SKLEARN = tuple(map(int, sklearn_version.split(".")[:2]))


@scikit_learn_checks(
    *(OptimisticScoreClassifier(likelihood, decision_rule=rule) for likelihood, rule in SETTINGS),
    OptimisticScoreClassifier(radius=0.3, pooling=0.5),
    OptimisticScoreClassifier(radius="empirical"),
    OptimisticScoreClassifier(covariance_estimator=RidgeCovariance()),
    RidgeCovariance(),
)
@pytest.mark.filterwarnings("ignore:decision_rule='prior' gives all")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def grid(X, n=1000):
    """A grid of a million points around two-dimensional data."""
    low, high = X.min(axis=0) - 3, X.max(axis=0) + 3
    axes = [np.linspace(a, b, n) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["prior", "minimax"])
def test_radius_zero_is_qda(n_classes, rule):
    X, y = blobs(n_classes, d=2)
    ours = OptimisticScoreClassifier(radius=0, decision_rule=rule, covariance_estimator=EmpiricalCovariance())
    ours.fit(X, y)
    points = grid(X)
    # scikit-learn's QDA with these covariances, which its older versions cannot be asked for.
    densities = [multivariate_normal(X[y == c].mean(axis=0), np.cov(X[y == c].T, bias=True)) for c in range(n_classes)]
    log_joint = np.stack([density.logpdf(points) for density in densities], axis=1) + np.log(np.bincount(y) / len(y))
    np.testing.assert_array_equal(ours.predict(points), log_joint.argmax(axis=1))
    np.testing.assert_allclose(ours.predict_proba(points), softmax(log_joint, axis=1), atol=1e-8)
    if n_classes == 2:
        expected = log_joint[:, 1] - log_joint[:, 0]
        np.testing.assert_allclose(ours.decision_function(points), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.skipif(SKLEARN < (1, 8), reason="scikit-learn's QDA takes no covariance estimator before 1.8")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_radius_zero_is_scikit_learns_qda(n_classes):
    """With the same covariances; what its own are divided by, n or n - 1, depends on its version."""
    X, y = blobs(n_classes, d=2)
    ours = OptimisticScoreClassifier(radius=0, decision_rule="prior", covariance_estimator=EmpiricalCovariance())
    qda = QuadraticDiscriminantAnalysis(solver="eigen", covariance_estimator=EmpiricalCovariance()).fit(X, y)
    np.testing.assert_allclose(ours.fit(X, y).predict_proba(grid(X)), qda.predict_proba(grid(X)), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_radius_zero_and_full_pooling_is_lda(n_classes):
    X, y = blobs(n_classes, d=2)
    ours = OptimisticScoreClassifier(
        radius=0, decision_rule="prior", pooling=1, covariance_estimator=EmpiricalCovariance()
    )
    lda = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=EmpiricalCovariance())
    ours.fit(X, y), lda.fit(X, y)
    points = grid(X)
    np.testing.assert_array_equal(ours.predict(points), lda.predict(points))
    np.testing.assert_allclose(ours.predict_proba(points), lda.predict_proba(points), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_radius_zero_nonparametric_is_the_mahalanobis_classifier(n_classes):
    X, y = blobs(n_classes, d=2)
    tau = 1.0 if n_classes == 2 else np.ones(3)
    ours = OptimisticScoreClassifier("nonparametric", radius=0, decision_rule=tau).fit(X, y)
    points = grid(X)
    squares = np.stack(
        [
            np.einsum("ij,jk,ik->i", points - m, np.linalg.inv(S), points - m)
            for m, S in zip(ours.means_, ours.covariances_, strict=True)
        ]
    )
    np.testing.assert_array_equal(ours.predict(points), squares.argmin(axis=0))
    np.testing.assert_allclose(ours.log_score_bounds(points)[1], -np.log1p(squares).T, rtol=1e-8)


def test_baselines_are_settings():
    X, y = blobs(2)
    for estimator, formula in (
        (RidgeCovariance(0.7), lambda Z: np.cov(Z.T, bias=True) + 0.7 * np.eye(3)),
        (GraphicalLasso(0.2), lambda Z: GraphicalLasso(0.2).fit(Z).covariance_),
        (LedoitWolf(), lambda Z: LedoitWolf().fit(Z).covariance_),
    ):
        model = OptimisticScoreClassifier(radius=0, covariance_estimator=estimator).fit(X, y)
        assert not hasattr(estimator, "covariance_")
        for c in (0, 1):
            np.testing.assert_allclose(model.covariances_[c], formula(X[y == c]), rtol=1e-10, atol=1e-12)


def test_location_of_the_covariance_estimator_is_honoured():
    X, y = blobs(2)
    robust = MinCovDet(random_state=0)
    model = OptimisticScoreClassifier(covariance_estimator=robust).fit(X, y)
    np.testing.assert_array_equal(model.means_[1], clone(robust).fit(X[y == 1]).location_)


def test_default_covariance_is_ledoit_wolf_on_standardised_features():
    X, y = blobs(2, d=4)
    X *= [1e8, 1.0, 0.1, 1e-5]
    model = OptimisticScoreClassifier().fit(X, y)
    for c in (0, 1):
        scaler = StandardScaler().fit(X[y == c])
        expected = ledoit_wolf(scaler.transform(X[y == c]))[0] * scaler.scale_ * scaler.scale_[:, None]
        np.testing.assert_allclose(model.covariances_[c], expected, rtol=1e-10)


def test_fitted_attributes():
    X, y = blobs(3)
    labels = np.array(["ant", "bee", "cat"])[y]
    model = OptimisticScoreClassifier(pooling=0.25).fit(pd.DataFrame(X, columns=list("abc")), labels)
    sizes = np.bincount(y)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    np.testing.assert_allclose(model.priors_, sizes / sizes.sum())
    np.testing.assert_allclose(model.radii_, [clt_radius(n, 3) for n in sizes])
    assert model.means_.shape == (3, 3)
    assert model.covariances_.shape == (3, 3, 3)
    assert model.offsets_.shape == (3,)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    plain = OptimisticScoreClassifier().fit(X, labels)
    # One Ledoit-Wolf intensity for the deviations of all samples from the mean of their class.
    deviations = X - plain.means_[y]
    spread = deviations.std(axis=0)
    shared = ledoit_wolf(deviations / spread, assume_centered=True)[0] * spread * spread[:, None]
    np.testing.assert_allclose(model.covariances_, 0.75 * plain.covariances_ + 0.25 * shared)


def test_kinds_of_radius():
    X, y = blobs(2)
    labels = np.where(y == 1, "yes", "no")

    def radii(radius, **more):
        return OptimisticScoreClassifier(radius=radius, **more).fit(X, labels).radii_.tolist()

    assert radii(0.3) == [0.3, 0.3]
    assert radii([0.1, 0.4]) == [0.1, 0.4]
    assert radii({"yes": 0.4, "no": 0.1}) == [0.1, 0.4]
    assert radii("clt", quantile=0.9) == [clt_radius(n, 3, 0.9) for n in np.bincount(y)]
    model = OptimisticScoreClassifier(radius="empirical", quantile=0.9).fit(X, labels)
    expected = [
        empirical_radius(X[y == c], 0.9, mean=model.means_[c], covariance=model.covariances_[c]) for c in (0, 1)
    ]
    assert model.radii_.tolist() == expected


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_outputs_agree_with_each_other(likelihood, rule, n_classes):
    X, y = blobs(n_classes, n=200)
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    points = np.random.default_rng(0).normal(scale=6, size=(500, 3))
    labels, proba, decision = model.predict(points), model.predict_proba(points), model.decision_function(points)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(proba.clip(1e-300)), model.predict_log_proba(points).clip(-690), atol=1e-9)
    if n_classes == 2:
        np.testing.assert_array_equal(labels, (decision >= 0).astype(int))
        np.testing.assert_allclose(np.log(proba[:, 1] / proba[:, 0]), decision, atol=1e-6)
    else:
        assert decision.shape == (500, n_classes)
        np.testing.assert_array_equal(labels, decision.argmax(axis=1))
    np.testing.assert_array_equal(proba[np.arange(500), labels], proba.max(axis=1))


def test_two_class_decision_is_the_log_ratio():
    X, y = blobs(2)
    tau = 2.5
    model = OptimisticScoreClassifier(decision_rule=tau).fit(X, y)
    scores = [log_score(X, model.means_[c], model.covariances_[c], model.radii_[c]) for c in (0, 1)]
    np.testing.assert_allclose(model.decision_function(X), scores[1] - scores[0] - np.log(tau), rtol=1e-9, atol=1e-9)
    several = OptimisticScoreClassifier(decision_rule=[1.0, tau]).fit(X, y)
    np.testing.assert_array_equal(several.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_tuned_is_at_least_as_good_as_no_offset_and_prior(likelihood, n_classes):
    for seed in range(5):
        X, y = blobs(n_classes, seed=seed)
        no_offset = np.ones(n_classes)
        tuned, plain, prior = (
            OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y).score(X, y)
            for rule in ("tuned", no_offset, "prior")
        )
        assert tuned >= max(plain, prior)


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_whole_weights_are_repetitions(likelihood, rule, n_classes):
    X, y = blobs(n_classes)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, size=len(y))
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule, radius="empirical" if n_classes == 2 else "clt")
    weighted = clone(model).fit(X, y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    for name in ("means_", "covariances_", "priors_", "radii_", "offsets_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame])
def test_frames(container):
    X, y = blobs(3)
    frame = container({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = OptimisticScoreClassifier().fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.predict(frame), OptimisticScoreClassifier().fit(X, y).predict(X))


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_float32_is_kept(likelihood, rule):
    X, y = blobs(3, n=300)
    single = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X.astype(np.float32), y)
    double = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    points = X[::3].astype(np.float32)
    for method in ("decision_function", "predict_proba", "predict_log_proba", "certified_factor"):
        assert getattr(single, method)(points).dtype == np.float32
    for pair in (single.log_score_bounds(points), single.predict_proba_bounds(points)):
        assert pair[0].dtype == pair[1].dtype == np.float32
    np.testing.assert_allclose(single.predict_proba(points), double.predict_proba(points), atol=2e-3)


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_many_samples_take_the_table_and_few_the_exact_solve(likelihood):
    X, y = blobs(2)
    model = OptimisticScoreClassifier(likelihood, decision_rule="minimax").fit(X, y)
    points = np.random.default_rng(0).normal(scale=5, size=(70_001, 3))
    many = model.decision_function(points)
    few = np.concatenate([model.decision_function(part) for part in np.array_split(points, 20)])
    np.testing.assert_allclose(many, few, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(points), (many >= 0).astype(int))


def test_as_an_estimator():
    X, y = load_iris(return_X_y=True)
    model = OptimisticScoreClassifier("nonparametric", radius=0.2)
    assert model.get_params()["likelihood"] == "nonparametric"
    assert clone(model).set_params(likelihood="gaussian").get_params()["likelihood"] == "gaussian"
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, y).mean() > 0.9
    search = GridSearchCV(
        OptimisticScoreClassifier(), {"likelihood": list(LIKELIHOODS), "radius": [0, 0.1, "clt"]}, cv=3
    )
    assert search.fit(X, y).best_score_ > 0.9
    assert OptimisticScoreClassifier(LIKELIHOODS["fixed-mean"]).fit(X, y).score(X, y) > 0.9
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"likelihood": "laplace"}, "likelihood must be one of"),
        ({"radius": "small"}, "radius must be 'clt', 'empirical', a number"),
        ({"radius": -1}, "radius must be >= 0"),
        ({"radius": np.nan}, "radius must hold finite numbers"),
        ({"radius": 1e300}, "at most 1e"),
        ({"radius": [0.1]}, "radius must hold one number for each of the 2 classes"),
        ({"radius": {0: 0.1}}, "radius must have one entry per class"),
        ({"radius": {0: 0.1, 5: 0.1}}, "radius must have one entry per class"),
        ({"quantile": 1.5}, "quantile must lie strictly between 0 and 1"),
        ({"decision_rule": "best"}, "decision_rule must be 'tuned', 'prior', 'minimax'"),
        ({"decision_rule": 0}, "decision_rule must be"),
        ({"decision_rule": [1, 2, 3]}, "decision_rule must be"),
        ({"decision_rule": np.nan}, "decision_rule must be"),
        ({"decision_rule": [[1], [1, 2]]}, "decision_rule must be"),
        ({"quantile": None}, "quantile must lie strictly between 0 and 1"),
        ({"covariance_estimator": "ledoit"}, "covariance_estimator must be None or an estimator object"),
        ({"covariance_estimator": LedoitWolf}, "covariance_estimator must be None or an estimator object"),
        ({"covariance_estimator": RidgeCovariance("a")}, "ridge must be a finite number"),
        ({"priors": [0.5, 0.6]}, "priors must be positive and sum to 1"),
        ({"priors": [1.0, 0.0]}, "priors must be positive and sum to 1"),
        ({"priors": [0.2, 0.3, 0.5]}, "priors must hold one number for each of the 2 classes"),
        ({"pooling": 1.5}, "pooling must be a number between 0 and 1"),
        ({"pooling": "all"}, "pooling must be a number between 0 and 1"),
        ({"covariance_estimator": StandardScaler()}, "it is no covariance estimator"),
        ({"covariance_estimator": RidgeCovariance(-1)}, "ridge must be a finite number"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = blobs(2)
    with pytest.raises(ValueError, match=message):
        OptimisticScoreClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("seed", [28, 50, 3, 4])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_copies_of_a_sample_are_not_parted(seed, n_classes):
    """Contradictory duplicates: their scores differ by rounding, which must not decide anything."""
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 3, size=(12, 11)) * 0.3
    X, y = places[rng.integers(12, size=150)], rng.integers(n_classes, size=150)
    weight = rng.integers(1, 4, size=150)
    model = OptimisticScoreClassifier(radius=0.1).fit(X, y, sample_weight=weight)
    repeated = OptimisticScoreClassifier(radius=0.1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(repeated.offsets_, model.offsets_, atol=1e-9)
    units = 10.0 ** rng.integers(-5, 5, size=11)
    scaled = OptimisticScoreClassifier(radius=0.1).fit(X * units, y, sample_weight=weight)
    np.testing.assert_allclose(scaled.predict_proba(X * units), model.predict_proba(X), atol=1e-8)
    labels = model.predict(X)
    for place in places:
        assert len(set(labels[(place == X).all(axis=1)])) <= 1
    np.testing.assert_array_equal([model.predict(x[None, :])[0] for x in X], labels)


def test_a_failed_fit_leaves_the_old_model():
    X, y = blobs(2)
    model = OptimisticScoreClassifier().fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="at least two classes"):
        model.fit(X[:, :2], np.zeros(len(y)))
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_concurrent_predictions_leave_blas_as_it_was():
    X, y = blobs(2, d=20, n=400)
    model = OptimisticScoreClassifier(radius=0.1).fit(X, y)
    points = np.random.default_rng(0).normal(size=(30_000, 20))
    expected = model.predict(points)
    before = [library["num_threads"] for library in threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(lambda _: model.predict(points), range(12)):
            np.testing.assert_array_equal(labels, expected)
    assert [library["num_threads"] for library in threadpool_info()] == before


@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only"])
def test_memory_layouts(layout):
    X, y = blobs(3)
    model = OptimisticScoreClassifier().fit(X, y)
    other = np.asfortranarray(X) if layout == "fortran" else np.repeat(X, 2, axis=0)[::2]
    other.flags.writeable = layout != "read-only"
    np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(X))


def test_one_threshold_does_not_do_for_three_classes():
    X, y = blobs(3)
    with pytest.raises(ValueError, match="one per class; got 1 for 3 classes"):
        OptimisticScoreClassifier(decision_rule=1).fit(X, y)


def test_estimators_without_weights_are_refused_with_weights():
    X, y = blobs(2)
    model = OptimisticScoreClassifier(covariance_estimator=LedoitWolf())
    with pytest.raises(ValueError, match="LedoitWolf does not support sample_weight"):
        model.fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-100, -1, 100], np.int8),
        np.array([-30_000, 1, 30_000], np.int16),
        np.array([0, 200, 255], np.uint8),
        np.array([2**64 - 3, 2**64 - 2, 2**64 - 1], np.uint64),
        np.array([-(2**63), 0, 2**63 - 1]),
    ],
)
def test_integer_labels_of_any_size(labels):
    X, y = blobs(3)
    model = OptimisticScoreClassifier().fit(X, labels[y])
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.classes_.dtype == labels.dtype
    np.testing.assert_array_equal(model.predict(X), labels[OptimisticScoreClassifier().fit(X, y).predict(X)])


def test_prior_that_gives_all_samples_to_one_class_warns():
    """The smaller class has the larger radius and wins everywhere."""
    rng = np.random.default_rng(0)
    y = (np.arange(540) < 46).astype(int)
    X = rng.normal(size=(540, 18)) + 0.3 * y[:, None]
    with pytest.warns(UserWarning, match="gives all training samples to class 1"):
        model = OptimisticScoreClassifier(decision_rule="prior").fit(X, y)
    assert set(model.predict(X)) == {1}
    with warnings.catch_warnings(action="error"):
        OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
        OptimisticScoreClassifier(radius=0, decision_rule="prior").fit(X, y)

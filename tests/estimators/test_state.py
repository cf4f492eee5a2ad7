"""Fitted attributes are the model: what is set changes predictions or raises, and copies predict the same bits."""

import copy
import pickle

import numpy as np
import pytest
from kinds import SETTINGS, blobs
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance
from sklearn.exceptions import NotFittedError

from optiscore import OptimisticScoreClassifier, OptimisticScoreClassifierCV, load, save

METHODS = ("predict", "predict_proba", "decision_function", "predict_set", "certified_factor")
PAIRS = ("predict_proba_bounds", "log_score_bounds")
ARRAYS = ("classes_", "class_count_", "priors_", "means_", "covariances_", "radii_", "offsets_")


def everything(model, X):
    """All that a model says of samples."""
    parts = [getattr(model, method)(X) for method in METHODS]
    return parts + [part for pair in PAIRS for part in getattr(model, pair)(X)]


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_arrays_are_read_only(likelihood, rule, n_classes):
    X, y = blobs(n_classes)
    fitted = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    search = OptimisticScoreClassifierCV(likelihood, decision_rule=rule, radii=[0.1]).fit(X, y)
    for model in (fitted, search, copy.deepcopy(fitted), pickle.loads(pickle.dumps(search))):
        for name in ARRAYS:
            with pytest.raises(ValueError, match="read-only"):
                getattr(model, name)[...] = 0


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_setting_an_attribute_changes_predictions_or_raises(likelihood, rule, n_classes):
    X, y = blobs(n_classes)
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    before = everything(model, X)
    new = {
        "classes_": np.arange(10, 10 + n_classes),
        "priors_": np.array([0.9, *[0.1 / (n_classes - 1)] * (n_classes - 1)]),
        "means_": model.means_ + 1,
        "covariances_": 2 * model.covariances_,
        "radii_": model.radii_ / 3,
        "offsets_": np.arange(n_classes, dtype=float),
        "class_count_": model.class_count_ * 2,
        "likelihood_": "gaussian" if likelihood != "gaussian" else "fixed-mean",
        "decision_rule_": "minimax" if rule != "minimax" else "prior",
    }
    for name, value in new.items():
        changed = copy.deepcopy(model)
        try:
            setattr(changed, name, value)
        except AttributeError:
            assert name == "class_count_" or (name == "offsets_" and rule in ("prior", "minimax"))
            continue
        assert not same(everything(changed, X), before), name
        setattr(changed, name, getattr(model, name))
        assert same(everything(changed, X), before), name


@pytest.mark.filterwarnings("ignore:decision_rule='prior' gives all")
@pytest.mark.parametrize("rule", ["prior", "minimax"])
def test_rules_by_priors_follow_the_priors(rule):
    X, y = blobs(3)
    model = OptimisticScoreClassifier(decision_rule=rule).fit(X, y)
    model.priors_ = np.array([0.98, 0.01, 0.01])
    asked = OptimisticScoreClassifier(decision_rule=rule, priors=[0.98, 0.01, 0.01]).fit(X, y)
    assert same(everything(model, X), everything(asked, X))
    np.testing.assert_array_equal(model.offsets_, np.log(model.priors_))


@pytest.mark.parametrize("is_view", [False, True])
def test_arrays_of_a_user_are_copied_when_they_are_first_needed(is_view):
    X, y = blobs(2)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    mine = np.array([0.5, 0.5])
    given = mine.view() if is_view else mine
    given.flags.writeable = not is_view
    model.priors_ = given
    mine[:] = 0.9, 0.1
    first = model.predict_proba(X)
    mine[:] = 0.1, 0.9
    assert (model.predict_proba(X) == first).all()
    assert model.priors_.tolist() == [0.9, 0.1]


@pytest.mark.parametrize("estimator", [OptimisticScoreClassifier(), OptimisticScoreClassifierCV(radii=[0.1])])
def test_a_failed_fit_leaves_nothing(estimator):
    X, y = blobs(3)
    model = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match="decision_rule must be"):
        model.set_params(decision_rule="best").fit(X[:, :2], np.where(y == 0, "a", "b"))
    left = {name for name in vars(model) if name.endswith("_")}
    assert left <= {"n_features_in_"}
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_block_that_spoils_the_model_is_told():
    """The model of all blocks has no positive definite covariance: the earlier one must not stand for it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    model = OptimisticScoreClassifier(decision_rule="prior", covariance_estimator=EmpiricalCovariance())
    model.partial_fit(X, y, [0, 1])
    model.partial_fit(X + 1e10 * rng.normal(size=(40, 1)), y)
    with pytest.raises(NotFittedError, match=r"too few samples.*not positive definite"):
        model.predict(X)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("priors_", np.array([0.5, 0.6]), "priors_ must be positive and sum to 1"),
        ("priors_", np.array([1.5, -0.5]), "priors_ must be positive and sum to 1"),
        ("priors_", np.array([np.nan, 0.5]), "priors_ must be finite"),
        ("priors_", np.ones(3) / 3, r"priors_ must be of shape \(2,\)"),
        ("priors_", [0.5, 0.5], "priors_ must be an array of floating-point numbers"),
        ("means_", np.zeros((3, 3)), r"means_ must be of shape \(2, 3\)"),
        ("means_", np.zeros(3), "means_ must be of shape"),
        ("covariances_", np.zeros((2, 3, 3)), r"covariances_\[0\] is not positive definite"),
        ("covariances_", np.ones((2, 2, 2)), "covariances_ must be of shape"),
        ("radii_", np.array([-1.0, 1.0]), "radii_ must lie between"),
        ("radii_", np.array([np.inf, 1.0]), "radii_ must be finite"),
        ("offsets_", np.array([np.nan, 1.0]), "offsets_ must be finite"),
        ("classes_", np.array([1, 1]), "classes_ must be distinct and in increasing order"),
        ("classes_", np.array([2, 1]), "classes_ must be distinct and in increasing order"),
        ("classes_", np.array([0.0, np.nan]), "classes_ must be finite"),
        ("classes_", np.array([0]), "classes_ must be an array of at least two labels"),
        ("classes_", [0, 1], "classes_ must be an array of at least two labels"),
        ("n_features_in_", 2, r"means_ must be of shape \(2, 2\)"),
        ("likelihood_", "laplace", "likelihood must be one of"),
        ("decision_rule_", "best", "decision_rule_ must be"),
    ],
)
def test_impossible_attributes_are_named(name, value, words):
    X, y = blobs(2)
    model = OptimisticScoreClassifier().fit(X, y)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=words):
        model.predict(X[:, : model.n_features_in_])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_copies_predict_the_same_bits(likelihood, rule, n_classes, tmp_path):
    X, y = blobs(n_classes)
    for model in (
        OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y),
        OptimisticScoreClassifierCV(likelihood, decision_rule=rule, radii=[0.1, 1]).fit(X, y),
    ):
        expected = everything(model, X)
        save(model, tmp_path / "model.skops")
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), load(tmp_path / "model.skops")):
            assert same(everything(other, X), expected)


def test_a_pickle_holds_parameters_and_public_attributes():
    X, y = blobs(3, d=3)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    public = {*ARRAYS, "likelihood_", "decision_rule_", "n_features_in_"} - {"offsets_"}
    assert set(model.__getstate__()) == {*model.get_params(), *public}
    assert set(clone(model).set_params(decision_rule="tuned").fit(X, y).__getstate__()) == {
        *model.get_params(),
        *public,
        "offsets_",
    }
    streamed = clone(model).partial_fit(X, y, [0, 1, 2])
    assert {name for name in streamed.__getstate__() if name.startswith("_")} == {"_sums"}


def test_class_counts_are_sums_of_weights():
    X, y = blobs(3)
    weight = np.random.default_rng(0).uniform(0, 3, len(y))
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y, weight)
    np.testing.assert_allclose(model.class_count_, np.bincount(y, weights=weight), rtol=1e-14)
    streamed = clone(model).partial_fit(X[:50], y[:50], [0, 1, 2], weight[:50])
    streamed.partial_fit(X[50:], y[50:], sample_weight=weight[50:])
    np.testing.assert_allclose(streamed.class_count_, model.class_count_, rtol=1e-14)

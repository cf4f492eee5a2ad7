"""partial_fit: the model of fit, whatever the blocks; and what happens before there are enough samples."""

import pickle

import numpy as np
import pytest
from blocks import assert_same_model
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, LedoitWolf, ShrunkCovariance
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.exceptions import NotFittedError

from optiscore import OptimisticScoreClassifier, RidgeCovariance, load, save

LABELS = np.array(["ash", "birch", "cedar"])


def make_data(seed=0, n=240, offset=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    y[:3] = [0, 1, 2]
    X = rng.standard_t(4, size=(n, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 20.0], [0.0, 0.0, 30.0]])
    return X + y[:, None] + offset, LABELS[y]


@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_any_blocks_in_any_order_give_the_model_of_fit(data):
    X, y = make_data(n=80)
    order = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1))).permutation(len(X))
    cuts = sorted(data.draw(st.lists(st.integers(1, len(X) - 1), max_size=6, unique=True)))
    weight = np.linspace(0.1, 2, len(X)) ** 3 if data.draw(st.booleans()) else None
    model = OptimisticScoreClassifier(decision_rule="minimax", pooling=0.2)
    whole = clone(model).fit(X, y, weight)
    for rows in np.split(order, cuts):
        model.partial_fit(X[rows], y[rows], LABELS, None if weight is None else weight[rows])
    assert_same_model(model, whole)


@pytest.mark.parametrize("rule", ["prior", "minimax", [1.0, 2.0, 3.0]])
@pytest.mark.parametrize(
    "estimator", [None, EmpiricalCovariance(), RidgeCovariance(0.3), ShrunkCovariance(shrinkage=0.2)]
)
def test_one_sample_at_a_time(rule, estimator):
    X, y = make_data(offset=1e4)
    model = OptimisticScoreClassifier(decision_rule=rule, covariance_estimator=estimator)
    whole = clone(model).fit(X, y)
    for i in range(len(X)):
        model.partial_fit(X[[i]], y[[i]], classes=LABELS)
    assert_same_model(model, whole)
    assert (model.predict(X) == whole.predict(X)).all()


@pytest.mark.parametrize("parameters", [{"likelihood": "best"}, {"pooling": 7}, {"radius": -1}, {"priors": [2]}])
def test_settings_are_checked_at_the_first_block(parameters):
    X, y = make_data()
    first = y == "ash"
    with pytest.raises(ValueError, match=next(iter(parameters))):
        OptimisticScoreClassifier(decision_rule="minimax", **parameters).partial_fit(X[first], y[first], LABELS)


def test_many_classes_are_no_reason_to_warn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1200, 2)), rng.integers(40, size=1200)
    model = OptimisticScoreClassifier(decision_rule="minimax")
    for rows in np.array_split(np.arange(1200), 40):
        model.partial_fit(X[rows], y[rows], np.arange(40))
    assert_same_model(model, OptimisticScoreClassifier(decision_rule="minimax").fit(X, y))


def test_streamed_quadratic_discriminant_analysis():
    X, y = make_data()
    qda = QuadraticDiscriminantAnalysis().fit(X, y)
    model = OptimisticScoreClassifier(radius=0, decision_rule="prior", covariance_estimator=EmpiricalCovariance())
    for rows in np.array_split(np.arange(len(X)), 9):
        model.partial_fit(X[rows], y[rows], LABELS)
    for label, found in zip(LABELS, model.covariances_, strict=True):
        np.testing.assert_allclose(found, np.cov(X[y == label].T, bias=True), rtol=1e-10)
    np.testing.assert_allclose(model.means_, qda.means_, rtol=1e-10)
    assert (model.predict(X) == qda.predict(X)).mean() > 0.99


def test_float32_blocks():
    X, y = make_data()
    X = X.astype(np.float32)
    model = OptimisticScoreClassifier(decision_rule="minimax")
    whole = clone(model).fit(X, y)
    for rows in np.array_split(np.arange(len(X)), 5):
        model.partial_fit(X[rows], y[rows], LABELS)
    assert_same_model(model, whole)
    assert model.predict_proba(X).dtype == np.float32


def test_fit_starts_anew():
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="minimax").partial_fit(X[:100], y[:100], LABELS)
    assert_same_model(model.fit(X, y), clone(model).fit(X, y), 0)


@pytest.mark.parametrize("through_file", [False, True])
def test_a_stored_model_goes_on(through_file, tmp_path):
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="minimax").partial_fit(X[:100], y[:100], LABELS)
    if through_file:
        save(model, tmp_path / "model.skops")
        copy = load(tmp_path / "model.skops")
    else:
        copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X) == model.predict(X)).all()
    assert_same_model(copy.partial_fit(X[100:], y[100:]), OptimisticScoreClassifier(decision_rule="minimax").fit(X, y))


def test_before_each_class_has_samples_the_model_says_so():
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="prior").partial_fit(X[y == "ash"], y[y == "ash"], LABELS)
    with pytest.raises(NotFittedError, match="no samples of class 'birch' yet"):
        model.predict(X)
    assert_same_model(
        model.partial_fit(X[y != "ash"], y[y != "ash"]), OptimisticScoreClassifier(decision_rule="prior").fit(X, y)
    )


def test_before_a_covariance_is_regular_the_model_says_so():
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="prior", covariance_estimator=EmpiricalCovariance())
    model.partial_fit(X[:6], y[:6], LABELS)
    with pytest.raises(NotFittedError, match="not positive definite"):
        model.predict_proba(X)
    assert (model.partial_fit(X[6:], y[6:]).predict(X) == clone(model).fit(X, y).predict(X)).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({}, "'tuned' compares scores of all training samples.*minimax"),
        ({"decision_rule": "prior", "radius": "empirical"}, "'empirical' needs all samples at once.*'clt'"),
        ({"decision_rule": "prior", "covariance_estimator": LedoitWolf()}, "LedoitWolf.*needs all samples"),
    ],
)
def test_what_needs_all_samples_is_refused(parameters, words):
    X, y = make_data()
    model = OptimisticScoreClassifier(**parameters)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match=words):
        model.partial_fit(X, y, LABELS)


@pytest.mark.parametrize("rule", ["tuned", "minimax", "prior"])
def test_fit_cannot_be_continued(rule):
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule=rule).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="cannot go on after fit, which keeps no sums"):
        model.set_params(decision_rule="minimax").partial_fit(X, y, LABELS)
    assert (model.predict_proba(X) == before).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X[:, :2], y, None), "features"),
        (lambda X, y: (X, np.where(y == "ash", "oak", y), None), "not in classes.*oak"),
        (lambda X, y: (X * np.nan, y, None), "NaN"),
        (lambda X, y: (X, y, -np.ones(len(y))), "sample_weight"),
        (lambda X, y: (X, y[1:], None), "inconsistent"),
    ],
)
def test_a_bad_block_changes_nothing(change, words):
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="minimax").partial_fit(X[:100], y[:100], LABELS)
    before = model.predict_proba(X)
    bad_X, bad_y, bad_weight = change(X[100:], y[100:])
    with pytest.raises(ValueError, match=words):
        model.partial_fit(bad_X, bad_y, sample_weight=bad_weight)
    assert (model.predict_proba(X) == before).all()
    assert_same_model(model.partial_fit(X[100:], y[100:]), OptimisticScoreClassifier(decision_rule="minimax").fit(X, y))


def test_a_bad_first_block_can_be_repeated():
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="minimax")
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(X, y, classes=["ash", "birch"])
    assert_same_model(model.partial_fit(X, y, LABELS), clone(model).fit(X, y))
    with pytest.raises(ValueError, match="not the same"):
        model.partial_fit(X, y, classes=["ash", "birch"])


def test_a_block_of_weight_zero_changes_nothing():
    X, y = make_data()
    model = OptimisticScoreClassifier(decision_rule="prior").partial_fit(X, y, LABELS)
    before = model.covariances_
    assert (model.partial_fit(X, y, sample_weight=np.zeros(len(X))).covariances_ == before).all()


def test_labels_keep_their_type():
    X, y = make_data()
    for labels in (y, y.astype(object), (y == "ash"), (y == "ash").astype(np.float32)):
        model = OptimisticScoreClassifier(decision_rule="prior").partial_fit(X, labels, classes=np.unique(labels))
        expected = OptimisticScoreClassifier(decision_rule="prior").fit(X, labels)
        assert model.classes_.dtype == expected.classes_.dtype
        assert model.predict(X).dtype == expected.predict(X).dtype


def test_samples_of_weight_zero_do_not_count():
    X, y = make_data()
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    spoiled = np.where(weight[:, None] > 0, X, 1e6)
    model = OptimisticScoreClassifier(decision_rule="prior")
    for rows in np.array_split(np.arange(len(X)), 4):
        model.partial_fit(spoiled[rows], y[rows], LABELS, weight[rows])
    assert_same_model(model, clone(model).fit(X[weight > 0], y[weight > 0]))

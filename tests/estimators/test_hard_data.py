"""Data that break a plain QDA: extreme scales, constant and collinear features, few samples, far points."""

import numpy as np
import pytest
from kinds import RULES, SETTINGS
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_iris

from optiscore import OptimisticScoreClassifier

# The rule is tried on purpose where it must not be used.
pytestmark = pytest.mark.filterwarnings("ignore:decision_rule='prior' gives all")


def finite_and_consistent(model, X):
    """All outputs are finite, and the label is the most probable one."""
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-5)
    assert np.isfinite(model.decision_function(X)).all()
    for pair in (model.log_score_bounds(X), model.predict_proba_bounds(X)):
        assert np.isfinite(pair).all()
        assert (pair[0] <= pair[1]).all()
    assert not np.isnan(model.certified_factor(X)).any()
    codes = np.searchsorted(model.classes_, model.predict(X))
    np.testing.assert_array_equal(proba[np.arange(len(X)), codes], proba.max(axis=1))


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
@pytest.mark.parametrize("units", [1e-100, 1e100, [1e8, 1.0, 0.1, 1e-8]])
def test_units_of_the_features_do_not_matter(likelihood, rule, units):
    X, y = load_iris(return_X_y=True)
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule)
    plain = model.fit(X, y).predict_proba(X)
    bounds = model.predict_proba_bounds(X)
    scaled = model.fit(X * units, y)
    np.testing.assert_allclose(scaled.predict_proba(X * units), plain, atol=1e-8)
    np.testing.assert_allclose(scaled.predict_proba_bounds(X * units), bounds, atol=1e-8)


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_far_points(likelihood, rule, dtype, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes].astype(dtype), y[y < n_classes]
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    largest = float(np.finfo(dtype).max)
    sizes = np.array([1e3, 1e15, 1e30, largest**0.5, largest**0.6, largest / 2])
    rays = np.random.default_rng(0).normal(size=(4, 4))
    rays /= np.abs(rays).max(axis=1, keepdims=True)
    far = (rays[:, None, :] * sizes[:, None]).reshape(-1, 4).astype(dtype)
    finite_and_consistent(model, far)
    if likelihood != "nonparametric":
        labels = model.predict(far).reshape(4, -1)
        assert (labels[:, 1:] == labels[:, -1:]).all(), "a decision changes along a ray that has left all classes"


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_constant_and_collinear_features(likelihood, rule):
    X, y = load_iris(return_X_y=True)
    constant_in_a_class = np.where(y == 0, 0.1, np.random.default_rng(0).normal(size=len(y)))
    X = np.column_stack([X, np.full(len(y), 0.1), constant_in_a_class, X[:, 0] - 2 * X[:, 1]])
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule).fit(X, y)
    finite_and_consistent(model, X)
    assert model.score(X, y) > 0.9
    units = np.array([1e6, 1, 1e-3, 1, 7, 1e4, 1e-5])
    np.testing.assert_allclose(model.fit(X * units, y).predict_proba(X * units), model.fit(X, y).predict_proba(X))


@pytest.mark.parametrize(("likelihood", "rule"), SETTINGS)
def test_fewer_samples_than_features(likelihood, rule):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), np.repeat([0, 1], 6)
    X[y == 1] += 2
    model = OptimisticScoreClassifier(likelihood, decision_rule=rule, radius="empirical").fit(X, y)
    finite_and_consistent(model, rng.normal(size=(50, 40)))
    # With radii this large the nonparametric score is 1 for all points: they tie, as the documentation warns.
    assert model.score(X, y) == (1.0 if likelihood != "nonparametric" or rule == "minimax" else 0.5)


def test_one_sample_of_a_class():
    X, y = load_iris(return_X_y=True)
    X, y = np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]]), np.append(y, 7)
    model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
    finite_and_consistent(model, X)
    assert model.predict([[9.0, 9.0, 9.0, 9.0]]) == 7


@pytest.mark.parametrize(("dtype", "spread"), [(np.float32, 1e-19), (np.float64, 1e-150)])
def test_a_class_so_narrow_that_only_its_distances_overflow(dtype, spread):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 2)) * np.array([spread, 1, 1])[y][:, None] + np.array([[0, 0], [0, 3], [3, 0]])[y]
    X = X.astype(dtype)
    assert OptimisticScoreClassifier(radius=0.1, decision_rule="prior").fit(X, y).score(X, y) > 0.95


def test_one_feature_and_fifty_classes():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50), 20)
    for d in (1, 3):
        X = y[:, None] * 2.0 + rng.normal(scale=0.3, size=(len(y), d))
        for rule in RULES:
            model = OptimisticScoreClassifier(decision_rule=rule, radius=0.1).fit(X, y)
            finite_and_consistent(model, X)
            assert model.score(X, y) > 0.95


def test_a_singular_covariance_is_refused_by_class_and_cure():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match=r"covariance of class .*0.* \(50 samples\) is not positive definite.*pooling"):
        OptimisticScoreClassifier(covariance_estimator=EmpiricalCovariance()).fit(X, y)


def test_features_whose_squares_overflow_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="exceeds the range of floating-point numbers; rescale"):
        OptimisticScoreClassifier().fit(X * 1e200, y)

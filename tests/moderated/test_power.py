"""The power map: that of scikit-learn, with weights, and finite far outside."""

import numpy as np
import pytest
from scikit_learn_checks import scikit_learn_checks
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import PowerTransformer, StandardScaler

from optiscore import PowerMap


@scikit_learn_checks(PowerMap())
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_equals_scikit_learn():
    X, _ = load_breast_cancer(return_X_y=True)
    expected = PowerTransformer().fit_transform(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(PowerMap().fit_transform(X), expected, atol=1e-6)


def test_integer_weights_are_repetitions():
    X, _ = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    weighted, repeated = PowerMap().fit(X, sample_weight=weight), PowerMap().fit(np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_far_outside_is_one_width_away(dtype):
    X = np.random.default_rng(0).exponential(size=(200, 2)).astype(dtype)
    model = PowerMap().fit(X)
    Z = model.transform(X)
    far = model.transform(np.array([[1e30, -1e30], [-1e30, 1e30]], dtype=dtype))
    assert far.dtype == Z.dtype == dtype
    width = np.ptp(Z, axis=0)
    np.testing.assert_allclose(far[0], [Z[:, 0].max() + width[0], Z[:, 1].min() - width[1]], rtol=1e-5)


def test_constant_features_stay():
    X = np.c_[np.full(10, 1e9), np.arange(10.0)]
    Z = PowerMap().fit_transform(X)
    assert np.isfinite(Z).all()
    assert not Z[:, 0].any()

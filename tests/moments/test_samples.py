"""Moments of samples in memory with many features: those of the sums that merge, whatever the samples."""

import numpy as np
import pytest

from optiscore import ModeratedDiscriminantAnalysis, OptimisticScoreClassifier
from optiscore.moments import labelled
from optiscore.moments.labelled import TrainingSet
from optiscore.moments.samples import MANY_FEATURES, SampleMoments, moments_of_classes


def make_samples(d=MANY_FEATURES, n=600, dtype=np.float64):
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=n)
    X = rng.standard_t(6, size=(n, d)) @ rng.normal(size=(d, d)) + 1e3 * codes[:, None]
    X[:, 3] = 7.0
    X[codes == 1, 5] = -2.0
    return X.astype(dtype), codes


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_moments_are_those_of_sums(dtype, weighted, threads):
    X, codes = make_samples(dtype=dtype)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X)) if weighted else None
    training = TrainingSet(X, codes, np.arange(3), weight)
    found = moments_of_classes(X, weight, training._members(), threads)
    factor = np.random.default_rng(2).uniform(size=X.shape[1])
    pooled = [sum(each[1:], each[0]) for each in ([m.centred() for m in found], [s.centred() for s in training.sums()])]
    for moments, sums in (*zip(found, training.sums(), strict=True), pooled):
        assert isinstance(moments, SampleMoments)
        np.testing.assert_allclose(moments.weight_sum, sums.weight_sum, rtol=1e-12)
        np.testing.assert_allclose(moments.mean, sums.mean, rtol=1e-12, atol=1e-9)
        np.testing.assert_array_equal(moments.is_constant, sums.is_constant)
        scale = np.sqrt(np.outer(np.diagonal(sums.covariance), np.diagonal(sums.covariance)))
        assert (np.abs(moments.covariance - sums.covariance) <= 1e-10 * scale + 1e-20).all()
        np.testing.assert_allclose(moments.fourth() * moments.unit**4, sums.fourth() * sums.unit**4, rtol=1e-9)
        by_unit = factor * np.where(sums.is_constant, 0, 1)
        np.testing.assert_allclose(moments.fourth_length(by_unit), sums.fourth_length(by_unit), rtol=1e-9)
        np.testing.assert_allclose(moments.kurtosis(), sums.kurtosis(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-70, 1e70])
def test_samples_beyond_the_range_of_fourth_powers_are_left_to_the_sums(factor):
    X, codes = make_samples()
    training = TrainingSet(X * factor, codes, np.arange(3), None)
    assert moments_of_classes(training.X, None, training._members(), 1) is None
    assert all(type(known.sums).__name__ == "MomentSums" for known in training.by_class())


@pytest.mark.parametrize("model", [OptimisticScoreClassifier(decision_rule="minimax"), ModeratedDiscriminantAnalysis()])
def test_classifiers_do_not_depend_on_the_way_to_the_moments(model, monkeypatch):
    X, codes = make_samples()
    wide = model.fit(X, codes).predict_proba(X)
    monkeypatch.setattr(labelled, "MANY_FEATURES", X.shape[1] + 1)
    np.testing.assert_allclose(model.fit(X, codes).predict_proba(X), wide, rtol=1e-7, atol=1e-12)

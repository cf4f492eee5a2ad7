"""The tuned threshold: the best of all, by trying every one, with ties, weights and both precisions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optiscore import OptimisticScoreClassifier
from optiscore.robust import tuning
from optiscore.robust.tuning import _Rivals, best_threshold, representatives, tuned_offsets


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1))
def test_tuned_threshold_is_the_best_of_all(seed):
    """The paper's equation for tau*, by trying every threshold."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    y[:4] = [0, 0, 1, 1]
    weight = rng.integers(1, 4, size=30)
    model = OptimisticScoreClassifier().fit(X, y, sample_weight=weight)
    best = model.log_score_bounds(X)[1]
    ratio = best[:, 1] - best[:, 0]
    reached = [weight[(ratio >= t) == (y == 1)].sum() for t in np.append(ratio, np.inf)]
    assert weight[model.predict(X) == y].sum() == max(reached)


@given(st.integers(0, 10**6), st.sampled_from([np.float64, np.float32]), st.sampled_from([None, 0, 1]))
@settings(max_examples=300, deadline=None)
def test_best_threshold_by_trying_all(seed, dtype, decimals):
    """With and without weights, in both precisions, with many ties and with none."""
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 60)
    ratio = rng.normal(size=n) * rng.choice([0.1, 1, 100])
    ratio = (ratio if decimals is None else ratio.round(decimals)).astype(dtype)
    positive = rng.normal(size=n) * rng.choice([0.1, 3]) + ratio > 0
    reached = max(((ratio >= t) == positive).sum() for t in np.append(ratio, np.inf))
    for weight in (None, np.ones(n)):
        threshold, right = best_threshold(ratio, positive, weight)
        assert right == reached == ((ratio >= threshold) == positive).sum()


def test_thresholds_between_adjacent_numbers():
    near = np.array([1.0, np.nextafter(1, 2)])
    threshold, right = best_threshold(near, np.array([False, True]))
    assert right == 1
    assert not (threshold > 1) & (threshold <= near[1])
    assert best_threshold(np.array([1.0, 2.0]), np.array([True, True])) == pytest.approx((0.0, 2.0), abs=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rivals_after_a_move_are_those_made_anew(dtype):
    rng = np.random.default_rng(0)
    optimistic, offsets, codes = rng.normal(size=(6, 400)).astype(dtype), rng.normal(size=6), rng.integers(6, size=400)
    kept = _Rivals(optimistic, codes, offsets)
    for c, change in ((2, 0.7), (2, -1.5), (5, 3.0), (0, -9.0)):
        offsets = np.where(np.arange(6) == c, offsets + change, offsets)
        kept.move(c, float(offsets[c]))
        anew = _Rivals(optimistic, codes, offsets)
        np.testing.assert_allclose(kept.own, anew.own, rtol=1e-6)
        np.testing.assert_array_equal(kept.are_right(), anew.are_right())
        for each in range(6):
            np.testing.assert_allclose(kept.without(each), anew.without(each), rtol=1e-6)


def right(optimistic, codes, offsets, weight=None):
    hits = (optimistic + offsets[:, None]).argmax(axis=0) == codes
    return hits.sum() if weight is None else weight[hits].sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_many_samples_of_several_classes_are_tuned_as_well_as_few(weighted, monkeypatch):
    """A start from some samples and one round over all reach what rounds over all would."""
    rng = np.random.default_rng(0)
    codes = rng.choice(5, p=[0.5, 0.2, 0.15, 0.1, 0.05], size=100_000)
    optimistic = rng.normal(size=(5, len(codes))) + 1.2 * (codes == np.arange(5)[:, None]) + rng.normal(size=(5, 1))
    weight = rng.uniform(0.5, 2, len(codes)) if weighted else None
    priors = np.full(5, 0.2)
    reached = right(optimistic, codes, tuned_offsets(optimistic, codes, priors, weight), weight)
    monkeypatch.setattr(tuning, "_MANY", 10**9)
    assert reached >= right(optimistic, codes, tuned_offsets(optimistic, codes, priors, weight), weight) - 2e-4 * len(
        codes
    )


@pytest.mark.parametrize("n_classes", [3, 5, 8])
@pytest.mark.parametrize("n", [60, 400, 2000])
def test_renaming_classes_renames_tuned_offsets(n, n_classes):
    rng = np.random.default_rng(n + n_classes)
    codes = rng.integers(n_classes, size=n)
    optimistic = rng.normal(size=(n_classes, n)) + 1.5 * (codes == np.arange(n_classes)[:, None])
    priors = np.bincount(codes, minlength=n_classes) / n
    offsets = tuned_offsets(optimistic, codes, priors)
    order = rng.permutation(n_classes)
    renamed = tuned_offsets(optimistic[order], np.argsort(order)[codes], priors[order])
    np.testing.assert_allclose(renamed - renamed[0], offsets[order] - offsets[order][0], rtol=1e-12, atol=1e-12)


def test_ties_are_nobodys():
    """Where all scores are the same, no class is favoured for its name."""
    codes = np.array([0] * 3 + [1] * 5 + [2] * 4)
    offsets = tuned_offsets(np.zeros((3, 12)), codes, np.array([3, 5, 4]) / 12)
    assert offsets.argmax() == 1


@pytest.mark.parametrize("size", [0.0, 1e-320, 1e-300, 1e300, 1.7e308])
def test_many_ratios_of_any_size(size):
    rng = np.random.default_rng(0)
    positive = rng.random(8_192) < 0.5
    ratio = size * np.where(positive, rng.uniform(0, 1, positive.size), rng.uniform(-1, 0.2, positive.size))
    threshold, right = best_threshold(ratio, positive)
    assert right == ((ratio >= threshold) == positive).sum()


def test_rare_classes_keep_their_samples_when_others_are_thinned_out():
    codes = np.repeat([0, 1, 2], [300_000, 100_000, 400])
    rows, weight = representatives(codes, 3, None)
    kept = np.bincount(codes[rows])
    assert kept.tolist() == [60_000, 20_000, 400]
    np.testing.assert_allclose(np.bincount(codes[rows], weight), [300_000, 100_000, 400])
    rows_of_few, weight_of_few = representatives(codes[:100_000], 3, None)
    assert weight_of_few is None
    np.testing.assert_array_equal(rows_of_few, np.arange(100_000))
    given = np.full(codes.size, 2.0)
    np.testing.assert_allclose(np.bincount(codes[rows], representatives(codes, 3, given)[1]), [600_000, 200_000, 800])

"""Sums that merge: exact moments whatever the order, the size and the scale of the parts."""

from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import ledoit_wolf
from sklearn.preprocessing import StandardScaler

from optiscore import MomentSums
from optiscore.moments.estimates import shrunk_covariance_of


def shrunk(sums, fallback_scale):
    return shrunk_covariance_of(sums, fallback_scale).covariance


def features_of(sums):
    """Everything that the sums tell, in units that do not depend on how they were made."""
    second, fourth = sums._central
    square = sums.unit * sums.unit[:, None]
    return [np.array([sums.weight_sum]), sums.mean, second * square, fourth * square**2, sums.lowest, sums.highest]


def assert_same(one, other, tolerance=1e-10):
    """Entries differ by no more than a fraction of the geometric mean of their diagonals."""
    for a, b in zip(features_of(one), features_of(other), strict=True):
        scale = np.sqrt(np.abs(np.diagonal(b) * np.diagonal(b)[:, None])) if b.ndim == 2 else np.abs(b)
        assert (np.abs(a - b) <= tolerance * scale + 1e-300).all()


def heavy(seed, n=300, d=4):
    """Skewed heavy-tailed samples in unlike units, away from 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, d)) + rng.exponential(size=(n, 1))
    return X * np.array([1.0, 1e-6, 1e5, 3.0])[:d] + np.array([0.0, 1.0, -1e6, 50.0])[:d]


def test_moments_equal_those_of_the_samples():
    X, weight = heavy(0), np.random.default_rng(1).uniform(0.1, 3, size=300)
    for w in (None, weight):
        sums = MomentSums.from_samples(X, w)
        centred = X - np.average(X, axis=0, weights=w)
        covariance = np.cov(X.T, bias=True, aweights=w)
        fourth = np.average(centred[:, :, None] ** 2 * centred[:, None, :] ** 2, axis=0, weights=w)
        assert sums.weight_sum == pytest.approx(len(X) if w is None else w.sum(), rel=1e-14)
        np.testing.assert_allclose(sums.mean, np.average(X, axis=0, weights=w), rtol=1e-13)
        scale = np.sqrt(np.diagonal(covariance))
        np.testing.assert_allclose(
            sums.covariance / scale / scale[:, None], covariance / scale / scale[:, None], rtol=0, atol=1e-12
        )
        square = sums.unit * sums.unit[:, None]
        np.testing.assert_allclose(sums._central[1] * square**2, fourth, rtol=1e-9)


def test_ledoit_wolf_equals_that_of_scikit_learn_on_standardised_samples():
    for seed in range(5):
        X = heavy(seed, n=200) @ np.triu(np.ones((4, 4)))
        scaler = StandardScaler().fit(X)
        expected, shrinkage = ledoit_wolf(scaler.transform(X))
        expected *= scaler.scale_ * scaler.scale_[:, None]
        found = shrunk(reduce(add, map(MomentSums.from_samples, np.array_split(X, 7))), np.ones(4))
        assert 0 < shrinkage < 1
        np.testing.assert_allclose(found, expected, rtol=1e-10)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 299), min_size=2, max_size=8, unique=True), st.booleans())
def test_merging_is_associative_and_commutative(seed, cuts, weighted):
    X, rng = heavy(seed), np.random.default_rng(seed)
    weight = rng.exponential(size=len(X)) ** 4 if weighted else None
    edges = [0, *sorted(cuts), len(X)]
    ranges = [slice(a, b) for a, b in pairwise(edges) if b > a]
    parts = [MomentSums.from_samples(X[r], None if weight is None else weight[r]) for r in ranges]
    from_left = reduce(add, parts)
    from_right = reduce(lambda later, earlier: earlier + later, reversed(parts))
    shuffled = reduce(add, [parts[i] for i in rng.permutation(len(parts))])
    for merged in (from_left, from_right, shuffled):
        assert_same(merged, MomentSums.from_samples(X, weight))


@pytest.mark.parametrize("n", [50, 20_000])
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, -1e8])
def test_an_offset_costs_no_digits(n, offset):
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_t(4, size=(n, 3)) * 2**20) / 2**20
    # Multiples of 2**-20 are exact at either place.
    reference = np.cov(X.T, bias=True)
    for parts in (1, 7, n // 10):
        sums = reduce(add, map(MomentSums.from_samples, np.array_split(X + offset, parts)))
        np.testing.assert_allclose(sums.covariance, reference, rtol=1e-8, atol=1e-8 * reference.max() * 1e-2)
        np.testing.assert_allclose(
            shrunk(sums, np.ones(3)),
            shrunk(MomentSums.from_samples(X), np.ones(3)),
            rtol=1e-8,
        )


@pytest.mark.parametrize("scale", [1e-150, 1e-80, 1e80, 1e150])
def test_no_scale_over_or_underflows(scale):
    X = heavy(0, d=2) * [1, 1e6]
    reference = MomentSums.from_samples(X)
    sums = reduce(add, map(MomentSums.from_samples, np.array_split(X * scale, 9)))
    np.testing.assert_allclose(sums.covariance / scale / scale, reference.covariance, rtol=1e-10)
    unit = np.ones(2)
    np.testing.assert_allclose(shrunk(sums, unit) / scale / scale, shrunk(reference, unit), rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-307, 1e-302, 1e301, 1e307])
def test_scales_whose_variances_are_no_numbers(scale):
    """They are 0 or infinite, without a word; means are right."""
    X = heavy(0, d=1)
    sums = reduce(add, map(MomentSums.from_samples, np.array_split(X / np.abs(X).max() * scale, 5)))
    np.testing.assert_allclose(sums.mean, X.mean() / np.abs(X).max() * scale, rtol=1e-10)
    assert sums.covariance == (0 if scale < 1 else np.inf)
    second, fourth = sums._central
    assert second > 0
    assert np.isfinite(fourth).all()


def test_the_ends_of_the_range_of_numbers_merge():
    ends = MomentSums.from_samples([[1.7e308]]) + MomentSums.from_samples([[-1.7e308]])
    assert ends.mean == 0
    assert not ends.is_constant


def test_samples_of_one_array_in_unlike_scales():
    """Sorted by size, so that the unit of the first rows does not do for the last."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 1)) * np.repeat([1e-100, 1e100], 100_000)[:, None]
    np.testing.assert_allclose(MomentSums.from_samples(X).covariance / 1e200, np.mean((X / 1e100) ** 2), rtol=1e-4)
    assert np.isfinite(MomentSums.from_samples(X)._central[1]).all()


def test_samples_of_weight_zero_are_left_out():
    X = np.r_[np.zeros(100_000), np.full(100_000, 1e3), 1.0, 2.0][:, None]
    weight = np.r_[np.zeros(200_000), 1, 1]
    assert_same(MomentSums.from_samples(X, weight), MomentSums.from_samples(X[-2:]))
    assert MomentSums.from_samples([[5.0], [5.0], [9.0]], [1, 1, 0]).is_constant


def test_constants_are_known_in_spite_of_rounding():
    for value in (0.1, 1e8 / 3, 1e-30):
        parts = [np.full((n, 1), value) for n in (7, 13, 1001)]
        sums = sum(map(MomentSums.from_samples, parts))
        assert sums.is_constant
        assert (sums + MomentSums.from_samples([[np.nextafter(value, 1e300)]])).is_constant
        assert not (sums + MomentSums.from_samples([[value * (1 + 1e-12)]])).is_constant


def test_only_sums_are_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        MomentSums.from_samples([[1.0]]) + 3


def test_parts_of_unlike_scales_merge():
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=(50, 2)) * 1e-200, rng.normal(size=(50, 2)) * 1e100
    constant = np.full((50, 2), 1e100)
    everything = np.concatenate([small, large, constant])
    merged = MomentSums.from_samples(small) + MomentSums.from_samples(large) + MomentSums.from_samples(constant)
    np.testing.assert_allclose(merged.covariance / 1e200, np.cov(everything.T / 1e100, bias=True), rtol=1e-12)
    tiny = np.full((50, 2), 1e-10)
    assert_same(
        MomentSums.from_samples(tiny) + MomentSums.from_samples(small),
        MomentSums.from_samples(np.concatenate([tiny, small])),
    )


def test_weights_that_grow_by_many_orders_are_centred_anew():
    """Exponential weights, the oldest first and far away: the first block's mean would be no centre for the last."""
    n = 60_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    X[: n // 2] += 1e7
    weight = np.exp(np.linspace(-120, 0, n))
    recent = slice(n // 2, n)
    np.testing.assert_allclose(
        MomentSums.from_samples(X, weight).covariance,
        MomentSums.from_samples(X[recent], weight[recent]).covariance,
        rtol=1e-8,
    )


def test_whole_weights_act_as_repetitions():
    X, times = heavy(3), np.random.default_rng(0).integers(1, 5, size=300)
    assert_same(MomentSums.from_samples(X, times.astype(float)), MomentSums.from_samples(np.repeat(X, times, axis=0)))


def test_float32_samples_are_summed_in_double_precision():
    X = heavy(0).astype(np.float32)
    np.testing.assert_allclose(MomentSums.from_samples(X).covariance, np.cov(X.T.astype(float), bias=True), rtol=1e-9)
    assert (MomentSums.from_samples(X) + MomentSums.from_samples(X.astype(float))).resolution == np.finfo(
        np.float32
    ).eps


def test_size_does_not_grow_with_the_samples():
    def numbers(n):
        return sum(
            np.size(value)
            for value in MomentSums.from_samples(np.random.default_rng(0).normal(size=(n, 5))).__getstate__().values()
        )

    assert numbers(10) == numbers(10_000) == (1 + 2 * 5) ** 2 + 4 * 5 + 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: MomentSums.from_samples(np.empty((0, 2))), "at least one sample"),
        (lambda: MomentSums.from_samples(np.ones((3, 2)), np.zeros(3)), "positive weight"),
        (lambda: MomentSums.from_samples(np.ones(3)), "two dimensions"),
        (lambda: MomentSums.from_samples(np.empty((3, 0))), "at least one feature"),
        (lambda: MomentSums.from_samples(np.ones((3, 1)), [1.0, np.inf, 1.0]), "finite numbers >= 0"),
        (lambda: MomentSums.from_samples(np.ones((3, 1)), [1.0, -1.0, 1.0]), "finite numbers >= 0"),
        (lambda: MomentSums.from_samples(np.ones((3, 2)), [1.0, 2.0]), "one number for each of 3 samples"),
        (lambda: MomentSums.from_samples([[1.0, np.nan], [2.0, 3.0]]), "NaN"),
        (lambda: MomentSums.from_samples([[1.0, np.inf], [2.0, 3.0]]), "infinity"),
        (
            lambda: MomentSums.from_samples(np.ones((3, 2))) + MomentSums.from_samples(np.ones((3, 3))),
            "cannot be merged",
        ),
    ],
)
def test_bad_input_is_explained(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_lists_whole_numbers_and_sum():
    parts = [[[1, 2], [3, 5]], [[0, 1]]]
    merged = sum(map(MomentSums.from_samples, parts))
    assert_same(merged, MomentSums.from_samples(np.concatenate(parts)))

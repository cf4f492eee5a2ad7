"""Distances of samples to classes that are whitened together, or apart where they lie far from each other."""

import numpy as np
import pytest

from optiscore.moments.factors import factorise
from optiscore.numerics.distances import ClassDistances, SharedDistances


def whiteners_of(covariances):
    return np.stack([factorise(S, "S").whitener for S in covariances])


def direct(X, means, covariances):
    """Obvious and slow."""
    deviations = X[None] - means[:, None]
    return np.einsum("kni,kij,knj->kn", deviations, np.linalg.inv(covariances), deviations)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 3, 64, 65, 150])
@pytest.mark.parametrize("apart", [1.0, 1e6])
def test_distances(d, apart, dtype):
    rng = np.random.default_rng(0)
    means = rng.normal(size=(7, d))
    # Every other class is far away: two groups with classes that do not lie side by side.
    means[::2] += apart
    roots = rng.normal(size=(7, d, d)) / np.sqrt(d) + np.eye(d)
    covariances = roots @ roots.transpose(0, 2, 1)
    codes = rng.integers(7, size=900)
    X = (means[codes] + rng.normal(size=(900, d))).astype(dtype)
    distances = ClassDistances(means, whiteners_of(covariances))
    exact = direct(X.astype(np.float64), means, covariances)
    found = distances(X)
    assert found.dtype == dtype
    # In units of the deviation itself, or of the numbers that are subtracted.
    tolerance = 1e-9 if dtype == np.float64 else 2e-3 * (1 + (apart > 1) * 100)
    np.testing.assert_allclose(found, exact, rtol=tolerance, atol=tolerance)


def test_classes_near_each_other_share_a_product():
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [1.0, 0.0], [1e9, 0.0], [1e9, 1.0]])
    distances = ClassDistances(means, whiteners_of([np.eye(2)] * 4))
    distances(rng.normal(size=(3, 2)))
    assert [each._place for each in distances._groups[np.float64]] == [slice(0, 2), slice(2, 4)]


@pytest.mark.parametrize("scale", [1e2, 1e5, 1e8, 1e12, 1e16, 1e100, 1e300])
@pytest.mark.parametrize("is_shared", [False, True])
def test_far_rows_do_not_depend_on_their_company(scale, is_shared):
    rng = np.random.default_rng(0)
    means, root = rng.normal(size=(3, 4)), rng.normal(size=(4, 4)) + 2 * np.eye(4)
    whiteners = whiteners_of([root @ root.T] * 3)
    distances = SharedDistances(means, whiteners[0]) if is_shared else ClassDistances(means, whiteners)
    X = scale * rng.normal(size=(50, 4))
    together = distances(X)
    assert np.isfinite(together).all()
    alone = np.concatenate([distances(row[None]) for row in X], axis=1)
    np.testing.assert_allclose(alone, together, rtol=1e-13)
    if scale >= 1e8:
        np.testing.assert_array_equal(alone, together)


def test_beyond_the_reach_a_row_is_taken_in_the_same_direction():
    means = np.array([[-2.0, 0.0], [2.0, 0.0]])
    for distances in (ClassDistances(means, np.stack([np.eye(2)] * 2)), SharedDistances(means, np.eye(2))):
        for far in (1e17, 1e200):
            left, right = distances(np.array([[-far, 0.0], [far, 0.0]])).T
            assert left[0] < left[1]
            assert right[1] < right[0]

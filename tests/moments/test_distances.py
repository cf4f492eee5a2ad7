"""Distances of samples to classes that are whitened together, or apart where they lie far from each other."""

import numpy as np
import pytest

from optiscore.moments.distances import ClassDistances
from optiscore.moments.factors import factorise


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
    distances = ClassDistances(means, [factorise(S, "S") for S in covariances])
    exact = direct(X.astype(np.float64), means, covariances)
    found = distances(X)
    assert found.dtype == dtype
    # In units of the deviation itself, or of the numbers that are subtracted.
    tolerance = 1e-9 if dtype == np.float64 else 2e-3 * (1 + (apart > 1) * 100)
    np.testing.assert_allclose(found, exact, rtol=tolerance, atol=tolerance)


def test_classes_near_each_other_share_a_product():
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [1.0, 0.0], [1e9, 0.0], [1e9, 1.0]])
    distances = ClassDistances(means, [factorise(np.eye(2), "S")] * 4)
    distances(rng.normal(size=(3, 2)))
    assert [each.classes.tolist() for each in distances._whitenings[np.float64]] == [[0, 1], [2, 3]]

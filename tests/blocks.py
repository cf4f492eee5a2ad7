"""Labelled samples in Dask's blocks, and whether two models are the same."""

import dask.array as da
import numpy as np


def make_data(n_classes=2, n=3000, d=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.standard_t(5, size=(n, d)) * (1 + 0.3 * y)[:, None] + 0.8 * y[:, None]
    return X.astype(dtype), y


def in_blocks(X, y, size=700):
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


def assert_same_model(one, other, tolerance=1e-10):
    assert one.classes_.tolist() == other.classes_.tolist()
    for name in ("priors_", "means_", "radii_", "offsets_"):
        a, b = getattr(one, name), getattr(other, name)
        assert isinstance(a, np.ndarray)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * min(np.abs(b).max(), 1))
    for a, b in zip(one.covariances_, other.covariances_, strict=True):
        scale = np.sqrt(np.diagonal(b))
        assert np.abs((a - b) / scale / scale[:, None]).max() <= tolerance


def n_right(model, X, y):
    return int((model.predict(X) == y).sum())

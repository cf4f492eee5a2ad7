"""Sums over samples of other libraries than NumPy's: made where the samples are; only the sums come to the host."""

from functools import reduce

import numpy as np

from ._typing import FloatArray
from .array_api import Array, like, namespace_of, to_host, to_widest_float
from .moment_sums import MomentSums, centre_and_unit

# Samples, as bytes, that are summed together.
_BUFFER_BYTES = 64 * 1024 * 1024


def sums_on_device(X: Array, rows: np.ndarray, sample_weight: FloatArray | None = None) -> MomentSums:
    """Sums over some rows of X, as `MomentSums.of`; in single precision on devices that have no other."""
    n_blocks = -(-8 * X.shape[1] * len(rows) // _BUFFER_BYTES)
    parts = np.array_split(rows, max(1, n_blocks))
    return reduce(
        MomentSums.__add__,
        (_sums(X, part, None if sample_weight is None else sample_weight[part]) for part in parts),
    )


def _sums(X: Array, rows: np.ndarray, weight: FloatArray | None) -> MomentSums:
    xp = namespace_of(X)
    samples = to_widest_float(xp.take(X, like(rows, X), axis=0))
    root = None if weight is None else like(np.sqrt(weight), X)[:, None]
    lowest, highest = to_host(xp.min(samples, axis=0)), to_host(xp.max(samples, axis=0))
    mean = xp.mean(samples, axis=0) if root is None else xp.sum(samples * root * root, axis=0) / xp.sum(root * root)
    origin, unit = centre_and_unit(to_host(mean).astype(np.float64), lowest, highest)
    if samples.dtype == xp.float32:
        # The only type of some devices: the largest deviation is the unit, so that fourth powers stay in its range.
        origin = origin.astype(np.float32).astype(np.float64)
        reach = np.maximum(highest - origin, origin - lowest)
        unit = np.where(reach > 0, 2.0 ** np.ceil(np.log2(np.where(reach > 0, reach, 1.0))), 1.0)
    u = (samples - like(origin, X)) / like(unit, X)
    powers = xp.concat([xp.ones_like(u[:, :1]), u, u * u], axis=1)
    if root is not None:
        powers = powers * root
    gram = to_host(powers.T @ powers).astype(np.float64)
    bounds = lowest.astype(np.float64), highest.astype(np.float64)
    return MomentSums(origin, unit, gram, *bounds, float(xp.finfo(X.dtype).eps))

"""A safeguarded, vectorised Newton method for increasing functions; it knows no statistics."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .types import BoolArray, FloatArray


class Roots(NamedTuple):
    """Roots of a family of functions, and whether each of them was reached."""

    root: FloatArray
    converged: BoolArray
    n_iterations: int


def find_root(
    function: Callable[..., tuple[FloatArray, FloatArray]],
    lower: FloatArray,
    upper: FloatArray,
    args: tuple[np.ndarray, ...] = (),
    *,
    start: FloatArray | None = None,
    step_tolerance: float = 1e-8,
    max_iterations: int = 200,
) -> Roots:
    """Find the root of an increasing function in each of many brackets.

    Newton steps where they stay inside the bracket and at least halve the step before; bisection elsewhere. Steps
    therefore shrink to nothing for every increasing function that changes its sign in the bracket. Newton's error
    after a step of size h is of order h**2 where the function bends on the scale of 1, so that a step of
    ``step_tolerance`` is the last one needed.

    ``function(z, *args) -> (value, slope)`` is elementwise and increasing in z, with ``function(lower) <= 0 <=
    function(upper)``; ``args`` are its parameters, one value per root. The search begins at ``start``, or in the middle
    of each bracket, and ends with a Newton step of at most ``step_tolerance``, or a bracket no wider than rounding.
    ``max_iterations`` is far above what bisection needs on a bracket of doubles of moderate size.
    """
    root = 0.5 * (lower + upper) if start is None else start.copy()
    converged = np.zeros(root.shape, dtype=bool)
    active = np.arange(root.size)
    z, last_step = root, upper - lower
    resolution = 4 * np.finfo(root.dtype).eps
    n_iterations = 0
    while active.size and n_iterations < max_iterations:
        n_iterations += 1
        value, slope = function(z, *args)
        lower = np.where(value <= 0, z, lower)
        upper = np.where(value >= 0, z, upper)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = z - value / slope
        step = np.abs(newton - z)
        # Where rounding moves a root out of its bracket, the end of the bracket is meant.
        inside = np.clip(newton, lower, upper)
        trusted = (np.abs(newton - inside) <= step_tolerance) & (step <= 0.5 * last_step)
        proposal = np.where(trusted, inside, 0.5 * (lower + upper))
        done = trusted & (step <= step_tolerance)
        done |= upper - lower <= resolution * np.maximum(np.abs(lower), np.abs(upper))
        last_step, z = np.abs(proposal - z), proposal
        if done.any():
            finished, keep = active[done], ~done
            root[finished], converged[finished] = z[done], True
            active, z, last_step = active[keep], z[keep], last_step[keep]
            lower, upper = lower[keep], upper[keep]
            args = tuple(a[keep] for a in args)
    root[active] = z
    return Roots(root, converged, n_iterations)

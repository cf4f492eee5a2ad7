"""Parameters that say what the kernel estimators try: kernels with scalings, ridges, landmarks."""

from collections.abc import Sequence
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..numerics.types import FloatArray
from .kernels import KERNEL_LISTS, KERNELS
from .scalings import SCALINGS

#: Ridges that are tried by default, in units of the mean eigenvalue.
RIDGES = tuple(10.0 ** np.linspace(-5, 1, 9))


class Combination(NamedTuple):
    """A kernel and a scaling, by name."""

    kernel: str
    scaling: str


def check_combinations(kernels: Any, scalings: Any) -> list[Combination]:
    """Every kernel with every scaling."""
    if isinstance(kernels, str):
        if kernels not in KERNEL_LISTS:
            raise ValueError(
                f"kernels must be one of {list(KERNEL_LISTS)} or a list of names out of {list(KERNELS)}, got "
                f"{kernels!r}."
            )
        kernels = KERNEL_LISTS[kernels]
    if isinstance(scalings, str):
        scalings = [scalings]
    for names, known, parameter in ((kernels, KERNELS, "kernels"), (scalings, SCALINGS, "scalings")):
        listed = list(names) if isinstance(names, (Sequence, np.ndarray)) else []
        if not listed or not all(isinstance(name, str) and name in known for name in listed):
            raise ValueError(f"{parameter} must be a list of names out of {list(known)}, got {names!r}.")
    pairs = product(dict.fromkeys(map(str, kernels)), dict.fromkeys(map(str, scalings)))
    return [Combination(kernel, scaling) for kernel, scaling in pairs]


def check_ridges(ridges: Any) -> FloatArray:
    """Positive numbers in increasing order; None stands for nine from 1e-5 to 10."""
    try:
        values = np.unique(np.asarray(RIDGES if ridges is None else ridges, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"ridges must be None or numbers from 1e-12 to 1e12, got {ridges!r}.") from None
    if not values.size or not ((values >= 1e-12) & (values <= 1e12)).all():
        raise ValueError(f"ridges must be None or numbers from 1e-12 to 1e12, got {ridges!r}.")
    return values


def check_max_landmarks(max_landmarks: Any) -> int | str | None:
    """Return an integer of 2 or more, "auto", or None for no limit."""
    is_integer = isinstance(max_landmarks, Integral) and not isinstance(max_landmarks, bool)
    is_auto = isinstance(max_landmarks, str) and max_landmarks == "auto"
    if max_landmarks is None or is_auto:
        return max_landmarks
    if not (is_integer and max_landmarks >= 2):
        raise ValueError(f"max_landmarks must be 'auto', an integer >= 2 or None, got {max_landmarks!r}.")
    return int(max_landmarks)


def check_relevance(relevance: Any) -> bool | str:
    """Return True, False or "auto"."""
    if not (isinstance(relevance, (bool, np.bool_)) or (isinstance(relevance, str) and relevance == "auto")):
        raise ValueError(f"relevance must be True, False or 'auto', got {relevance!r}.")
    return "auto" if isinstance(relevance, str) else bool(relevance)

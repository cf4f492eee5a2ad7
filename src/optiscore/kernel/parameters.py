"""Parameters of kernel maps, checked and brought into one form."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ..numerics.types import FloatArray
from .kernels import KERNEL_LISTS, KERNELS
from .scalings import SCALINGS
from .search import Combination

#: Ridges that are tried by default, in units of the mean eigenvalue.
RIDGES = tuple(10.0 ** np.linspace(-5, 1, 9))


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
    return [
        Combination(kernel, scaling)
        for kernel in _check_names(kernels, KERNELS, "kernels")
        for scaling in _check_names(scalings, SCALINGS, "scalings")
    ]


def _check_names(names: Any, known: Any, parameter: str) -> list[str]:
    listed = list(names) if isinstance(names, (Sequence, np.ndarray)) else []
    if not listed or not all(isinstance(name, str) and name in known for name in listed):
        raise ValueError(f"{parameter} must be a list of names out of {list(known)}, got {names!r}.")
    return list(dict.fromkeys(str(name) for name in listed))


def check_ridges(ridges: Any) -> FloatArray:
    """Positive numbers in increasing order; None stands for nine from 1e-5 to 10."""
    try:
        values = np.unique(np.asarray(RIDGES if ridges is None else ridges, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"ridges must be None or numbers from 1e-12 to 1e12, got {ridges!r}.") from None
    if not values.size or not ((values >= 1e-12) & (values <= 1e12)).all():
        raise ValueError(f"ridges must be None or numbers from 1e-12 to 1e12, got {ridges!r}.")
    return values


def check_max_landmarks(max_landmarks: Any) -> int | None:
    """A positive integer, or None for no limit."""
    is_integer = isinstance(max_landmarks, Integral) and not isinstance(max_landmarks, bool)
    if max_landmarks is not None and not (is_integer and max_landmarks >= 2):
        raise ValueError(f"max_landmarks must be an integer >= 2 or None, got {max_landmarks!r}.")
    return None if max_landmarks is None else int(max_landmarks)

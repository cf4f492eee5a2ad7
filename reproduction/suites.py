"""The two suites of data sets that methods are compared on: the paper's eleven, and further ones."""

from collections.abc import Sequence

import numpy as np

from optiscore.numerics.types import FloatArray

from .datasets import fetch_benchmark, list_benchmarks, list_extra, load_extra
from .experiment import Result

PAPER, FURTHER = "the paper's sets", "further sets"

#: Names of the data sets of each suite.
SUITES = {PAPER: list_benchmarks(), FURTHER: list_extra()}

# Of larger further sets so many random rows are used, so that all methods are done within minutes.
_MOST_ROWS = 1_000


def load(name: str) -> tuple[FloatArray, np.ndarray]:
    """Features and labels of a data set of either suite; OSError where it cannot be had."""
    if name in SUITES[PAPER]:
        return fetch_benchmark(name, return_X_y=True)
    X, y = load_extra(name, return_X_y=True)
    rows = np.sort(np.random.default_rng(0).permutation(len(y))[:_MOST_ROWS])
    # A feature that is constant in the rows that are left tells nothing.
    kept = X[rows][:, np.ptp(X[rows], axis=0) > 0]
    return kept, y[rows]


def by_suite(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Results by the suite of their data set; suites without any are left out."""
    parts = {
        suite: [result for result in results if result.cell["dataset"] in names] for suite, names in SUITES.items()
    }
    return {suite: part for suite, part in parts.items() if part}

"""Combinations of kernel and scaling on one training set, exactly or with landmarks; parameters that say which."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from ..estimators.progress import progress_bar
from ..numerics.blocks import map_threads, n_threads
from ..numerics.types import FloatArray
from .kernels import KERNEL_LISTS, KERNELS
from .scalings import SCALINGS, Scaling
from .spectral_ridge import Spectrum, contrasts

#: Ridges that are tried by default, in units of the mean eigenvalue.
RIDGES = tuple(10.0 ** np.linspace(-5, 1, 9))

# Matrices of rows times anchors that are held at once for one combination.
_MATRICES = 4


#: A named tuple with a combination, and by ridge what came of it.
Trial = TypeVar("Trial")


class Combination(NamedTuple):
    """A kernel and a scaling, by name."""

    kernel: str
    scaling: str


@dataclass(frozen=True)
class Problem:
    """Samples under every scaling, their classes, and the landmarks among them where there are too many."""

    #: Samples by the name of the scaling; of shape (n_samples, n_features).
    scaled: Mapping[str, FloatArray]
    #: Classes, 0 to n_classes - 1; of shape (n_samples,).
    codes: np.ndarray
    n_classes: int
    #: Candidates, increasing; of shape (n_ridges,).
    ridges: FloatArray
    #: Class indicators in contrasts: rows of `contrasts`; of shape (n_samples, n_classes - 1).
    targets: FloatArray
    #: Rows that all others are compared with; None compares all with all.
    landmarks: np.ndarray | None = None

    def on_landmarks(self) -> Self:
        """The landmarks alone, compared with all of them."""
        rows = self.landmarks
        assert rows is not None
        scaled = {name: X[rows] for name, X in self.scaled.items()}
        return replace(self, scaled=scaled, codes=self.codes[rows], targets=self.targets[rows], landmarks=None)

    def decompose(self, combination: Combination) -> "Decomposed":
        """The kernel features of all samples."""
        kernel, rows = KERNELS[combination.kernel], self.scaled[combination.scaling]
        chosen = rows if self.landmarks is None else rows[self.landmarks]
        anchors, bandwidth = kernel.prepare(chosen)
        values = kernel(rows, anchors, bandwidth)
        if anchors is rows:
            return Decomposed(Spectrum.exact(values), anchors, bandwidth)
        return Decomposed(Spectrum.thin(values, kernel(anchors, anchors, bandwidth)), anchors, bandwidth)


class Decomposed(NamedTuple):
    """Kernel features of a training set, and what they were made with."""

    spectrum: Spectrum
    anchors: FloatArray
    bandwidth: float


class KernelExpansion(NamedTuple):
    """A fitted function of the scaled features: kernel values with anchors times coefficients."""

    #: Name of the kernel.
    kernel: str
    #: Training rows (or landmarks, or unit vectors), scaled; of shape (n_anchors, n_features).
    anchors: FloatArray
    #: Unit of distance.
    bandwidth: float
    #: What kernel values are multiplied with; of shape (n_anchors, n_outputs).
    coefficients: FloatArray
    #: What is subtracted from the result; of shape (n_outputs,).
    offset: FloatArray

    @classmethod
    def fit(cls, kernel: str, decomposed: Decomposed, T: FloatArray, ridge: float, projector: FloatArray) -> Self:
        """Ridge regression of targets on kernel features, without its intercept, in the directions of a projector."""
        spectrum, anchors, bandwidth = decomposed
        # The layout of an array decides about the rounding of products: files keep no other.
        coefficients = np.ascontiguousarray(spectrum.coefficients(T, ridge) @ projector)
        return cls(kernel, np.ascontiguousarray(anchors), bandwidth, coefficients, spectrum.means @ coefficients)

    def __call__(self, scaled: FloatArray) -> FloatArray:
        """Values of shape (n_rows, n_outputs).

        Rows are doubles: with a small ridge, coefficients are large and cancel beyond the digits of single precision.
        """
        return KERNELS[self.kernel](scaled, self.anchors, self.bandwidth) @ self.coefficients - self.offset


def try_all(
    problem: Problem,
    combinations: Sequence[Combination],
    evaluate: Callable[[Problem, Combination], Trial],
    what: str,
    verbose: int,
) -> list[Trial]:
    """Return what comes of each combination."""
    n, n_anchors, memory = len(problem.codes), n_anchors_of(problem), physical_memory()
    needed = 8.0 * _MATRICES * n * n_anchors
    if needed > memory:
        enough = max(2, int(memory / (2 * 8 * _MATRICES * n)))
        raise MemoryError(
            f"{n} rows compared with {n_anchors} would need about {needed / 1e9:.3g} GB of memory, and there are "
            f"{memory / 1e9:.3g} GB. Choose a smaller max_landmarks, such as {min(enough, 1500)}."
        )
    by_memory = int(min(memory / (2 * needed), len(combinations)))
    threads = max(1, min(n_threads(10 * n * n_anchors), by_memory))
    with progress_bar(what, len(combinations), visible=verbose > 0) as advance:

        def work(combination: Combination) -> Trial:
            trial = evaluate(problem, combination)
            advance(1)
            return trial

        return map_threads(work, combinations, threads)


def search(
    problem: Problem,
    combinations: Sequence[Combination],
    evaluate: Callable[[Problem, Combination], Trial],
    best_first: Callable[[list[Trial]], Sequence[int]],
    verbose: int,
) -> tuple[list[Trial], dict[str, np.ndarray]]:
    """Return trials of combinations on all samples, and a table of all trials.

    Where there are landmarks, combinations are compared on these first, and as many of the best are tried on all
    samples as take no longer.
    """
    first: list[Any] = []
    if problem.landmarks is not None and len(combinations) > 1:
        first = try_all(problem.on_landmarks(), combinations, evaluate, "kernels on landmarks", verbose)
        most = max(2, len(combinations) * n_anchors_of(problem) // len(problem.codes))
        combinations = [first[i].combination for i in best_first(first)[:most]]
    trials = try_all(problem, combinations, evaluate, "kernels", verbose)
    rows: list[Any] = [*trials, *(trial for trial in first if trial.combination not in combinations)]
    n, n_anchors, n_ridges = len(problem.codes), n_anchors_of(problem), len(problem.ridges)
    return trials, {
        "kernel": np.repeat([trial.combination.kernel for trial in rows], n_ridges),
        "scaling": np.repeat([trial.combination.scaling for trial in rows], n_ridges),
        "ridge": np.tile(problem.ridges, len(rows)),
        **{name: np.concatenate([trial.by_ridge[name] for trial in rows]) for name in rows[0].by_ridge},
        "n_rows": np.repeat([n] * len(trials) + [n_anchors] * (len(rows) - len(trials)), n_ridges),
    }


def n_anchors_of(problem: Problem) -> int:
    """Return how many samples each is compared with."""
    return len(problem.codes if problem.landmarks is None else problem.landmarks)


def physical_memory() -> float:
    """Bytes of memory that the machine has; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def pose(
    X: FloatArray,
    codes: np.ndarray,
    n_classes: int,
    combinations: Sequence[Combination],
    *,
    ridges: FloatArray,
    max_landmarks: int | None,
    random_state: Any,
) -> tuple[Problem, dict[str, Scaling]]:
    """Return the problem of a training set, and the scalings that were fitted to it."""
    points = X.astype(np.float64, copy=False)
    fitted = {name: SCALINGS[name].fit(points) for name in dict.fromkeys(each.scaling for each in combinations)}
    landmarks = None
    if max_landmarks is not None and len(X) > max_landmarks:
        landmarks = _choose_landmarks(codes, max_landmarks, check_random_state(random_state))
    scaled = {name: scale(points) for name, scale in fitted.items()}
    return Problem(scaled, codes, n_classes, ridges, contrasts(n_classes)[codes], landmarks), fitted


def _choose_landmarks(codes: np.ndarray, n_landmarks: int, rng: np.random.RandomState) -> np.ndarray:
    """Random rows, among them two of every class that has as many."""
    order = rng.permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    later = np.delete(order, first)
    _, second = np.unique(codes[later], return_index=True)
    ordered = np.concatenate([order[first], later[second], np.delete(later, second)])
    return np.sort(ordered[: max(n_landmarks, len(first) + len(second))])


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


def check_max_landmarks(max_landmarks: Any) -> int | None:
    """A positive integer, or None for no limit."""
    is_integer = isinstance(max_landmarks, Integral) and not isinstance(max_landmarks, bool)
    if max_landmarks is not None and not (is_integer and max_landmarks >= 2):
        raise ValueError(f"max_landmarks must be an integer >= 2 or None, got {max_landmarks!r}.")
    return None if max_landmarks is None else int(max_landmarks)

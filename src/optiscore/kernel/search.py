"""All combinations of kernel and scaling on one training set: exactly, or with landmarks where there are many rows."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from ..estimators.progress import progress_bar
from ..numerics.threads import map_threads, n_threads
from ..numerics.types import FloatArray
from .kernels import KERNELS
from .scalings import SCALINGS, Scaling
from .spectral_ridge import Spectrum, contrasts

# Matrices of rows times anchors that are held at once for one combination.
_MATRICES = 4


class Combination(NamedTuple):
    """A kernel and a scaling, by name."""

    kernel: str
    scaling: str


@dataclass(frozen=True)
class Problem:
    """Samples under every scaling, their classes, and the landmarks among them where there are too many.

    Attributes
    ----------
    scaled : dict of ndarray of shape (n_samples, n_features)
        Samples by the name of the scaling.
    codes : ndarray of shape (n_samples,)
        Classes, 0 to n_classes - 1.
    n_classes : int
        Their number.
    ridges : ndarray of shape (n_ridges,)
        Candidates, increasing.
    landmarks : ndarray of int or None
        Rows that all others are compared with; None compares all with all.
    """

    scaled: Mapping[str, FloatArray]
    codes: np.ndarray
    n_classes: int
    ridges: FloatArray
    landmarks: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples, and of those that each is compared with."""
        n = len(self.codes)
        return n, n if self.landmarks is None else len(self.landmarks)

    @property
    def targets(self) -> FloatArray:
        """Class indicators in contrasts: rows of `contrasts`."""
        return contrasts(self.n_classes)[self.codes]

    def on_landmarks(self) -> Self:
        """The landmarks alone, compared with all of them."""
        rows = self.landmarks
        assert rows is not None
        scaled = {name: X[rows] for name, X in self.scaled.items()}
        return replace(self, scaled=scaled, codes=self.codes[rows], landmarks=None)

    def decompose(self, combination: Combination) -> "Decomposed":
        """The kernel features of all samples."""
        kernel, rows = KERNELS[combination.kernel], self.scaled[combination.scaling]
        chosen = rows if self.landmarks is None else rows[self.landmarks]
        anchors, bandwidth = kernel.anchors(chosen), kernel.bandwidth(chosen)
        values = kernel(rows, anchors, bandwidth)
        if anchors is rows:
            return Decomposed(Spectrum.exact(values), anchors, bandwidth)
        return Decomposed(Spectrum.thin(values, kernel(anchors, anchors, bandwidth)), anchors, bandwidth)


class Decomposed(NamedTuple):
    """Kernel features of a training set, and what they were made with."""

    spectrum: Spectrum
    anchors: FloatArray
    bandwidth: float


class KernelExpansion:
    """A fitted function of the scaled features: kernel values with anchors times coefficients.

    Parameters
    ----------
    kernel : str
        Name of the kernel.
    anchors : ndarray of shape (n_anchors, n_features)
        Training rows (or landmarks, or unit vectors), scaled.
    bandwidth : float
        Unit of distance.
    coefficients : ndarray of shape (n_anchors, n_outputs)
        What kernel values are multiplied with.
    offset : ndarray of shape (n_outputs,)
        What is subtracted from the result.
    """

    def __init__(
        self, kernel: str, anchors: FloatArray, bandwidth: float, coefficients: FloatArray, offset: FloatArray
    ) -> None:
        self.kernel, self.anchors, self.bandwidth = kernel, anchors, bandwidth
        self.coefficients, self.offset = coefficients, offset

    @classmethod
    def fit(cls, kernel: str, decomposed: Decomposed, T: FloatArray, ridge: float, projector: FloatArray) -> Self:
        """Ridge regression of targets on kernel features, without its intercept, in the directions of a projector."""
        spectrum, anchors, bandwidth = decomposed
        coefficients = spectrum.coefficients(T, ridge) @ projector
        return cls(kernel, anchors, bandwidth, coefficients, spectrum.means @ coefficients)

    def __call__(self, scaled: FloatArray) -> FloatArray:
        """Values of shape (n_rows, n_outputs).

        Rows are doubles: with a small ridge, coefficients are large and cancel beyond the digits of single precision.
        """
        return KERNELS[self.kernel](scaled, self.anchors, self.bandwidth) @ self.coefficients - self.offset


class Judged(Protocol):
    """A combination that was tried."""

    @property
    def combination(self) -> Combination:
        """What was tried."""

    @property
    def criterion(self) -> float:
        """The smaller, the better."""

    def by_ridge(self) -> dict[str, FloatArray]:
        """What is known of every ridge, by the name of the column in the table of results."""


Trial = TypeVar("Trial", bound=Judged)


class Search(NamedTuple, Generic[Trial]):
    """What was tried on all samples, and what on the landmarks alone."""

    problem: Problem
    trials: list[Trial]
    on_landmarks: list[Trial]

    def table(self) -> dict[str, np.ndarray]:
        """One row per combination and ridge: those on all samples, then those that were left behind."""
        done = {trial.combination for trial in self.trials}
        left_behind = [trial for trial in self.on_landmarks if trial.combination not in done]
        n, n_anchors = self.problem.shape
        sizes = [n] * len(self.trials) + [n_anchors] * len(left_behind)
        rows, n_ridges = [*self.trials, *left_behind], len(self.problem.ridges)
        columns = [trial.by_ridge() for trial in rows]
        return {
            "kernel": np.repeat([trial.combination.kernel for trial in rows], n_ridges),
            "scaling": np.repeat([trial.combination.scaling for trial in rows], n_ridges),
            "ridge": np.tile(self.problem.ridges, len(rows)),
            **{name: np.concatenate([each[name] for each in columns]) for name in columns[0]},
            "n_rows": np.repeat(sizes, n_ridges),
        }


def search(
    problem: Problem,
    combinations: Sequence[Combination],
    evaluate: Callable[[Problem, Combination], Trial],
    promising: Callable[[Sequence[Trial], int, int], Sequence[Trial]],
    *,
    verbose: int = 0,
) -> Search[Trial]:
    """Try all combinations; of more samples than landmarks, only those that are promising on the landmarks alone.

    Of these there are as many as take about the time of all on the landmarks, and two at least.

    Parameters
    ----------
    problem : Problem
        The training set.
    combinations : sequence of Combination
        What to try.
    evaluate : callable
        ``evaluate(problem, combination)`` tries one; called from several threads at once.
    promising : callable
        ``promising(trials, n_samples, most)`` chooses those to be tried on all samples.
    verbose : int, default=0
        Above 0, a progress bar is shown.
    """
    _check_memory(problem)
    first: list[Trial] = []
    if problem.landmarks is not None and len(combinations) > 1:
        first = _try_all(problem.on_landmarks(), combinations, evaluate, "kernels on landmarks", verbose)
        n = len(problem.codes)
        most = max(2, len(combinations) * len(problem.landmarks) // n)
        combinations = [trial.combination for trial in promising(first, n, most)]
    return Search(problem, _try_all(problem, combinations, evaluate, "kernels", verbose), first)


def _try_all(
    problem: Problem,
    combinations: Sequence[Combination],
    evaluate: Callable[[Problem, Combination], Trial],
    what: str,
    verbose: int,
) -> list[Trial]:
    n, n_anchors = problem.shape
    by_memory = int(min(physical_memory() / (2 * _bytes(problem)), len(combinations)))
    threads = max(1, min(n_threads(10 * n * n_anchors), by_memory))
    with progress_bar(what, len(combinations), visible=verbose > 0) as advance:

        def work(combination: Combination) -> Trial:
            trial = evaluate(problem, combination)
            advance(1)
            return trial

        return map_threads(work, combinations, threads)


def _bytes(problem: Problem) -> float:
    n, n_anchors = problem.shape
    return 8.0 * _MATRICES * n * n_anchors


def _check_memory(problem: Problem) -> None:
    """Say what to do where the matrices of one combination would not fit."""
    (n, n_anchors), memory = problem.shape, physical_memory()
    if _bytes(problem) > memory:
        enough = max(2, int(memory / (2 * 8 * _MATRICES * n)))
        raise MemoryError(
            f"{n} rows compared with {n_anchors} would need about {_bytes(problem) / 1e9:.3g} GB of memory, and there "
            f"are {memory / 1e9:.3g} GB. Choose a smaller max_landmarks, such as {min(enough, 1500)}."
        )


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
    scalings: Sequence[str],
    ridges: FloatArray,
    max_landmarks: int | None,
    rng: np.random.RandomState,
) -> tuple[Problem, dict[str, Scaling]]:
    """The problem of a training set, and the scalings that were fitted to it."""
    points = X.astype(np.float64, copy=False)
    fitted = {name: SCALINGS[name].fit(points) for name in scalings}
    landmarks = None
    if max_landmarks is not None and len(X) > max_landmarks:
        landmarks = _choose_landmarks(codes, max_landmarks, rng)
    return Problem({name: scale(points) for name, scale in fitted.items()}, codes, n_classes, ridges, landmarks), fitted


def _choose_landmarks(codes: np.ndarray, n_landmarks: int, rng: np.random.RandomState) -> np.ndarray:
    """Random rows, among them two of every class that has as many."""
    order = rng.permutation(len(codes))
    _, first = np.unique(codes[order], return_index=True)
    later = np.delete(order, first)
    _, second = np.unique(codes[later], return_index=True)
    ordered = np.concatenate([order[first], later[second], np.delete(later, second)])
    return np.sort(ordered[: max(n_landmarks, len(first) + len(second))])

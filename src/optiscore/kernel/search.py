"""From combinations of kernel and scaling to the few that are worth all rows.

Few rows: every combination, with all ridges. More: combinations are compared on some rows, of which the best are fitted
to all; from some number of rows on with landmarks only.
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np

from ..estimators.progress import progress_bar
from ..moments.subsets import rows_of_every_class_first, stratified
from ..numerics.blocks import lapack_alone, map_threads, n_threads
from .kernels import KERNELS, Product, Radial
from .parameters import Combination
from .problem import Criterion, Problem, Trial
from .regression import Regression, try_combination

# Up to so many rows every combination is tried on all of them; up to so many, rows are compared with all rows.
_ALL_TRIED, _ALL_COMPARED = 600, 1600

# Rows that combinations are compared on, and of each class at least. So many go on at most, by the number of all rows.
_SCREENED, _ENTRANTS = (400, 20), ((1000, 6), (1600, 3), (8000, 4), (1_000_000, 5))

# Beyond so many rows, these are compared on more of them, with so many landmarks, and so many are left.
_SCREENED_TWICE, _SECOND, _SECOND_LANDMARKS, _FINALISTS = 8000, (3000, 30), 700, 2

# Combinations with less than this fraction of the largest weight are left.
_LEAST_WEIGHT = 0.02

#: Families of kernels: which kernel of a family is best is seen on few rows, not which family is.
FAMILIES = (Product, Radial)

# Rows that are left out one by one, and of each class at least, where all rows are compared with landmarks.
_LEFT_OUT = (2000, 30)

# Landmarks, and more of them for each row beyond; at most.
_LANDMARKS, _MORE_LANDMARKS, _MOST_LANDMARKS = 700, 0.03, 1200

# So many of the best are fitted again with twice as many landmarks, up to this number (of two classes, the one above),
# if the second half of the first ones brought this much; up to so many rows.
_DOUBLED, _TWICE, _WORTH, _MOST_DOUBLED = 2, 2400, 0.004, 20_000

# If they become at least so many times as many.
_RATIO = 1.25


def search(
    problem: Problem,
    combinations: Sequence[Combination],
    criterion: Criterion,
    *,
    max_landmarks: int | str | None,
    seed: int,
    verbose: int,
    leaves_all_out: bool = False,
) -> tuple[Problem, list[Trial], dict[str, np.ndarray]]:
    """Return the problem with the rows that are left out, trials of the best combinations on it, and all trials."""
    n, screened = len(problem.codes), list[Trial]()
    n_anchors = _n_anchors(n, max_landmarks)
    _check_memory(n, n_anchors)
    if n == n_anchors <= _ALL_TRIED:
        trials = _try_all(problem, combinations, criterion, "kernels", verbose)
        return problem, trials, _tabulate(trials)
    some = problem.take(np.sort(stratified(problem.codes, *_SCREENED, seed).rows))
    screened += _try_all(some, combinations, criterion, "kernels on some rows", verbose, judges_all=False)
    starts = {trial.combination: trial.ridge for trial in screened}
    combinations = _entrants(screened, next(most for rows, most in _ENTRANTS if n <= rows))
    if n > _SCREENED_TWICE and len(combinations) > _FINALISTS:
        some = problem.take(stratified(problem.codes, *_SECOND, seed).rows)
        landmarks = rows_of_every_class_first(some.codes, seed)[: min(_SECOND_LANDMARKS, n_anchors)]
        again = _fit_all(some, starts, combinations, criterion, landmarks, "kernels on more rows", verbose)
        screened += again
        starts |= {trial.combination: trial.ridge for trial in again}
        combinations = _best(again, _FINALISTS, again)
    if n_anchors == n:
        trials = _fit_all(problem, starts, combinations, criterion, None, "kernels", verbose)
    else:
        n_left_out, n_least = _LEFT_OUT
        problem = problem.leaving_out(*stratified(problem.codes, n if leaves_all_out else n_left_out, n_least, seed))
        order = rows_of_every_class_first(problem.codes, seed)
        more = n_anchors
        if max_landmarks == "auto" and n <= _MOST_DOUBLED:
            more = min(2 * n_anchors, n, _MOST_LANDMARKS if problem.n_classes == 2 else _TWICE)
        landmarks, more_landmarks = order[:n_anchors], order[:more] if more > _RATIO * n_anchors else None
        trials = _fit_all(problem, starts, combinations, criterion, landmarks, "kernels", verbose, more_landmarks)
    return problem, trials, _tabulate([*trials, *screened])


def _n_anchors(n: int, max_landmarks: int | str | None) -> int:
    """Return how many rows each is compared with at first."""
    if max_landmarks == "auto":
        more = int(_MORE_LANDMARKS * (n - _ALL_COMPARED))
        return n if n <= _ALL_COMPARED else min(_LANDMARKS + more, _MOST_LANDMARKS)
    return n if max_landmarks is None else min(n, int(max_landmarks))


def _entrants(screened: Sequence[Trial], most: int) -> list[Combination]:
    """Return combinations worth more rows: a linear kernel, which costs nothing, and the best of the others."""
    linear = [trial for trial in screened if trial.combination.kernel == "linear"]
    others = [trial for trial in screened if trial.combination.kernel != "linear"]
    return [*_best(linear, 1, screened), *_best(others, most, screened)]


def _best(trials: Sequence[Trial], most: int, among: Sequence[Trial]) -> list[Combination]:
    """Return the best of each family, and others whose weight among some trials is not too small."""
    least_loss = min(trial.loss for trial in among)
    largest_loss = least_loss - np.log(_LEAST_WEIGHT) / (2 * np.sqrt(among[0].n_rows))
    ordered = sorted(trials, key=lambda trial: trial.loss)
    families = [[each for each in ordered if isinstance(KERNELS[each.combination.kernel], kind)] for kind in FAMILIES]
    first = [family[0].combination for family in families if family]
    others = [each.combination for each in ordered if each.loss < largest_loss]
    return list(dict.fromkeys(first + others))[:most]


def _try_all(
    problem: Problem,
    combinations: Sequence[Combination],
    criterion: Criterion,
    what: str,
    verbose: int,
    *,
    judges_all: bool = True,
) -> list[Trial]:
    """Return trials of combinations with all rows compared with all, on threads."""
    with progress_bar(what, len(combinations), visible=verbose > 0) as advance:

        def work(combination: Combination) -> Trial:
            trial = try_combination(problem, combination, criterion, judges_all=judges_all)
            advance(1)
            return trial

        return map_threads(work, combinations, n_threads(10 * len(problem.codes) ** 2))


def _fit_all(
    problem: Problem,
    starts: Mapping[Combination, float],
    combinations: Sequence[Combination],
    criterion: Criterion,
    landmarks: np.ndarray | None,
    what: str,
    verbose: int,
    more_landmarks: np.ndarray | None = None,
) -> list[Trial]:
    """Return trials of combinations, one after the other; the best again, where more landmarks may be better."""
    trials, gains = list[Trial](), list[float]()
    with lapack_alone, progress_bar(what, len(combinations), visible=verbose > 0) as advance:
        for combination in combinations:
            regression = Regression(problem, combination, landmarks)
            # Of all rows, another ridge takes as long as the first.
            trials.append(
                regression.walk(starts[combination], criterion, 1 if landmarks is None else len(problem.ridges))
            )
            gains.append(0.0 if more_landmarks is None else regression.gain(trials[-1], criterion))
            advance(1)
    if more_landmarks is not None:
        best = np.argsort([trial.loss for trial in trials], kind="stable")[:_DOUBLED].tolist()
        worth_it = [i for i in best if gains[i] > _WORTH]
        with lapack_alone, progress_bar("more landmarks", len(worth_it), visible=verbose > 0) as advance:
            for i in worth_it:
                regression = Regression(problem, trials[i].combination, more_landmarks)
                trials[i] = regression.walk(trials[i].ridge, criterion, 1)
                advance(1)
    return trials


def _tabulate(trials: Sequence[Trial]) -> dict[str, np.ndarray]:
    """Return what was tried, a row for each combination and ridge."""
    lengths = [len(trial.tried["ridge"]) for trial in trials]
    return {
        "kernel": np.repeat([trial.combination.kernel for trial in trials], lengths),
        "scaling": np.repeat([trial.combination.scaling for trial in trials], lengths),
        **{name: np.concatenate([trial.tried[name] for trial in trials]) for name in trials[0].tried},
        "n_rows": np.repeat([trial.n_rows for trial in trials], lengths),
    }


def _check_memory(n: int, n_anchors: int) -> None:
    """Refuse more rows than there is memory for."""
    # Two matrices of rows and anchors where these are the rows; else of landmarks, and of the rows that are left out.
    needed = 16.0 * n_anchors * (n if n == n_anchors else 2 * n_anchors + min(n, _LEFT_OUT[0]))
    if needed > (memory := physical_memory()):
        raise MemoryError(
            f"{n} rows compared with {n_anchors} would need about {needed / 1e9:.3g} GB of memory, and there are "
            f"{memory / 1e9:.3g} GB. Choose a smaller max_landmarks, such as 'auto'."
        )


def physical_memory() -> float:
    """Bytes of memory that the machine has; infinite where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * float(os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")

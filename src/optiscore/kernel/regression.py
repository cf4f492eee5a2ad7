"""Kernel ridge regression of labelled rows with one kernel and scaling: the way to its ridge, and what comes of it."""

import numpy as np

from ..numerics.blocks import map_threads, n_threads
from ..numerics.types import FloatArray
from .cholesky_ridge import ExactRidge, RidgeFit, ThinRidge
from .expansion import KernelExpansion
from .kernels import KERNELS, Kernel
from .parameters import Combination
from .problem import Criterion, Judged, Problem, Trial
from .spectral_ridge import Spectrum

# Of rows that are left out one by one, so many choose the ridge.
_CHOOSING = 500

# A slope of the loss in the logarithm of the ridge for which another ridge is not worth its time.
_FLAT = 0.0025

# Stripes of a symmetric matrix of kernel values.
_STRIPES = 16


def try_combination(
    problem: Problem, combination: Combination, criterion: Criterion, *, judges_all: bool = True
) -> Trial:
    """Return the trial of all ridges; those near that of the least squared error are judged, or the most promising."""
    kernel, rows, T = KERNELS[combination.kernel], problem.scaled(combination.scaling), problem.targets
    anchors, bandwidth = kernel.prepare(rows)
    values = kernel(rows, anchors, bandwidth)
    exact = anchors is rows
    mass = problem.masses.mass
    if exact:
        spectrum = Spectrum.exact(values, mass)
    else:
        spectrum = Spectrum.thin(values, kernel(anchors, anchors, bandwidth), mass)
    path = spectrum.ridge_path(T, problem.ridges)
    errors = path.squared_errors()
    least, n_near = int(errors.argmin()), criterion.n_neighbours
    near = range(max(least - n_near, 0), min(least + n_near + 1, len(errors)))
    if not judges_all:
        promise = [criterion.loss(problem, path.left_out[i], None)[0] for i in near]
        best = near.start + int(np.argmin(promise))
        near = range(best, best + 1)
    judged = [criterion.judge(problem, path.left_out[i]) for i in near]
    losses = np.full(len(errors), np.nan)
    losses[near.start : near.stop] = [each.loss for each in judged]
    best = int(np.nanargmin(losses))
    ridge, chosen = float(problem.ridges[best]), judged[best - near.start]
    coefficients = spectrum.coefficients(T, ridge) @ chosen.projector
    expansion = KernelExpansion(combination.kernel, anchors, bandwidth, coefficients, spectrum.means @ coefficients)
    tried = {"ridge": problem.ridges, criterion.name: losses, "squared_error": errors}
    errors = path.error[best] @ chosen.projector
    return Trial(combination, ridge, chosen, expansion, errors, spectrum.absolute_ridge(ridge), tried, len(rows))


class Regression:
    """Regression of the class indicators with one kernel and scaling; landmarks are places of rows, None all rows."""

    def __init__(self, problem: Problem, combination: Combination, landmarks: np.ndarray | None) -> None:
        self._problem, self._combination = problem, combination
        kernel = KERNELS[combination.kernel]
        chosen = problem.scaled(combination.scaling, slice(None) if landmarks is None else landmarks)
        self._anchors, self._bandwidth = kernel.prepare(chosen)
        # The functions that copies span are spanned by one of each.
        distinct = np.unique(chosen, axis=0, return_index=True)[1]
        if self._anchors is chosen and 2 * len(distinct) < len(chosen):
            self._anchors = chosen[np.sort(distinct)]
        # Rows that are some of all are in random order.
        self._n_choosing = None if problem.rows is None else _CHOOSING
        self._ridge: ExactRidge | ThinRidge
        if landmarks is None and self._anchors is chosen:
            matrix = _kernel_matrix(kernel, chosen, self._bandwidth)
            self._ridge = ExactRidge(matrix, problem.centred(slice(None)), problem.masses.mass)
        else:
            compare = kernel.against(self._anchors, self._bandwidth)
            rows = np.arange(len(problem.codes)) if problem.rows is None else problem.rows
            self._ridge = ThinRidge(compare, self._anchors, self._block, problem.masses, rows)

    def _block(self, part: slice) -> tuple[FloatArray, FloatArray]:
        return self._problem.scaled(self._combination.scaling, part), self._problem.centred(part)

    def walk(self, start: float, criterion: Criterion, most_steps: int) -> Trial:
        """Return the trial of the ridge that is found by going downhill; the slope says whether to take a step."""
        problem, ridges, rows = self._problem, self._problem.ridges, self._n_choosing
        some = problem.first_left_out(rows)
        place = int(np.abs(np.log(ridges / start)).argmin())
        fit = self._ridge.fit(float(ridges[place]), rows, change=True)
        slope = criterion.loss(some, fit.left_out, fit.change)[1]
        judged, step = criterion.judge(some, fit.left_out), -int(np.sign(slope))
        while abs(slope) > _FLAT and most_steps and 0 <= place + step < len(ridges):
            new = self._ridge.fit(float(ridges[place + step]), rows)
            new_judged = criterion.judge(some, new.left_out)
            if new_judged.loss >= judged.loss:
                break
            most_steps, slope = most_steps - 1, new_judged.loss - judged.loss
            place, fit, judged = place + step, new, new_judged
        ridge = float(ridges[place])
        if rows is not None:
            fit = self._ridge.fit(ridge)
            judged = criterion.judge(problem, fit.left_out)
        return self._trial(ridge, fit, judged, criterion)

    def gain(self, trial: Trial, criterion: Criterion) -> float:
        """Return by how much the loss is smaller than with half of the landmarks; 0 where anchors are none."""
        if trial.combination.kernel == "linear" or len(self._anchors) < 2:
            return 0.0
        some = self._problem.first_left_out(self._n_choosing)
        assert isinstance(self._ridge, ThinRidge)
        fits = (self._ridge.fit(trial.ridge, self._n_choosing, m) for m in (len(self._anchors) // 2, None))
        half, whole = (criterion.loss(some, fit.left_out, None)[0] for fit in fits)
        return half - whole

    def _trial(self, ridge: float, fit: RidgeFit, judged: Judged, criterion: Criterion) -> Trial:
        problem, n = self._problem, len(self._problem.codes)
        error = problem.errors(fit.left_out)
        squared = 2 * float(np.average(np.square(error).sum(axis=1), weights=problem.weights))
        tried = {"ridge": ridge, criterion.name: judged.loss, "squared_error": squared}
        coefficients = fit.coefficients @ judged.projector
        offset = self._ridge.means @ coefficients
        expansion = KernelExpansion(self._combination.kernel, self._anchors, self._bandwidth, coefficients, offset)
        columns = {name: np.array([x]) for name, x in tried.items()}
        absolute = ridge * self._ridge.mean_eigenvalue
        return Trial(self._combination, ridge, judged, expansion, error @ judged.projector, absolute, columns, n)


def _kernel_matrix(kernel: Kernel, rows: FloatArray, bandwidth: float) -> FloatArray:
    """Return kernel values of rows with each other; of what is symmetric one half is computed, on threads."""
    n = len(rows)
    values, step = np.empty((n, n)), max(1, n // _STRIPES)

    def work(start: int) -> None:
        stop = min(start + step, n)
        values[start:stop, :stop] = kernel(rows[start:stop], rows[:stop], bandwidth)
        values[:start, start:stop] = values[start:stop, :start].T

    map_threads(work, range(0, n, step), n_threads(10 * n**2))
    return values

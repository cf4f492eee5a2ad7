"""What is asked of kernels: labelled rows, which of them are left out, and what makes one fit better than another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from ..moments.labelled import TrainingSet
from ..moments.subsets import stratified
from ..numerics.types import FloatArray
from .expansion import KernelExpansion
from .parameters import Combination
from .scalings import SCALINGS, Scaling
from .spectral_ridge import Masses, contrasts

# A row of a smaller weight, in units of the mean one, counts as much as this.
_LEAST_MASS = 1e-9

# Beyond so many rows, scalings are those of some of the rows; beyond so many, the estimators are refused.
_SCALED, MOST_ROWS = 100_000, 1_000_000


@dataclass(frozen=True)
class Problem:
    """Labelled samples, the scalings that were fitted to them, and which of them are left out one by one."""

    #: Samples, of shape (n_samples, n_features).
    X: FloatArray
    #: Fitted scalings by name.
    scalings: Mapping[str, Scaling]
    #: Classes, 0 to n_classes - 1; of shape (n_samples,).
    codes: np.ndarray
    n_classes: int
    #: Candidates, increasing; of shape (n_ridges,).
    ridges: FloatArray
    #: Rows that are left out one by one, and what each stands for; None: all of them, in order.
    rows: np.ndarray | None = None
    weights: FloatArray | None = None
    #: Weights of all samples, 1 in the mean; None: 1 each. Of shape (n_samples,).
    mass: FloatArray | None = None

    def take(self, rows: np.ndarray) -> Self:
        """Some of the samples, all of which are left out."""
        mass = None if self.mass is None else self.mass[rows]
        return replace(self, X=self.X[rows], codes=self.codes[rows], rows=None, weights=mass, mass=mass)

    def leaving_out(self, rows: np.ndarray | None, weights: FloatArray | None) -> Self:
        """The same samples, of which these are left out; each stands for so many, times its weight."""
        if self.mass is not None:
            mass = self.mass if rows is None else self.mass[rows]
            weights = mass if weights is None else weights * mass
        return replace(self, rows=rows, weights=weights)

    def first_left_out(self, most: int | None) -> Self:
        """The same samples, of which the first that are left out are."""
        if most is None:
            return self
        assert self.rows is not None
        return replace(self, rows=self.rows[:most], weights=None if self.weights is None else self.weights[:most])

    def scaled(self, name: str, part: slice | np.ndarray = slice(None)) -> FloatArray:
        """Some of the samples under a scaling."""
        return self.scalings[name](self.X[part].astype(np.float64, copy=False))

    @property
    def left_out_codes(self) -> np.ndarray:
        """Classes of the rows that are left out."""
        return self.codes if self.rows is None else self.codes[self.rows]

    @property
    def fractions(self) -> FloatArray:
        """Parts of the samples that are in each class."""
        counts = np.bincount(self.codes, self.mass, minlength=self.n_classes)
        return counts / counts.sum()

    @property
    def masses(self) -> Masses:
        """Weights of all samples."""
        return Masses(None if self.mass is None else self.mass[:, None], len(self.codes))

    @property
    def left_out_masses(self) -> Masses:
        """Weights of the rows that are left out."""
        return self.masses if self.rows is None else self.masses.take(self.rows)

    @property
    def targets(self) -> FloatArray:
        """Class indicators of the rows that are left out, in contrasts less their means; (n_rows, n_classes - 1)."""
        return self.centred(slice(None) if self.rows is None else self.rows)

    def errors(self, left_out: FloatArray) -> FloatArray:
        """Return errors of predictions of rows that are left out, which lack the intercept of the others."""
        share = self.left_out_masses.mass
        return self.targets / (1 - (1.0 if share is None else share) / self.masses.total) - left_out

    def centred(self, part: slice | np.ndarray) -> FloatArray:
        """Class indicators of some of the samples, in contrasts less their means."""
        H = contrasts(self.n_classes)
        return H[self.codes[part]] - self.fractions @ H


def pose(training: TrainingSet, names: Sequence[str], ridges: FloatArray) -> Problem:
    """Return the problem of a training set, with scalings that were fitted to it."""
    X, codes = training.X, training.codes
    if len(X) > MOST_ROWS:
        raise ValueError(
            f"there are {len(X):,} rows, and kernels take {MOST_ROWS:,} at most. Take a sample of the rows, or "
            f"ModeratedDiscriminantAnalysis, which learns from any number of rows."
        )
    # Beyond this, weights are lost in rounding.
    mass = None if training.weight is None else np.maximum(training.weight / training.weight.mean(), _LEAST_MASS)
    rows = slice(None) if len(X) <= _SCALED else stratified(codes, _SCALED, 2, seed=0).rows
    doubles, weight = X[rows].astype(np.float64, copy=False), None if mass is None else mass[rows]
    scalings = {name: SCALINGS[name].fit(doubles, weight) for name in dict.fromkeys(names)}
    return Problem(X, scalings, codes, len(training.labels), ridges, weights=mass, mass=mass)


class Judged(NamedTuple):
    """What a criterion says of predictions of rows that are left out."""

    loss: float
    #: What predictions are multiplied with.
    projector: FloatArray
    #: Of the rows that were left out: coordinates, or probabilities.
    left_out: FloatArray
    #: What is fitted behind the coordinates, if anything.
    models: Any


class Criterion(Protocol):
    """What makes one regression better than another."""

    #: Name of the loss in tables.
    name: str
    #: How many ridges on either side of that of the least squared error are judged.
    n_neighbours: int

    def judge(self, problem: "Problem", left_out: FloatArray) -> Judged:
        """Judge predictions of the rows of a problem that are left out."""

    def loss(self, problem: "Problem", left_out: FloatArray, change: FloatArray | None) -> tuple[float, float]:
        """Return a loss that is quickly told, and its slope in the logarithm of the ridge, NaN without the change."""


class Trial(NamedTuple):
    """One combination of kernel and scaling with its best ridge."""

    combination: Combination
    ridge: float
    judged: Judged
    expansion: KernelExpansion
    #: Errors of the rows that were left out, in the coordinates; of shape (n_rows, n_coordinates).
    errors: FloatArray
    #: What is added to the eigenvalues of the kernel matrix of all rows.
    absolute_ridge: float
    #: What was tried: ridges, squared errors, and losses where they were judged.
    tried: dict[str, FloatArray]
    n_rows: int

    @property
    def loss(self) -> float:
        """The criterion's loss."""
        return self.judged.loss

"""Base of the extreme scores: one scalar function of alpha, found through one dual variable."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from ...documented import plain_signatures
from ...numerics.root_finding import find_root
from ...numerics.types import LOG_2PI, FloatArray
from .table import ScoreTable

Quantity: TypeAlias = Literal["value", "log_score"]
Curve: TypeAlias = Callable[[FloatArray], FloatArray]


# Inside these limits no intermediate result over- or underflows. Below the floors every score is constant to 30
# digits; above the ceilings it saturates instead of overflowing.
ALPHA_FLOOR, ALPHA_CEILING = 1e-200, 1e290
_RADIUS_FLOOR, RADIUS_CEILING = 1e-60, 1e15

# Some twenty arrays of this many doubles are alive during a search: more would leave the caches, and with fewer threads
# would wait for each other.
_BLOCK = 16_384


class Extremum(NamedTuple):
    """The optimum at each alpha.

    Parameters
    ----------
    dual_variable : ndarray
        Dual variable gamma.
    value : ndarray
        L (Gaussian, fixed mean) or q (nonparametric).
    derivative : ndarray
        Derivative of the value by alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import GaussianOptimistic
    >>> found = GaussianOptimistic(0.5, 2).solve(np.array([0.0, 4.0]))
    >>> found.value.round(4), found.derivative.round(4)
    (array([ 1.2654, -1.1112]), array([-1.    , -0.4187]))
    """

    dual_variable: FloatArray
    value: FloatArray
    derivative: FloatArray


class Mixing(NamedTuple):
    """Extremal moments mu = m + shift w and Sigma = scale S + spread w w', with w = x - m.

    Parameters
    ----------
    shift, scale, spread : ndarray
        The coefficients at each alpha.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.scores import GaussianOptimistic
    >>> mixing = GaussianOptimistic(0.5, 2).mixing(np.array([4.0]))
    >>> [float(part[0].round(4)) for part in mixing]
    [0.3471, 0.6529, 0.2266]
    """

    shift: FloatArray
    scale: FloatArray
    spread: FloatArray


@plain_signatures
@dataclass(frozen=True)
class ExtremeScore(ABC):
    """The best or the worst score over an ambiguity set, as a function of the squared Mahalanobis distance alpha.

    The divergence that the optimal moments spend decreases in the dual variable gamma; the optimum is where it equals
    the radius. The search runs on z, the logarithm of gamma or of its distance to the end of its range (see the
    subclasses): the logarithm of the divergence is nearly straight in z, so that Newton's method needs a few steps.

    Parameters
    ----------
    radius : float or ndarray
        Radius rho >= 0 of the ambiguity set; an array holds one radius per alpha.
    n_features : int
        Dimension d.

    Examples
    --------
    The six scores are subclasses; `optiscore.LIKELIHOODS` has them in pairs.

    >>> import numpy as np
    >>> from optiscore import LIKELIHOODS
    >>> best, worst = (LIKELIHOODS["gaussian"].at(side, 0.5, 2) for side in ("optimistic", "pessimistic"))
    >>> alpha = np.array([0.0, 1.0, 4.0])
    >>> best.log_score(alpha).round(2), worst.log_score(alpha).round(2)
    (array([-1.21, -1.62, -2.39]), array([-2.64, -3.47, -6.87]))
    """

    radius: float | FloatArray
    n_features: int

    def __post_init__(self) -> None:
        radius = np.asarray(self.radius)
        if not (np.isfinite(radius).all() and (radius >= 0).all()):
            raise ValueError(f"radius must be finite and >= 0, got {self.radius!r}.")
        if self.n_features != int(self.n_features) or self.n_features < 1:
            raise ValueError(f"n_features must be a positive integer, got {self.n_features!r}.")

    # dq/dalpha or dL/dalpha at radius 0, where the value is the nominal one.
    _nominal_slope: ClassVar[float] = -1.0

    def value(self, alpha: FloatArray) -> FloatArray:
        """Value of the dual problem.

        Returns
        -------
        ndarray
            L (Gaussian, fixed mean; for log det S = 0) or q (nonparametric).
        """
        return self.solve(alpha).value

    def derivative(self, alpha: FloatArray) -> FloatArray:
        """Derivative of the value with respect to alpha, by the envelope theorem.

        Returns
        -------
        ndarray
        """
        return self.solve(alpha).derivative

    def dual_variable(self, alpha: FloatArray) -> FloatArray:
        """The optimal gamma.

        Returns
        -------
        ndarray
            Infinite at radius 0.
        """
        return self.solve(alpha).dual_variable

    def solve(self, alpha: FloatArray) -> Extremum:
        """Solve the dual problem at each alpha.

        Parameters
        ----------
        alpha : ndarray
            Squared Mahalanobis distances; float32 in, float32 out (the search itself runs in float64).

        Returns
        -------
        Extremum
            Dual variables, values and derivatives.
        """
        alpha = np.asarray(alpha)
        dtype = np.float32 if alpha.dtype == np.float32 else np.float64
        radius = np.broadcast_to(np.asarray(self.radius, dtype=np.float64), alpha.shape).ravel()
        flat = alpha.ravel()
        result = np.empty((3, flat.size), dtype=dtype)
        for start in range(0, flat.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            found = np.stack(self._solve_block(flat[block].astype(np.float64), radius[block]))
            # Results too large for single precision saturate instead of overflowing.
            limit = np.finfo(dtype).max
            result[:, block] = np.where(np.isfinite(found), np.clip(found, -limit, limit), found)
        return Extremum(*(row.reshape(alpha.shape) for row in result))

    def log_score(self, alpha: FloatArray) -> FloatArray:
        """Natural logarithm of the score, for log det S = 0.

        Returns
        -------
        ndarray
        """
        return self.log_of(self.solve(alpha).value)

    def log_of(self, value: FloatArray) -> FloatArray:
        """Natural logarithm of the score that belongs to a value: here the log density (L - d log 2 pi)/2.

        Returns
        -------
        ndarray
        """
        return 0.5 * value - 0.5 * self.n_features * LOG_2PI

    def log_slope_of(self, value: FloatArray) -> FloatArray:
        """Derivative of `log_of`.

        Returns
        -------
        ndarray
        """
        return np.full_like(value, 0.5)

    def mixing(self, alpha: FloatArray) -> Mixing:
        """Coefficients of the moments that attain the optimum at alpha > 0 and radius > 0.

        Returns
        -------
        Mixing
        """
        alpha = np.asarray(alpha, dtype=np.float64)
        return self._mixing(self._search(alpha, np.broadcast_to(self.radius, alpha.shape)), alpha)

    def tabulate(self, quantity: Quantity = "log_score", dtype: type = np.float64) -> Curve:
        """Return the value or the log score as a function of alpha without a search per sample: a table, made once.

        Parameters
        ----------
        quantity : {"log_score", "value"}, default="log_score"
            What is tabulated.
        dtype : type, default=numpy.float64
            Type of the results, float64 or float32.

        Returns
        -------
        callable
            From arrays of alpha to arrays of the quantity: at radius 0 in closed form.

        Raises
        ------
        ValueError
            If there is more than one radius, or the quantity or the type is another.
        """
        if quantity not in ("value", "log_score"):
            raise ValueError(f"quantity must be 'value' or 'log_score', got {quantity!r}.")
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
        if np.ndim(self.radius):
            raise ValueError("a table is made for one radius; solve for an array of radii.")
        return self.closed_form(quantity, dtype) or self._table(quantity, np.dtype(dtype).name)

    def closed_form(self, quantity: Quantity, dtype: type) -> Curve | None:
        """Return the value or the log score in closed form, where there is one.

        Parameters
        ----------
        quantity : {"log_score", "value"}
            What is asked for.
        dtype : type
            Type of the results, float64 or float32.

        Returns
        -------
        callable or None
        """
        value = self._value_without_search()
        if value is None:
            return None
        return partial(_clipped, value, self.log_of if quantity == "log_score" else None, np.dtype(dtype))

    @property
    def pivot(self) -> float:
        """The distance sqrt(alpha) near which the value bends most, or starts to."""
        return 0.0

    def _value_without_search(self) -> Curve | None:
        """A closed form of the value, where there is one."""
        return self._nominal_value if self.radius == 0 else None

    def _nominal_value(self, alpha: FloatArray) -> FloatArray:
        return self._nominal_slope * alpha

    def _curve(self, quantity: Quantity, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A quantity and its derivative by alpha."""
        _, value, derivative = self.solve(alpha)
        if quantity == "value":
            return value, derivative
        return self.log_of(value), self.log_slope_of(value) * derivative

    # A table takes between 0.16 and 0.6 MB.
    @lru_cache(maxsize=128)  # noqa: B019 - scores are values, and few
    def _table(self, quantity: Quantity, dtype: str) -> ScoreTable:
        return ScoreTable(partial(self._curve, quantity), self.pivot, np.dtype(dtype).type)

    def _solve_block(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        alpha, nominal = np.clip(alpha, 0, ALPHA_CEILING), rho == 0
        if nominal.all():
            slope = np.full_like(alpha, self._nominal_slope)
            return np.full_like(alpha, np.inf), slope * alpha, slope
        inside, rho = np.maximum(alpha, ALPHA_FLOOR), np.where(nominal, 1.0, rho)
        gamma, value, derivative = self._evaluate(self._search(inside, rho), inside, rho)
        if nominal.any():
            gamma = np.where(nominal, np.inf, gamma)
            value = np.where(nominal, self._nominal_slope * alpha, value)
            derivative = np.where(nominal, self._nominal_slope, derivative)
        return gamma, value, derivative

    def _search(self, alpha: FloatArray, rho: FloatArray) -> FloatArray:
        """Find the z at which the divergence spent equals rho."""

        def surplus(z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
            spent, decrease = self._spent(z, alpha)
            return np.log(rho / spent), decrease / spent

        rho = np.clip(rho, _RADIUS_FLOOR, RADIUS_CEILING)
        lower, upper = self._bracket(alpha, rho)
        roots = find_root(surplus, lower, upper, (alpha, rho))
        if not roots.converged.all():
            raise ArithmeticError(f"{type(self).__name__} found no dual variable; please report its arguments.")
        return roots.root

    @abstractmethod
    def _bracket(self, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bounds on z: each term of the divergence is at most rho, and one of the two is at least rho/2."""

    @abstractmethod
    def _spent(self, z: FloatArray, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Divergence spent at z, and the negative of its derivative with respect to z."""

    @abstractmethod
    def _evaluate(self, z: FloatArray, alpha: FloatArray, rho: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Dual variable, value and derivative at the solution z."""

    @abstractmethod
    def _mixing(self, z: FloatArray, alpha: FloatArray) -> Mixing:
        """Coefficients of the extremal moments at the solution z."""


def _clipped(value: Curve, log_of: Curve | None, dtype: np.dtype, alpha: FloatArray) -> FloatArray:
    """Return a closed form, or its logarithm, where numbers do not overflow."""
    ceiling = min(ALPHA_CEILING, float(np.finfo(dtype).max))
    values = value(np.clip(np.asarray(alpha, dtype=dtype), 0, ceiling))
    return values if log_of is None else log_of(values)

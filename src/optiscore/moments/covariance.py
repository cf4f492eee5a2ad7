"""Covariance estimators that users name: a ridge, functions of sums, and any of scikit-learn's."""

from collections.abc import Callable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance, ShrunkCovariance, shrunk_covariance
from sklearn.utils.validation import has_fit_parameter, validate_data

from ..documented import Documented
from ..numerics.types import FloatArray
from .central import CentralMoments
from .labelled import ClassData, check_weights
from .sums import MomentSums


# scikit-learn has no types: its classes are Any to the type checker.
class RidgeCovariance(Documented, EmpiricalCovariance):  # type: ignore[misc]
    """Empirical covariance plus a multiple of the identity, Sigma + ridge I (the paper's baseline RQDA).

    Parameters
    ----------
    ridge : float, default=0.1
        What is added to every variance, >= 0.
    store_precision : bool, default=True
        Whether the inverse is stored, as in scikit-learn's estimators.
    assume_centered : bool, default=False
        Whether the data are centred already.

    Attributes
    ----------
    location_ : ndarray of shape (n_features,)
        Mean.
    covariance_ : ndarray of shape (n_features, n_features)
        Covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import RidgeCovariance
    >>> RidgeCovariance(ridge=0.5).fit(np.array([[0.0, 1.0], [2.0, 1.0]])).covariance_
    array([[1.5, 0. ],
           [0. , 0.5]])
    """

    def __init__(self, ridge: float = 0.1, *, store_precision: bool = True, assume_centered: bool = False) -> None:
        super().__init__(store_precision=store_precision, assume_centered=assume_centered)
        self.ridge = ridge

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Estimate the covariance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : RidgeCovariance
        """
        points = validate_data(self, X, dtype=np.float64)
        sums = MomentSums.from_samples(points, None if sample_weight is None else check_weights(sample_weight, points))
        self.location_, covariance = _with_ridge(self, sums)
        self._set_covariance(covariance)
        return self


def _empirical(estimator: Any, sums: CentralMoments) -> tuple[FloatArray, FloatArray]:
    if not estimator.assume_centered:
        return sums.mean, sums.covariance
    return np.zeros(sums.n_features), sums.covariance + np.outer(sums.mean, sums.mean)


def _with_ridge(estimator: Any, sums: CentralMoments) -> tuple[FloatArray, FloatArray]:
    if not (isinstance(estimator.ridge, Real) and 0 <= float(estimator.ridge) < np.inf):
        raise ValueError(f"ridge must be a finite number >= 0, got {estimator.ridge!r}.")
    mean, covariance = _empirical(estimator, sums)
    return mean, covariance + float(estimator.ridge) * np.eye(len(mean))


def _shrunk(estimator: Any, sums: CentralMoments) -> tuple[FloatArray, FloatArray]:
    mean, covariance = _empirical(estimator, sums)
    return mean, shrunk_covariance(covariance, estimator.shrinkage)


#: Estimators that are functions of a class's sums: they need no samples, and take weights.
FROM_SUMS: Mapping[type, Callable[[Any, CentralMoments], tuple[FloatArray, FloatArray]]] = MappingProxyType(
    {EmpiricalCovariance: _empirical, RidgeCovariance: _with_ridge, ShrunkCovariance: _shrunk}
)


def check_estimator_for_sums(covariance_estimator: Any) -> None:
    """Refuse a covariance estimator that needs the samples themselves."""
    if covariance_estimator is not None and type(covariance_estimator) not in FROM_SUMS:
        names = ", ".join(sorted(kind.__name__ for kind in FROM_SUMS))
        raise ValueError(
            f"covariance_estimator {covariance_estimator!r} needs all samples at once, not block by block. Use None or "
            f"one of {names}."
        )


def estimate_by(covariance_estimator: Any, known: ClassData) -> tuple[FloatArray, FloatArray, float]:
    """Return mean, covariance and shrinkage of one class by an estimator."""
    if type(covariance_estimator) in FROM_SUMS:
        mean, covariance = FROM_SUMS[type(covariance_estimator)](covariance_estimator, known.sums)
        return mean, covariance, getattr(covariance_estimator, "shrinkage", 0.0)
    return *_fit_estimator(covariance_estimator, known), 0.0


def _fit_estimator(covariance_estimator: Any, known: ClassData) -> tuple[FloatArray, FloatArray]:
    """Location and covariance from any scikit-learn covariance estimator, fitted on a clone."""
    if isinstance(covariance_estimator, type) or not hasattr(covariance_estimator, "fit"):
        raise ValueError(
            f"covariance_estimator must be None or an estimator object such as LedoitWolf(), got "
            f"{covariance_estimator!r}."
        )
    estimator = clone(covariance_estimator)
    name = type(estimator).__name__
    X, weight = known.samples()
    keywords = {}
    if weight is not None:
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"{name} does not support sample_weight. Use covariance_estimator=None or RidgeCovariance, or fit "
                f"without weights."
            )
        keywords["sample_weight"] = weight
    try:
        estimator.fit(X, **keywords)
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        raise ValueError(f"{name} failed on class {str(known.label)!r}: {error}") from error
    if not hasattr(estimator, "covariance_"):
        raise ValueError(f"{name} has no covariance_ after fit: it is no covariance estimator.")
    location = getattr(estimator, "location_", None)
    mean = known.sums.mean if location is None else np.asarray(location, dtype=np.float64)
    return mean.ravel(), np.asarray(estimator.covariance_, dtype=np.float64)

"""Radii of the ambiguity sets from the limit distribution of the divergence (paper, Section 2)."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv

from ..documented import plain_signature
from ..estimators.validation import by_label, numbers_per_class
from ..moments.factors import finite_array
from ..moments.labelled import ClassData
from ..numerics.types import FloatArray
from ..trust.probabilities import check_probability
from .limit_law import LimitLaw
from .log_scores import NominalMoments
from .scores.base import RADIUS_CEILING


@plain_signature
def clt_radius(n_samples: float, n_features: int, quantile: float = 0.5) -> float:
    """Radius for moments estimated from Gaussian samples (paper, Corollary 2.3).

    n times the divergence of the estimated from the true moments tends to a chi-square distribution with
    d (d + 3)/2 degrees of freedom; the radius is its quantile, divided by n.

    Parameters
    ----------
    n_samples : float
        Number of samples behind the moments (or their total weight), positive.
    n_features : int
        Dimension d.
    quantile : float, default=0.5
        Probability, between 0 and 1, with which the true moments shall lie in the set.

    Returns
    -------
    float
        The radius.

    Examples
    --------
    >>> from optiscore import clt_radius
    >>> round(clt_radius(100, 5), 6)
    0.193374
    """
    check_probability(quantile, "quantile")
    if not (isinstance(n_samples, Real) and np.isfinite(n_samples) and n_samples > 0):
        raise ValueError(f"n_samples must be a positive number, got {n_samples!r}.")
    if not (isinstance(n_features, Integral) and n_features > 0):
        raise ValueError(f"n_features must be a positive integer, got {n_features!r}.")
    freedom = int(n_features) * (int(n_features) + 3) / 2
    return float(2 * gammaincinv(freedom / 2, quantile) / n_samples)


@plain_signature
def empirical_radius(
    X: ArrayLike,
    quantile: float = 0.5,
    *,
    mean: ArrayLike | None = None,
    covariance: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    max_samples: int = 4000,
) -> float:
    """Radius for moments estimated from samples of any distribution with finite fourth moments (paper, Theorem 2.2).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples behind the moments.
    quantile : float, default=0.5
        Probability, between 0 and 1, with which the true moments shall lie in the set.
    mean, covariance : array-like, default=None
        The moments; None stands for the samples' own (covariance with denominator n).
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples; integers act as repetitions.
    max_samples : int, default=4000
        So many samples stand for all where both they and the moments are more, as for `LimitLaw.from_samples`.

    Returns
    -------
    float
        Quantile of the limit distribution, divided by the number of samples (or their total weight).

    See Also
    --------
    clt_radius : The same for Gaussian samples, in closed form.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore import clt_radius, empirical_radius
    >>> rng = np.random.default_rng(0)
    >>> round(empirical_radius(rng.normal(size=(1000, 3))) / clt_radius(1000, 3), 2)
    0.97
    >>> round(empirical_radius(rng.exponential(size=(1000, 3))) / clt_radius(1000, 3), 2)
    1.71
    """
    check_probability(quantile, "quantile")
    X = finite_array(X, "X")
    limit = LimitLaw.from_samples(
        X, mean=mean, covariance=covariance, sample_weight=sample_weight, max_samples=max_samples
    )
    n_samples = len(X) if sample_weight is None else float(np.sum(sample_weight))
    return float(limit.ppf(quantile)) / n_samples


def choose_radii(radius: Any, quantile: float, classes: Sequence[ClassData], moments: NominalMoments) -> FloatArray:
    """Return one radius per class: calibrated, or as given."""
    if isinstance(radius, str):
        check_radius_parameter(radius, quantile)
        d = moments.means.shape[1]
        radii = np.array(
            [
                clt_radius(known.sums.weight_sum, d, quantile)
                if radius == "clt" or (known.sums.lowest == known.sums.highest).all()
                else _empirical(known, mean, covariance, quantile)
                for known, mean, covariance in zip(classes, moments.means, moments.covariances, strict=True)
            ]
        )
        # Beyond, scores no longer change.
        return np.minimum(radii, RADIUS_CEILING)
    return given_radii(radius, [known.label for known in classes])


def given_radii(radius: Any, labels: Sequence[Any]) -> FloatArray:
    """Return one radius per class from a number, numbers or a dict."""
    given = by_label(radius, labels, "radius")
    listed = [given] * len(labels) if np.isscalar(given) or given is None else given
    if np.asarray(listed).dtype.kind not in "iufO":
        raise ValueError(f"radius must be a number, one per class or a dict, got {radius!r}.")
    return check_radii(numbers_per_class(listed, "radius", len(labels)))


def check_radius_parameter(radius: Any, quantile: float) -> None:
    """Raise if no samples can make it right."""
    if isinstance(radius, str):
        if radius not in ("clt", "empirical"):
            raise ValueError(f"radius must be 'clt', 'empirical', a number, one per class or a dict, got {radius!r}.")
        check_probability(quantile, "quantile")
        return
    given = list(radius.values()) if isinstance(radius, Mapping) else radius
    if np.asarray(given).dtype.kind not in "iufO":
        raise ValueError(f"radius must be a number, not {given!r}.")
    check_radii(numbers_per_class(np.atleast_1d(given), "radius", None))


def check_radii(radii: FloatArray) -> FloatArray:
    """Return radii; raise if there are no balls that have them."""
    if not ((radii >= 0) & (radii <= RADIUS_CEILING)).all():
        raise ValueError(
            f"radius must be >= 0 and at most {RADIUS_CEILING:g}, got {radii.tolist()}. Radius 0 takes the moments as "
            f"exact."
        )
    return radii


def _empirical(known: ClassData, mean: FloatArray, covariance: FloatArray, quantile: float) -> float:
    """Return the radius of samples whitened by nominal moments: so have classes of fewer samples than features one."""
    X, weight = known.samples()
    return empirical_radius(X, quantile, mean=mean, covariance=covariance, sample_weight=weight)

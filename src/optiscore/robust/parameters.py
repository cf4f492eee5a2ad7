"""Parameters of the classifier, checked and brought into one form: pooling and radii; what blocks of samples allow."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..moments.covariance import check_estimator_for_sums
from ..moments.labelled import ClassData
from ..moments.nominal import NominalMoments, check_priors, numbers_per_class
from ..numerics.types import FloatArray
from ..trust.probabilities import check_probability
from .radii import clt_radius, empirical_radius
from .rules import check_decision_rule, is_tuned
from .scores.base import RADIUS_CEILING
from .scores.registry import get_likelihood


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse what no samples can make right, before any are read."""
    get_likelihood(parameters["likelihood"])
    check_decision_rule(parameters["decision_rule"])
    check_pooling(parameters["pooling"])
    if parameters["priors"] is not None:
        check_priors(parameters["priors"])
    radius = parameters["radius"]
    if isinstance(radius, str):
        _check_calibration(radius, parameters["quantile"])
    else:
        _check_numbers(np.atleast_1d(list(radius.values()) if isinstance(radius, Mapping) else radius))


def check_for_blocks(decision_rule: Any, radius: Any, covariance_estimator: Any) -> None:
    """Refuse what needs all samples at once."""
    if is_tuned(decision_rule):
        raise ValueError(
            "decision_rule 'tuned' compares the scores of all training samples, which partial_fit does not keep. Use "
            "decision_rule='minimax', which needs no tuning, 'prior', or a number."
        )
    check_for_sums(radius, covariance_estimator)


def check_for_sums(radius: Any, covariance_estimator: Any) -> None:
    """Refuse what needs all samples of a class at once."""
    if isinstance(radius, str) and radius == "empirical":
        raise ValueError("radius 'empirical' needs all samples at once, not block by block. Use 'clt' or numbers.")
    check_estimator_for_sums(covariance_estimator)


def check_pooling(pooling: Any) -> float:
    """A fraction between 0 and 1."""
    if not (isinstance(pooling, (int, float, np.number)) and 0 <= pooling <= 1):
        raise ValueError(f"pooling must be a number between 0 and 1, got {pooling!r}.")
    return float(pooling)


def choose_radii(radius: Any, quantile: float, classes: Sequence[ClassData], moments: NominalMoments) -> FloatArray:
    """One radius per class: calibrated, or as given."""
    if isinstance(radius, str):
        _check_calibration(radius, quantile)
        calibrate = _clt if radius == "clt" else _empirical
        radii = np.array([calibrate(known, moments, c, quantile) for c, known in enumerate(classes)])
        # Beyond, scores no longer change.
        return np.minimum(radii, RADIUS_CEILING)
    labels = [known.label for known in classes]
    if isinstance(radius, Mapping):
        if set(radius) != set(labels):
            raise ValueError(f"radius must have one entry per class {_plain(labels)}, got the labels {_plain(radius)}.")
        radius = [radius[label] for label in labels]
    if np.isscalar(radius):
        radius = [radius] * len(classes)
    return _check_numbers(radius, len(classes))


def _check_calibration(radius: str, quantile: float) -> None:
    if radius not in ("clt", "empirical"):
        raise ValueError(f"radius must be 'clt', 'empirical', a number, one per class or a dict, got {radius!r}.")
    check_probability(quantile, "quantile")


def _check_numbers(radii: Any, n_classes: int | None = None) -> FloatArray:
    """Radii that balls can have."""
    given = numbers_per_class(radii, "radius", n_classes)
    if not ((given >= 0) & (given <= RADIUS_CEILING)).all():
        raise ValueError(
            f"radius must be >= 0 and at most {RADIUS_CEILING:g}, got {given.tolist()}. Radius 0 takes the moments as "
            f"exact."
        )
    return given


def _clt(known: ClassData, moments: NominalMoments, c: int, quantile: float) -> float:
    return clt_radius(known.sums.weight_sum, moments.means.shape[1], quantile)


def _empirical(known: ClassData, moments: NominalMoments, c: int, quantile: float) -> float:
    """Whitened by the nominal moments, so that classes with fewer samples than features have a radius too.

    Samples that all coincide tell nothing about their distribution: their class gets the radius of Gaussian samples.
    """
    X, weight = known.samples()
    if (known.sums.lowest == known.sums.highest).all():
        return _clt(known, moments, c, quantile)
    return empirical_radius(X, quantile, mean=moments.means[c], covariance=moments.covariances[c], sample_weight=weight)


def _plain(labels: Any) -> list[Any]:
    return [label.item() if isinstance(label, np.generic) else label for label in labels]

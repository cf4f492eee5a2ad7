"""Parameters of the classifier, checked and brought into one form: priors, pooling and radii."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._typing import FloatArray
from .covariance import FROM_SUMS
from .limit_law import check_probability
from .nominal import NominalMoments
from .radii import clt_radius, limit_radius
from .scores import RADIUS_CEILING, get_score
from .thresholds import check_threshold, is_tuned
from .training_set import ClassData


def check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse what no samples can make right, before any are read."""
    get_score(settings["score"])
    check_threshold(settings["threshold"])
    check_pooling(settings["pooling"])
    if settings["priors"] is not None:
        _shares(settings["priors"])
    radius = settings["radius"]
    if isinstance(radius, str):
        _check_calibration(radius, settings["quantile"])
    else:
        _plausible(np.atleast_1d(list(radius.values()) if isinstance(radius, Mapping) else radius))


def check_for_blocks(threshold: Any, radius: Any, covariance_estimator: Any) -> None:
    """Refuse what needs all samples at once."""
    if is_tuned(threshold):
        raise ValueError(
            "threshold 'tuned' compares the scores of all training samples, which partial_fit does not keep. Use "
            "threshold='minimax', which needs no tuning, 'prior', or a number."
        )
    check_for_sums(radius, covariance_estimator)


def check_for_sums(radius: Any, covariance_estimator: Any) -> None:
    """Refuse what needs all samples of a class at once."""
    if isinstance(radius, str) and radius == "limit":
        raise ValueError("radius 'limit' needs all samples at once, not block by block. Use 'clt' or numbers.")
    if covariance_estimator is not None and type(covariance_estimator) not in FROM_SUMS:
        names = ", ".join(sorted(kind.__name__ for kind in FROM_SUMS))
        raise ValueError(
            f"covariance_estimator {covariance_estimator!r} needs all samples at once, not block by block. Use None or "
            f"one of {names}."
        )


def check_priors(priors: ArrayLike | None, classes: Sequence[ClassData]) -> FloatArray:
    """Class probabilities: those given, or the shares of the samples."""
    if priors is None:
        sizes = np.array([known.sums.size for known in classes])
        return sizes / sizes.sum()
    return _shares(priors, len(classes))


def check_pooling(pooling: Any) -> float:
    """A share between 0 and 1."""
    if not (isinstance(pooling, (int, float, np.number)) and 0 <= pooling <= 1):
        raise ValueError(f"pooling must be a number between 0 and 1, got {pooling!r}.")
    return float(pooling)


def check_radii(radius: Any, quantile: float, classes: Sequence[ClassData], moments: NominalMoments) -> FloatArray:
    """One radius per class: calibrated, or as given."""
    if isinstance(radius, str):
        _check_calibration(radius, quantile)
        calibrate = _clt if radius == "clt" else _limit
        return np.array([calibrate(known, moments, c, quantile) for c, known in enumerate(classes)])
    labels = [known.label for known in classes]
    if isinstance(radius, Mapping):
        if set(radius) != set(labels):
            raise ValueError(f"radius must have one entry per class {_plain(labels)}, got the labels {_plain(radius)}.")
        radius = [radius[label] for label in labels]
    if np.isscalar(radius):
        radius = [radius] * len(classes)
    return _plausible(radius, len(classes))


def _check_calibration(radius: str, quantile: float) -> None:
    if radius not in ("clt", "limit"):
        raise ValueError(f"radius must be 'clt', 'limit', a number, one per class or a dict, got {radius!r}.")
    check_probability(quantile, "quantile")


def _plausible(radii: Any, n_classes: int | None = None) -> FloatArray:
    """Radii that balls can have."""
    given = _numbers(radii, "radius", n_classes)
    if not ((given >= 0) & (given <= RADIUS_CEILING)).all():
        raise ValueError(
            f"radius must be >= 0 and at most {RADIUS_CEILING:g}, got {given.tolist()}. Radius 0 takes the moments as "
            f"exact."
        )
    return given


def _shares(priors: Any, n_classes: int | None = None) -> FloatArray:
    """Probabilities that sum to 1."""
    given = _numbers(priors, "priors", n_classes)
    if not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
        raise ValueError(f"priors must be positive and sum to 1, got {given.tolist()} with sum {given.sum():g}.")
    return given / given.sum()


def _clt(known: ClassData, moments: NominalMoments, c: int, quantile: float) -> float:
    return clt_radius(known.sums.size, moments.means.shape[1], quantile)


def _limit(known: ClassData, moments: NominalMoments, c: int, quantile: float) -> float:
    """Whitened by the nominal moments, so that classes with fewer samples than features have a radius too.

    Samples that all coincide tell nothing about their law: their class gets the radius of Gaussian samples.
    """
    X, weight = known.samples()
    if (known.sums.lowest == known.sums.highest).all():
        return _clt(known, moments, c, quantile)
    return limit_radius(X, quantile, mean=moments.means[c], covariance=moments.covariances[c], sample_weight=weight)


def _numbers(values: Any, name: str, n_classes: int | None) -> FloatArray:
    """One finite number per class, of which there may be any number."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, got {values!r}.") from None
    if n_classes is not None and array.shape != (n_classes,):
        raise ValueError(f"{name} must hold one number for each of the {n_classes} classes, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers, got {values!r}.")
    return array


def _plain(labels: Any) -> list[Any]:
    return [label.item() if isinstance(label, np.generic) else label for label in labels]

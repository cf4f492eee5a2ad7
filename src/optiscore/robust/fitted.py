"""From the public attributes of a fitted classifier, checked, to the model that predicts."""

from typing import Any, NamedTuple

import numpy as np

from ..moments.factors import factorise
from ..moments.nominal import NominalMoments
from ..numerics.types import FloatArray
from .log_scores import ScoreModel
from .rules import BY_PRIORS, Rule, make_rule
from .scores.base import RADIUS_CEILING
from .scores.registry import get_likelihood

#: What predictions depend on.
ATTRIBUTES = (
    "classes_",
    "priors_",
    "means_",
    "covariances_",
    "radii_",
    "offsets_",
    "likelihood_",
    "decision_rule_",
    "n_features_in_",
)


class FittedModel(NamedTuple):
    """What a fitted classifier knows, on the host."""

    classes: np.ndarray
    log_priors: FloatArray
    scores: ScoreModel
    rule: Rule


def fitted_model(
    classes: np.ndarray,
    priors: FloatArray,
    means: FloatArray,
    covariances: FloatArray,
    radii: FloatArray,
    offsets: FloatArray | None,
    likelihood: Any,
    decision_rule: str,
    n_features_in: int,
) -> FittedModel:
    """The model of public attributes; those that cannot be are refused by name."""
    n_classes, n_features = len(check_classes(classes)), n_features_in
    priors = check_priors_attribute(priors, n_classes)
    means = check_numbers("means_", means, (n_classes, n_features))
    covariances = check_numbers("covariances_", covariances, (n_classes, n_features, n_features))
    radii = check_numbers("radii_", radii, (n_classes,))
    if not ((radii >= 0) & (radii <= RADIUS_CEILING)).all():
        raise ValueError(f"radii_ must lie between 0 and {RADIUS_CEILING:g}, got {radii.tolist()}.")
    if decision_rule not in (*BY_PRIORS, "offsets"):
        raise ValueError(f"decision_rule_ must be 'offsets', 'prior' or 'minimax', got {decision_rule!r}.")
    if decision_rule in BY_PRIORS or offsets is None:
        offsets = np.log(priors)
    offsets = check_numbers("offsets_", offsets, (n_classes,))
    factors = [factorise(S, f"covariances_[{c}]") for c, S in enumerate(covariances)]
    scores = ScoreModel(get_likelihood(likelihood), NominalMoments(means, covariances, factors), radii)
    return FittedModel(classes, np.log(priors), scores, make_rule(decision_rule, offsets))


def check_priors_attribute(priors: Any, n_classes: int) -> FloatArray:
    """Class probabilities that sum to 1."""
    values = check_numbers("priors_", priors, (n_classes,))
    if not (values > 0).all() or abs(float(values.sum()) - 1) > 1e-6:
        raise ValueError(f"priors_ must be positive and sum to 1, got {values.tolist()}.")
    return values


def check_classes(classes: np.ndarray) -> np.ndarray:
    """Labels in increasing order."""
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise ValueError("classes_ must be an array of at least two labels.")
    if classes.dtype.kind == "f" and not np.isfinite(classes).all():
        raise ValueError("classes_ must be finite.")
    if not (classes[1:] > classes[:-1]).all():
        raise ValueError(f"classes_ must be distinct and in increasing order, got {classes.tolist()[:10]}.")
    return classes


def check_numbers(name: str, values: Any, shape: tuple[int, ...]) -> FloatArray:
    """An attribute as doubles."""
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        raise ValueError(f"{name} must be an array of floating-point numbers.")
    if values.shape != shape or not values.size:
        raise ValueError(f"{name} must be of shape {shape} to go with the other attributes, got {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite.")
    return values.astype(np.float64, copy=False)

"""The models that `optiscore fit` may train, from the words of its command line."""

from typing import Any, NamedTuple

import numpy as np

from .. import (
    KernelDiscriminantClassifier,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
)
from ..robust.radii import check_radius_parameter
from ..robust.rules import check_decision_rule
from ..robust.scores.registry import get_likelihood
from .selection import KERNEL, MODERATED, OPTIMISTIC, SHARED


class Settings(NamedTuple):
    """Options that belong to some models only; None where they are not given."""

    covariance: str | None = None
    priors: str | None = None
    likelihood: str | None = None
    radius: str | None = None
    cv: bool = False
    rule: str | None = None
    pooling: float | None = None


#: Which options go with which model.
_BELONG = {
    MODERATED: {"covariance", "priors"},
    KERNEL: set[str](),
    OPTIMISTIC: {"priors", "likelihood", "radius", "cv", "rule", "pooling"},
}


def candidates(model: str, settings: Settings, *, no_rows: bool, seed: int) -> dict[str, Any]:
    """Models by name, not fitted; the first is taken unless another is better."""
    if model not in ("auto", *_BELONG):
        raise ValueError(f"--model must be auto, {', '.join(_BELONG)}, got {model!r}.")
    if model == KERNEL and no_rows:
        raise ValueError("--no-rows: a kernel model keeps training rows; take --model moderated.")
    given = {name for name, value in settings._asdict().items() if value is not None and value is not False}
    names = [model]
    if model == "auto":
        names = [MODERATED] if given else [MODERATED, SHARED] if no_rows else [MODERATED, SHARED, KERNEL]
    for option in sorted(given - _BELONG[names[0]]):
        fitting = " or ".join(f"--model {name}" for name, options in _BELONG.items() if option in options)
        raise ValueError(f"--{option} goes with {fitting}.")
    makers = {MODERATED: _moderated, SHARED: _shared, KERNEL: _kernel, OPTIMISTIC: _optimistic}
    return {name: makers[name](settings, seed) for name in names}


def _moderated(settings: Settings, seed: int) -> Any:
    covariance = settings.covariance or "both"
    if covariance not in ("both", "own", "shared"):
        raise ValueError(f"--covariance must be both, own or shared, got {covariance!r}.")
    return ModeratedDiscriminantAnalysis(covariance)  # type: ignore[arg-type] # checked above


def _shared(settings: Settings, seed: int) -> Any:
    return ModeratedDiscriminantAnalysis("shared")


def _kernel(settings: Settings, seed: int) -> Any:
    return KernelDiscriminantClassifier(random_state=seed)


def _optimistic(settings: Settings, seed: int) -> Any:
    likelihood: Any = settings.likelihood or "gaussian"
    rule = _number_or_name(settings.rule or "minimax")
    if settings.cv and settings.radius is not None:
        raise ValueError("--cv chooses the radii: leave out --radius.")
    pooling = 0.0 if settings.pooling is None else settings.pooling
    radius = _number_or_name(settings.radius or "clt")
    classifier = OptimisticScoreClassifier(
        likelihood,
        radius=radius,
        decision_rule=rule,
        pooling=pooling,
    )
    check_decision_rule(rule)
    check_radius_parameter(radius, classifier.quantile)
    get_likelihood(likelihood)
    if not 0 <= pooling <= 1:
        raise ValueError(f"--pooling must be a number from 0 to 1, got {pooling:g}.")
    if settings.cv:
        return OptimisticScoreClassifierCV(likelihood, decision_rule=rule, poolings=[pooling])
    return classifier


def parse_priors(text: str, labels: np.ndarray) -> list[float]:
    """Class probabilities in the order of the labels, from "equal" or "yes=0.2,no=0.8"."""
    names = [str(label) for label in labels]
    if text == "equal":
        return [1 / len(names)] * len(names)
    given: dict[str, float] = {}
    for part in _pairs(text):
        name, _, number = part.rpartition("=")
        try:
            if name.strip() in given:
                raise ValueError
            given[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"--priors: {part!r} is no probability of a class, such as {names[0]}=0.5.") from None
    if sorted(given) != sorted(names) or not np.isclose(sum(given.values()), 1) or min(given.values()) <= 0:
        raise ValueError(f"--priors must have a positive number for each of {', '.join(names)}, together 1.")
    return [given[name] for name in names]


def _pairs(text: str) -> list[str]:
    """The parts between commas that have an equals sign each: labels may hold commas, too."""
    pairs, pending = [], list[str]()
    for part in text.split(","):
        pending.append(part)
        if "=" in part:
            pairs.append(",".join(pending))
            pending = []
    return [*pairs, ",".join(pending)] if pending else pairs


def _number_or_name(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text

"""From the parameter `threshold` to a decision rule."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._typing import FloatArray
from .decision import MinimaxRule, OffsetRule, Rule


def choose_rule(threshold: Any, priors: FloatArray, tune: Callable[[], FloatArray] | None) -> Rule:
    """The decision rule for a threshold; tuned offsets are asked for only if it is tuned."""
    if is_tuned(threshold):
        assert tune is not None
        return OffsetRule(tune())
    if is_minimax(threshold):
        return MinimaxRule(np.log(priors))
    if isinstance(threshold, str) and threshold == "prior":
        return OffsetRule(np.log(priors))
    return OffsetRule(_offsets(threshold, len(priors)))


def check_threshold(threshold: Any) -> None:
    """Refuse what is neither the name of a rule nor positive numbers."""
    if not (isinstance(threshold, str) and threshold in ("tuned", "prior", "minimax")):
        _offsets(threshold, max(2, np.size(threshold)))


def is_tuned(threshold: Any) -> bool:
    """Whether the rule depends on the scores of the training samples."""
    return isinstance(threshold, str) and threshold == "tuned"


def is_minimax(threshold: Any) -> bool:
    """Whether the rule needs pessimistic scores."""
    return isinstance(threshold, str) and threshold == "minimax"


def _offsets(threshold: Any, n_classes: int) -> FloatArray:
    """Offsets -log tau_c for a threshold given by numbers; one number tau stands for (1, tau)."""
    message = "threshold must be 'tuned', 'prior', 'minimax', a positive number for two classes, or one per class"
    try:
        tau = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{message}; got {threshold!r}.") from None
    if tau.ndim == 0 and n_classes == 2:
        tau = np.array([1.0, float(tau)])
    if tau.shape != (n_classes,) or not (np.isfinite(tau).all() and (tau > 0).all()):
        raise ValueError(f"{message}; got {threshold!r} for {n_classes} classes.")
    return -np.log(tau)

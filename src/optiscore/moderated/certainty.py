"""How certain Gaussian models are of one prediction, given their sample: evidence for a label, and intervals.

Arrays over classes and samples have the shape (n_classes, n_samples).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..numerics.types import FloatArray
from .models import GaussianModel


class Certificate(NamedTuple):
    """Likelihood ratios T of decisions, negative where the model prefers the rival, and the rivals."""

    ratio: FloatArray
    rival: np.ndarray

    @property
    def stability(self) -> FloatArray:
        """Phi(sqrt T), or Phi(-sqrt |T|) where the model prefers the rival."""
        return ndtr(np.copysign(np.sqrt(np.abs(self.ratio)), self.ratio))


def certify(model: GaussianModel, alpha: FloatArray, decided: np.ndarray) -> Certificate:
    """Return the least evidence for the decided class against any other, and which one that is."""
    alpha = alpha.astype(np.float64, copy=False)
    log_joint = model.log_joint(alpha)
    ratio, rival = np.full(decided.size, np.inf), np.zeros(decided.size, dtype=np.intp)
    for a in range(model.n_classes):
        samples = np.flatnonzero(decided == a)
        if not samples.size:
            continue
        distances = alpha[:, samples]
        for b in range(model.n_classes):
            if b != a:
                log_odds = log_joint[a, samples] - log_joint[b, samples]
                found = _signed_ratio(model, distances, a, b, log_odds)
                less = found <= ratio[samples]
                ratio[samples[less]], rival[samples[less]] = found[less], b
    return Certificate(ratio, rival)


def least_certificate(models: Sequence[GaussianModel], Z: FloatArray, decided: np.ndarray) -> Certificate:
    """Return that of the model with the least evidence for the decided class, sample by sample."""
    parts = [certify(model, model.distances(Z), decided) for model in models]
    least = np.argmin([part.ratio for part in parts], axis=0)
    return Certificate(*(np.choose(least, list(column)) for column in zip(*parts, strict=True)))


def _signed_ratio(model: GaussianModel, alpha: FloatArray, a: int, b: int, log_odds: FloatArray) -> FloatArray:
    """Return T of class a against b where the log odds are positive, and minus T of b against a where they are not."""
    ratio = np.empty_like(log_odds)
    for first, second, chosen, sign in ((a, b, log_odds >= 0, 1.0), (b, a, log_odds < 0, -1.0)):
        if chosen.any():
            evidence = model.evidence(alpha[:, chosen], first, second)
            ratio[chosen] = sign * evidence.likelihood_ratio(np.abs(log_odds[chosen]))
    return ratio


def proba_interval(model: GaussianModel, alpha: FloatArray, confidence_level: float) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper posteriors: log odds whose likelihood ratio is not beyond the critical one.

    P(a) = 1/(1 + sum over b of exp(-log odds_ab)) is smallest where all log odds are, and largest where all are
    largest: exact for two classes, conservative for more.
    """
    model, alpha = model.unbiased(alpha.astype(np.float64, copy=False))
    log_joint = model.log_joint(alpha)
    n_classes = model.n_classes
    lower = np.zeros((n_classes, *alpha.shape))
    for a in range(n_classes):
        for b in range(n_classes):
            if a != b:
                critical = model.critical_ratio(alpha, a, b, confidence_level)
                lower[a, b] = model.evidence(alpha, a, b).lower_log_odds(log_joint[a] - log_joint[b], critical)
    others = ~np.eye(n_classes, dtype=bool)
    with np.errstate(over="ignore"):
        against = np.where(others[:, :, None], np.exp(-lower), 0.0).sum(axis=1)
        # The largest log odds of a against b are minus the smallest of b against a.
        in_favour = np.where(others[:, :, None], np.exp(lower.transpose(1, 0, 2)), 0.0).sum(axis=1)
    return 1 / (1 + against), 1 / (1 + in_favour)


def widest_interval(
    models: Sequence[GaussianModel], Z: FloatArray, confidence_level: float
) -> tuple[FloatArray, FloatArray]:
    """Return intervals that cover those of all models, and their nominal posteriors, for samples Z."""
    lower, upper = [], []
    for model in models:
        alpha = model.distances(Z)
        low, high = proba_interval(model, alpha, confidence_level)
        # Few samples move the middle of an interval by more than its width: the nominal posterior stays inside.
        nominal = np.exp(model.nominal_log_proba(alpha))
        lower.append(np.minimum(low, nominal))
        upper.append(np.maximum(high, nominal))
    return np.min(lower, axis=0).astype(Z.dtype, copy=False), np.max(upper, axis=0).astype(Z.dtype, copy=False)

"""What Gaussian models say of one prediction, given their sample: moderated posteriors, confidence, intervals, sets.

Arrays over classes and samples have the shape (n_classes, n_samples).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..numerics.arrays import argmax_of_rows
from ..numerics.types import FloatArray
from ..trust.probabilities import normalise
from .gaussian_model import GaussianModel


def nominal_log_proba(model: GaussianModel, alpha: FloatArray) -> FloatArray:
    """Log posteriors with the moments taken as exact."""
    return normalise(model.log_joint(alpha))


def moderated_log_proba(model: GaussianModel, alpha: FloatArray) -> FloatArray:
    """Log posteriors in the mean over what the moments may be.

    The log odds M_ab of the nominally best class a have the variance V_ab; the mean of the logistic function of such a
    Gaussian is about that of kappa_ab = M_ab/sqrt(1 + pi V_ab/8), and p_b is proportional to exp(-kappa_ab).
    """
    return _moderate(model, alpha, model.log_joint(alpha))


def left_out_log_proba(model: GaussianModel, alpha: FloatArray, codes: np.ndarray) -> FloatArray:
    """Moderated log posteriors of training samples of classes ``codes``, each under the model without it."""
    return _moderate(model, *model.leave_out(alpha, codes))


def _moderate(model: GaussianModel, alpha: FloatArray, log_joint: FloatArray) -> FloatArray:
    top = argmax_of_rows(log_joint).astype(np.intp, copy=False)
    log_odds = log_joint.max(axis=0) - log_joint
    # Beyond any number of samples, the variance may exceed the range of numbers: the log odds are then 0.
    with np.errstate(over="ignore"):
        variances = model.variances(alpha, top)
        kappa = log_odds / np.sqrt(1 + (np.pi / 8) * variances)
    return normalise(-np.nan_to_num(kappa, copy=False, nan=0.0))


class Certificate(NamedTuple):
    """Likelihood ratios T of decisions, negative where the model prefers the rival, and the rivals."""

    ratio: FloatArray
    rival: np.ndarray

    @property
    def confidence(self) -> FloatArray:
        """Phi(sqrt T), or Phi(-sqrt |T|) where the model prefers the rival."""
        return ndtr(np.copysign(np.sqrt(np.abs(self.ratio)), self.ratio))


def certify(model: GaussianModel, alpha: FloatArray, decided: np.ndarray) -> Certificate:
    """The least evidence for the decided class against any other, and which one that is."""
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


def least_certificate(
    models: Sequence[GaussianModel], alphas: Sequence[FloatArray], decided: np.ndarray
) -> Certificate:
    """That of the model with the least evidence for the decided class, sample by sample."""
    parts = [certify(model, alpha, decided) for model, alpha in zip(models, alphas, strict=True)]
    least = np.argmin([part.ratio for part in parts], axis=0)
    return Certificate(*(np.choose(least, list(column)) for column in zip(*parts, strict=True)))


def _signed_ratio(model: GaussianModel, alpha: FloatArray, a: int, b: int, log_odds: FloatArray) -> FloatArray:
    """T of class a against b where the log odds are positive, and minus T of b against a where they are not."""
    ratio = np.empty_like(log_odds)
    for first, second, chosen, sign in ((a, b, log_odds >= 0, 1.0), (b, a, log_odds < 0, -1.0)):
        if chosen.any():
            evidence = model.evidence(alpha[:, chosen], first, second)
            ratio[chosen] = sign * evidence.likelihood_ratio(np.abs(log_odds[chosen]))
    return ratio


def proba_interval(model: GaussianModel, alpha: FloatArray, confidence_level: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper posterior of every class: log odds whose likelihood ratio is not beyond the critical one.

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

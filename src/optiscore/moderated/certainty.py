"""How certain Gaussian models are of one prediction, given their sample: evidence for a label, and intervals.

Arrays over classes and samples have the shape (n_classes, n_samples); those over pairs of classes (n_pairs, n_samples).
The likelihood ratio is searched for the rivals that may matter, and for others its quadratic form stands: M^2/V for log
odds M with the variance V. Where a part of the log densities counts, the sharpness, log odds are divided by it first.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..numerics.types import FloatArray
from ..trust.probabilities import other_classes
from .models import GaussianModel

# Rivals of a class that the likelihood ratio is searched for, at most.
_RIVALS = 8

# Numbers for pairs of classes that are worked on together.
_PAIRS = 1_000_000


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
    columns = np.arange(decided.size)
    log_joint = model.log_joint(alpha)
    rivals = other_classes(decided, model.n_classes)
    if len(rivals) > _RIVALS:
        log_odds = (log_joint[decided, columns] - log_joint) / model.sharpness
        with np.errstate(over="ignore", under="ignore"):
            nearly = log_odds * np.abs(log_odds) / model.variances(alpha, decided)
        least = np.argpartition(np.take_along_axis(nearly, rivals, axis=0), _RIVALS, axis=0)[:_RIVALS]
        rivals = np.sort(np.take_along_axis(rivals, least, axis=0), axis=0)
    log_odds = (log_joint[decided, columns] - log_joint[rivals, columns]) / model.sharpness
    ratio = _signed_ratio(model, alpha, np.broadcast_to(decided, rivals.shape), rivals, log_odds)
    # Of ties, the last.
    least = len(rivals) - 1 - ratio[::-1].argmin(axis=0)
    return Certificate(ratio[least, columns], rivals[least, columns])


def least_certificate(models: Sequence[GaussianModel], Z: FloatArray, decided: np.ndarray) -> Certificate:
    """Return that of the model with the least evidence for the decided class, sample by sample."""
    parts = [certify(model, model.distances(Z), decided) for model in models]
    least = np.argmin([part.ratio for part in parts], axis=0)
    return Certificate(*(np.choose(least, list(column)) for column in zip(*parts, strict=True)))


def _signed_ratio(
    model: GaussianModel, alpha: FloatArray, a: np.ndarray, b: np.ndarray, log_odds: FloatArray
) -> FloatArray:
    """Return T of class a against b where the log odds are positive, and minus T of b against a where they are not."""
    is_first = log_odds >= 0
    for_, against = np.where(is_first, a, b).ravel(), np.where(is_first, b, a).ravel()
    columns = np.broadcast_to(np.arange(alpha.shape[1]), a.shape).ravel()
    evidence = model.evidence(alpha[for_, columns], alpha[against, columns], for_, against)
    ratio = evidence.likelihood_ratio(np.abs(log_odds).ravel()).reshape(a.shape)
    return np.where(is_first, ratio, -ratio)


def proba_interval(
    model: GaussianModel, alpha: FloatArray, confidence_level: float, asked: np.ndarray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper posteriors of all classes, or of the one that is asked for; (n_classes or 1, n_samples).

    They are those of log odds whose likelihood ratio is not beyond the critical one: P(a) = 1/(1 + sum over b of
    exp(-log odds_ab)) is smallest where all log odds are, and largest where all are largest. Exact for two classes,
    conservative for more. The largest log odds of a against b are minus the smallest of b against a.
    """
    model, alpha = model.unbiased(alpha.astype(np.float64, copy=False))
    every = np.arange(model.n_classes)[:, None]
    if asked is None:
        a, b = every[:, None], every
        lower = _lower_log_odds(model, alpha, a, b, confidence_level, ((1, 1.0), (0, -1.0)))
        upper = -lower.swapaxes(0, 1)
    else:
        a, b = asked, every
        lower = _lower_log_odds(model, alpha, a, b, confidence_level, ((0, 1.0),))
        upper = -_lower_log_odds(model, alpha, b, a, confidence_level, ((0, -1.0),))
    with np.errstate(over="ignore"):
        against, in_favour = (np.where(a != b, np.exp(-ends), 0.0).sum(axis=-2) for ends in (lower, upper))
    n = alpha.shape[1]
    return (1 / (1 + against)).reshape(-1, n), (1 / (1 + in_favour)).reshape(-1, n)


def _lower_log_odds(
    model: GaussianModel,
    alpha: FloatArray,
    a: np.ndarray,
    b: np.ndarray,
    confidence_level: float,
    sums: Sequence[tuple[int, float]],
) -> FloatArray:
    """Return the smallest log odds of classes a against b that cost at most the critical likelihood ratio.

    They are searched for where they matter to one of the sums of exp(-sign times log odds) over an axis, (axis, sign).
    """
    columns, log_joint = np.arange(alpha.shape[1]), model.log_joint(alpha) / model.sharpness
    alpha_a, alpha_b, log_odds = alpha[a, columns], alpha[b, columns], log_joint[a, columns] - log_joint[b, columns]
    critical = model.critical_ratio(alpha_a, alpha_b, a, b, confidence_level)
    with np.errstate(over="ignore"):
        lower = log_odds - np.sqrt(critical * model.variance(alpha_a, alpha_b, a, b))
    chosen = np.zeros(lower.shape, dtype=bool)
    for axis, sign in sums:
        ranked = np.where(a != b, sign * lower, np.inf)
        most = min(_RIVALS, lower.shape[axis] - 1)
        chosen |= ranked <= np.partition(ranked, most - 1, axis=axis).take([most - 1], axis=axis)
    chosen &= a != b
    whole = (np.broadcast_to(each, lower.shape)[chosen] for each in (a, b, alpha_a, alpha_b, log_odds, critical))
    a, b, alpha_a, alpha_b, log_odds, critical = whole
    lower[chosen] = model.evidence(alpha_a, alpha_b, a, b).lower_log_odds(log_odds, critical)
    return model.sharpness * lower


def widest_interval(
    models: Sequence[GaussianModel], Z: FloatArray, confidence_level: float, asked: np.ndarray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return intervals that cover those of all models, and their nominal posteriors, for samples Z.

    They are those of all classes, or of the one that is asked for; of shape (n_classes or 1, n_samples).
    """
    step = max(1, _PAIRS // models[0].n_classes ** (2 if asked is None else 1))
    parts = []
    for start in range(0, max(len(Z), 1), step):
        part = slice(start, start + step)
        ends = [_interval(model, Z[part], confidence_level, None if asked is None else asked[part]) for model in models]
        parts.append([np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)])
    lower, upper = (np.concatenate(side, axis=1).astype(Z.dtype, copy=False) for side in zip(*parts, strict=True))
    return lower, upper


def _interval(
    model: GaussianModel, Z: FloatArray, confidence_level: float, asked: np.ndarray | None
) -> tuple[FloatArray, FloatArray]:
    alpha = model.distances(Z)
    low, high = proba_interval(model, alpha, confidence_level, asked)
    nominal = np.exp(model.nominal_log_proba(alpha))
    if asked is not None:
        nominal = np.take_along_axis(nominal, asked[None], axis=0)
    # Few samples move the middle of an interval by more than its width: the nominal posterior stays inside.
    return np.minimum(low, nominal), np.maximum(high, nominal)

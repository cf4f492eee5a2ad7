"""How good probabilities are, and how well a confidence orders predictions by reliability: risk against coverage."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from .documented import plain_signature
from .numerics.types import FloatArray

__all__ = ["area_under_risk_coverage", "log_losses", "mean_log_loss", "risk_coverage_curve"]


@plain_signature
def risk_coverage_curve(correct: ArrayLike, confidence: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Error rate of the predictions that are kept, for every fraction that may be kept.

    Parameters
    ----------
    correct : array-like of shape (n_samples,) of bool
        Whether each prediction is right.
    confidence : array-like of shape (n_samples,)
        Larger for predictions that are kept longer, such as `OptimisticScoreClassifier.certified_factor`. Infinity is
        allowed.

    Returns
    -------
    coverage : ndarray of shape (n_thresholds,)
        Fraction of the samples that are kept, increasing to 1.
    risk : ndarray of shape (n_thresholds,)
        Error rate among them.
    thresholds : ndarray of shape (n_thresholds,)
        Smallest confidence among them: distinct and decreasing.

    See Also
    --------
    area_under_risk_coverage : The curve in one number.

    Examples
    --------
    >>> from optiscore.metrics import risk_coverage_curve
    >>> coverage, risk, _ = risk_coverage_curve([True, True, False, True], [0.9, 0.8, 0.3, 0.3])
    >>> coverage, risk
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.  , 0.25]))
    """
    wrong, confidence = _check(correct, confidence)
    order = np.argsort(-confidence, kind="stable")
    ordered = confidence[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    kept = np.arange(1, len(order) + 1)[last]
    return kept / len(order), np.cumsum(wrong[order])[last] / kept, ordered[last]


@plain_signature
def area_under_risk_coverage(correct: ArrayLike, confidence: ArrayLike) -> float:
    """Mean error rate of the predictions that are kept, over all numbers of samples that may be kept.

    Parameters
    ----------
    correct : array-like of shape (n_samples,) of bool
        Whether each prediction is right.
    confidence : array-like of shape (n_samples,)
        Larger for predictions that are kept longer. Samples that are tied are kept in random order: the result is the
        mean over all such orders.

    Returns
    -------
    float
        Between 0 and 1; smaller is better. Random confidence gives the error rate.

    See Also
    --------
    risk_coverage_curve : The curve itself.

    Examples
    --------
    >>> from optiscore.metrics import area_under_risk_coverage
    >>> round(area_under_risk_coverage([True, True, False, True], [0.9, 0.8, 0.4, 0.3]), 3)
    0.146
    """
    wrong, confidence = _check(correct, confidence)
    distinct, group = np.unique(-confidence, return_inverse=True)
    rate = np.bincount(group, weights=wrong) / np.bincount(group, minlength=len(distinct))
    expected = np.cumsum(rate[np.sort(group)])
    return float(np.mean(expected / np.arange(1, len(wrong) + 1)))


def _check(correct: ArrayLike, confidence: ArrayLike) -> tuple[FloatArray, FloatArray]:
    right, values = np.asarray(correct), np.asarray(confidence, dtype=np.float64)
    check_consistent_length(right, values)
    if right.ndim != 1 or values.ndim != 1 or not len(right):
        shapes = f"{right.shape} and {values.shape}"
        raise ValueError(f"correct and confidence must be one-dimensional and not empty, got shapes {shapes}.")
    if right.dtype != bool and not np.isin(right, (0, 1)).all():
        raise ValueError("correct must hold True and False: compare predictions with labels first.")
    if np.isnan(values).any():
        raise ValueError("confidence must not hold NaN.")
    return 1.0 - right.astype(bool), values


@plain_signature
def mean_log_loss(proba: ArrayLike, codes: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean negative log probability of the true classes: scikit-learn's log_loss, from indices of classes.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Probabilities; those closer to 0 or 1 than the rounding error of their type are taken as that close.
    codes : array-like of shape (n_samples,)
        True classes, 0 to n_classes - 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.metrics import mean_log_loss
    >>> round(mean_log_loss(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])), 3)
    0.164
    """
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    return float(np.average(log_losses(proba, codes), weights=weights))


@plain_signature
def log_losses(proba: ArrayLike, codes: ArrayLike) -> FloatArray:
    """Negative log probability of the true class of each sample; their mean is `mean_log_loss`.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_classes)
        Probabilities.
    codes : array-like of shape (n_samples,)
        True classes, 0 to n_classes - 1.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.metrics import log_losses
    >>> log_losses(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])).round(3)
    array([0.105, 0.223])
    """
    probabilities, classes = np.asarray(proba), np.asarray(codes)
    if probabilities.ndim != 2 or classes.shape != probabilities.shape[:1]:
        raise ValueError(
            f"proba must be of shape (n_samples, n_classes), as predict_proba has it, and codes have one class per "
            f"sample; got shapes {probabilities.shape} and {classes.shape}."
        )
    n_classes = probabilities.shape[1]
    if len(classes) and (classes.dtype.kind not in "iu" or classes.min() < 0 or classes.max() >= n_classes):
        raise ValueError(f"codes must be integers from 0 to {n_classes - 1}, the indices of the classes.")
    smallest = np.finfo(probabilities.dtype).eps
    return -np.log(probabilities[np.arange(len(classes)), classes].clip(smallest, 1 - smallest))

"""Axes to draw on, and the classifier at the end of a pipeline with the samples as it sees them."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..numerics.types import BoolArray


def new_axes(ax: Any = None) -> Any:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("pictures need matplotlib: pip install 'optiscore[plot]'.") from None
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def last_step(estimator: Any, X: Any, method: str, kinds: str) -> tuple[Any, Any]:
    """A classifier that has a method, and X; for a pipeline, its last step and X as transformed by the others."""
    check_is_fitted(estimator)
    if isinstance(estimator, Pipeline):
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        estimator = estimator[-1]
    if not hasattr(estimator, method):
        raise ValueError(f"estimator must be {kinds} or a pipeline that ends in one, got {type(estimator).__name__}.")
    return estimator, X


def classifier_and_samples(estimator: Any, X: Any) -> tuple[Any, Any]:
    """A classifier with worst-case bounds, and X as it sees it."""
    return last_step(estimator, X, "predict_proba_bounds", "an OptimisticScoreClassifier, its CV variant")


def decisions(classifier: Any, X: Any) -> tuple[np.ndarray, BoolArray]:
    """Index of the predicted class of each sample, and whether it is the only plausible one."""
    codes = np.searchsorted(classifier.classes_, classifier.predict(X))
    return codes, classifier.undominated(X).sum(axis=1) == 1

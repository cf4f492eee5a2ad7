"""The classifier at the end of a pipeline, the samples as it sees them, and its decisions by index."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..numerics.types import BoolArray


def classifier_and_samples(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The classifier itself and X; for a pipeline, its last step and X as transformed by the others."""
    check_is_fitted(estimator)
    if isinstance(estimator, Pipeline):
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        estimator = estimator[-1]
    if not hasattr(estimator, "predict_proba_bounds"):
        raise ValueError(
            f"estimator must be an OptimisticScoreClassifier, its CV variant or a pipeline that ends in one, got "
            f"{type(estimator).__name__}."
        )
    return estimator, X


def decisions(classifier: Any, X: Any) -> tuple[np.ndarray, BoolArray]:
    """Index of the predicted class of each sample, and whether it is the only plausible one."""
    codes = np.searchsorted(classifier.classes_, classifier.predict(X))
    return codes, classifier.predict_set(X).sum(axis=1) == 1

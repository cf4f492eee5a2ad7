"""The classifier at the end of a pipeline, and the samples as it sees them."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .prediction import BaseScoreClassifier


def classifier_and_samples(estimator: Any, X: Any) -> tuple[BaseScoreClassifier, Any]:
    """The classifier itself and X; for a pipeline, its last step and X as transformed by the others."""
    check_is_fitted(estimator)
    if isinstance(estimator, Pipeline):
        X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        estimator = estimator[-1]
    if not isinstance(estimator, BaseScoreClassifier):
        raise ValueError(
            f"estimator must be an OptimisticScoreClassifier, its CV variant or a pipeline that ends in one, got "
            f"{type(estimator).__name__}."
        )
    return estimator, X

"""What users would try instead: scikit-learn's classifiers that ours are compared with."""

from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def quadratic_discriminant() -> QuadraticDiscriminantAnalysis:
    """QDA with a little ridge, for singular classes."""
    return QuadraticDiscriminantAnalysis(reg_param=1e-3)


def linear_discriminant() -> LinearDiscriminantAnalysis:
    """LDA with automatic shrinkage."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def logistic_regression() -> Any:
    """Logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))

"""The methods of the tables: those of the paper as settings of our estimators, and what users would try instead."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.covariance import EmpiricalCovariance, graphical_lasso
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from optiscore import (
    KernelDiscriminantClassifier,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    OptimisticScoreClassifierCV,
    RidgeCovariance,
)
from optiscore.numerics.types import FloatArray
from optiscore.table.selection import linear_discriminant, logistic_regression

#: Radii and penalties of the paper's cross-validation, in units of sqrt(d).
GRID = np.array([0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.16, 0.2, 0.5])

_MAX_ITER = 1000


class SparseCovariance(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Graphical lasso of 0.99 S + 0.01 I: what the paper's baseline SQDA penalises, solved until it converges.

    The inner tolerance decides: with scikit-learn's default the outer iteration stalls on features in unlike units.

    Parameters
    ----------
    penalty : float, default=0.1
        Penalty on the absolute entries of the precision.
    """

    def __init__(self, penalty: float = 0.1) -> None:
        self.penalty = penalty

    def fit(self, X: FloatArray, y: ArrayLike | None = None) -> Self:
        """Estimate mean and covariance."""
        S = EmpiricalCovariance().fit(X)
        self.location_ = S.location_
        mixed = 0.99 * S.covariance_ + 0.01 * np.eye(X.shape[1])
        with warnings.catch_warnings():
            # The inner solver warns where rounding stops it short of its tolerance; what counts is the outer gap.
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = graphical_lasso(mixed, self.penalty, enet_tol=1e-8, max_iter=_MAX_ITER, return_n_iter=True)
        self.covariance_, _, n_iter = solution
        if n_iter == _MAX_ITER:
            raise FloatingPointError(f"the graphical lasso did not converge for the penalty {self.penalty:g}.")
        return self


def _searched(likelihood: str) -> Callable[[int], Any]:
    return lambda d: OptimisticScoreClassifierCV(likelihood, radii=GRID * np.sqrt(d))


def _penalised(estimator: Any) -> Callable[[int], Any]:
    def make(d: int) -> Any:
        candidates = [estimator(penalty) for penalty in GRID * np.sqrt(d)]
        return GridSearchCV(
            OptimisticScoreClassifier(radius=0), {"covariance_estimator": candidates}, cv=5, error_score=0.0
        )

    return make


def plain_qda() -> OptimisticScoreClassifier:
    """QDA with sample covariances; what makes it possible with collinear features is a ridge of a billionth."""
    return OptimisticScoreClassifier(radius=0, decision_rule="prior", covariance_estimator=_TinyRidge())


class _TinyRidge(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Sample covariance plus a billionth of its variances, and of 1 for a constant feature."""

    def fit(self, X: FloatArray, y: ArrayLike | None = None) -> Self:
        """Estimate mean and covariance."""
        S = EmpiricalCovariance().fit(X)
        self.location_ = S.location_
        variances = np.diagonal(S.covariance_)
        self.covariance_ = S.covariance_ + np.diag(1e-9 * np.where(variances > 0, variances, 1.0))
        return self


#: The paper's seven methods, by the headings of its Table 1, for a number of features.
PAPER_METHODS: dict[str, Callable[[int], Any]] = {
    "GQDA-CV": _searched("gaussian"),
    "GQDA-CLT": lambda d: OptimisticScoreClassifier(),
    "NPQDA-CV": _searched("nonparametric"),
    "NPQDA-CLT": lambda d: OptimisticScoreClassifier("nonparametric"),
    "KQDA": _searched("fixed-mean"),
    "RQDA": _penalised(RidgeCovariance),
    "SQDA": _penalised(SparseCovariance),
}


class SupportVectors(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Support vectors with a grid search, and probabilities by Platt's cross-validated sigmoid."""

    def fit(self, X: FloatArray, y: ArrayLike) -> Self:
        """Search penalty and width of the kernel on standardised features."""
        grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]}
        self.search_ = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds(y)).fit(X, y)
        platt = CalibratedClassifierCV(self.search_.best_estimator_, ensemble=False, cv=folds(y))
        self.calibrated_ = platt.fit(X, y)
        self.classes_ = self.search_.classes_
        return self

    def predict(self, X: FloatArray) -> np.ndarray:
        """Labels of the search's best machine."""
        return self.search_.predict(X)

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Calibrated probabilities."""
        return self.calibrated_.predict_proba(X)


def folds(y: ArrayLike) -> int:
    """Five folds, or as many as the smallest class allows."""
    return int(np.clip(np.unique(y, return_counts=True)[1].min(), 2, 5))


#: What users have today, for a number of features; LDA with shrinkage by Ledoit and Wolf.
PEERS: dict[str, Callable[[int], Any]] = {
    # Standardised by class, its shrinkage would take features that are constant within a class as they are.
    "LDA": lambda d: make_pipeline(StandardScaler(), linear_discriminant()),
    "QDA": lambda d: plain_qda(),
    "logistic": lambda d: logistic_regression(),
    "forest": lambda d: RandomForestClassifier(300, random_state=0),
    "boosting": lambda d: HistGradientBoostingClassifier(random_state=0),
    "SVC, grid": lambda d: SupportVectors(),
}

#: The classifiers of this package that are to be chosen, for a number of features.
OURS: dict[str, Callable[[int], Any]] = {
    "kernel": lambda d: KernelDiscriminantClassifier(random_state=0),
    "kernel, one map": lambda d: KernelDiscriminantClassifier(average=False, random_state=0),
    "moderated": lambda d: ModeratedDiscriminantAnalysis(),
}

#: What they should be compared with.
OTHER_METHODS: dict[str, Callable[[int], Any]] = {
    "shrunk QDA, tuned": lambda d: OptimisticScoreClassifier(radius=0),
    "minimax": lambda d: OptimisticScoreClassifier(decision_rule="minimax"),
    "CV with pooling": lambda d: OptimisticScoreClassifierCV(poolings=[0, 0.25, 0.5, 0.75, 1]),
    **{name: PEERS[name] for name in ("QDA", "LDA", "logistic", "SVC, grid")},
}


def train(make: Callable[[int], Any], X: FloatArray, y: np.ndarray) -> Any:
    """A method, trained."""
    with warnings.catch_warnings():
        # A penalty of SQDA for which the graphical lasso has no solution in floating point loses the search.
        warnings.simplefilter("ignore", FitFailedWarning)
        return make(X.shape[1]).fit(X, y)

"""Picture of risk against coverage: how the error rate falls as uncertain samples are left to a person."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline

from ..metrics import area_under_risk_coverage, risk_coverage_curve
from ..numerics.types import FloatArray
from .figure import classifier_and_samples, new_axes


class RiskCoverageDisplay:
    """Error rate of the samples that are decided, over their fraction.

    Parameters
    ----------
    coverage, risk : ndarray of shape (n_thresholds,)
        As from `risk_coverage_curve`.
    area : float
        As from `area_under_risk_coverage`.
    name : str, default=None
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.
    line_ : matplotlib line
        The curve.

    Examples
    --------
    >>> from optiscore import KernelDiscriminantClassifier
    >>> from optiscore.plotting import RiskCoverageDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDiscriminantClassifier("short").fit(X[::2], y[::2])
    >>> display = RiskCoverageDisplay.from_estimator(model, X[1::2], y[1::2])  # doctest: +SKIP
    """

    def __init__(self, coverage: FloatArray, risk: FloatArray, *, area: float, name: str | None = None) -> None:
        self.coverage, self.risk, self.area, self.name = coverage, risk, area, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, name: str | None = None, ax: Any = None, **keywords: Any
    ) -> Self:
        """Plot the curve of a fitted classifier, by its certified factors or else by its largest probabilities.

        Parameters
        ----------
        estimator : classifier
            Fitted classifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their labels.
        name : str, default=None
            Label of the curve; None takes the estimator's.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        RiskCoverageDisplay
        """
        last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        name = type(last).__name__ if name is None else name
        if hasattr(last, "certified_factor"):
            classifier, samples = classifier_and_samples(estimator, X)
            predicted, confidence = classifier.predict(samples), classifier.certified_factor(samples)
        elif hasattr(estimator, "predict_proba"):
            predicted, confidence = estimator.predict(X), estimator.predict_proba(X).max(axis=1)
        else:
            raise ValueError(f"estimator must be a classifier with probabilities, got {type(last).__name__}.")
        return cls.from_predictions(y, predicted, confidence, name=name, ax=ax, **keywords)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        confidence: ArrayLike,
        *,
        name: str | None = None,
        ax: Any = None,
        **keywords: Any,
    ) -> Self:
        """Plot the curve of any predictions and their confidence.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            Labels and predictions.
        confidence : array-like of shape (n_samples,)
            Larger for predictions that are kept longer.
        name : str, default=None
            Label of the curve.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        RiskCoverageDisplay
        """
        right = np.asarray(y_true) == np.asarray(y_pred)
        coverage, risk, _ = risk_coverage_curve(right, confidence)
        return cls(coverage, risk, area=area_under_risk_coverage(right, confidence), name=name).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, name: str | None = None, **keywords: Any) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        name : str, default=None
            Label of the curve; None takes that of the display.
        **keywords : dict
            For matplotlib's `plot`.

        Returns
        -------
        RiskCoverageDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        name = self.name if name is None else name
        label = f"{name} (area {100 * self.area:.1f} %)" if name else f"area {100 * self.area:.1f} %"
        (self.line_,) = self.ax_.plot(100 * self.coverage, 100 * self.risk, **{"label": label, **keywords})
        self.ax_.set(xlabel="coverage: fraction that is decided, %", ylabel="risk: fraction of these that is wrong, %")
        self.ax_.set_xlim(0, 100)
        # From 0 on, where a limit would stay as it is when the next curve goes beyond it.
        self.line_.sticky_edges.y.append(0)
        self.ax_.update_datalim([(0, 0)])
        self.ax_.autoscale_view()
        self.ax_.legend()
        return self

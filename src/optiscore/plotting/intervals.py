"""Pictures of certainty: intervals of posteriors, confidence against probability, coverage against nominal level."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.types import FloatArray
from .figure import new_axes
from .pipelines import moderated_and_samples

_MAX_SHOWN = 60


class ProbaIntervalDisplay:
    """Posteriors of one class with their intervals, sorted: nominal, moderated, and what sampling error leaves open.

    Parameters
    ----------
    lower, upper, nominal, moderated : ndarray of shape (n_samples,)
        Ends of the intervals, nominal and moderated posteriors.
    confidence_level : float
        Level of the intervals.
    name : str
        Name of the class.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    Examples
    --------
    >>> from optiscore import ModeratedDiscriminantAnalysis
    >>> from optiscore.plotting import ProbaIntervalDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ModeratedDiscriminantAnalysis().fit(X[::5], y[::5])
    >>> display = ProbaIntervalDisplay.from_estimator(model, X[1::5])  # doctest: +SKIP
    """

    def __init__(
        self,
        lower: FloatArray,
        upper: FloatArray,
        *,
        nominal: FloatArray,
        moderated: FloatArray,
        confidence_level: float,
        name: str,
    ) -> None:
        self.lower, self.upper, self.nominal, self.moderated = lower, upper, nominal, moderated
        self.confidence_level, self.name = confidence_level, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        label: Any = None,
        confidence_level: float = 0.9,
        ax: Any = None,
        **keywords: Any,
    ) -> Self:
        """Plot the posteriors of samples under a fitted `ModeratedDiscriminantAnalysis`.

        Parameters
        ----------
        estimator : ModeratedDiscriminantAnalysis or KernelDiscriminantClassifier(average=False)
            Fitted classifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Samples; of many, some are shown that are spread over the range of posteriors.
        label : label, default=None
            The class; None takes the last one.
        confidence_level : float, default=0.9
            Level of the intervals.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        ProbaIntervalDisplay
        """
        model, samples = moderated_and_samples(estimator, X)
        labels = model.classes_.tolist()
        if label is not None and label not in labels:
            raise ValueError(f"label must be one of {labels}, got {label!r}.")
        column = -1 if label is None else labels.index(label)
        nominal, moderated = (
            proba[:, column] for proba in (model.nominal_proba(samples), model.predict_proba(samples))
        )
        lower, upper = (end[:, column] for end in model.predict_proba_interval(samples, confidence_level))
        order = np.lexsort((nominal, moderated))
        if len(order) > _MAX_SHOWN:
            order = order[np.linspace(0, len(order) - 1, _MAX_SHOWN).round().astype(int)]
        display = cls(
            lower[order],
            upper[order],
            nominal=nominal[order],
            moderated=moderated[order],
            confidence_level=confidence_level,
            name=str(labels[column]),
        )
        return display.plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, color: str = "C0") -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        color : str, default="C0"
            Colour of the intervals.

        Returns
        -------
        ProbaIntervalDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        places = np.arange(len(self.lower))
        level = f"{100 * self.confidence_level:g} % interval"
        self.ax_.vlines(places, self.lower, self.upper, color=color, alpha=0.45, linewidth=3, label=level)
        self.ax_.plot(places, self.moderated, "o", color="black", markersize=4, label="moderated")
        self.ax_.plot(places, self.nominal, "_", color="#d55e00", markersize=8, markeredgewidth=2, label="nominal")
        self.ax_.set(ylim=(-0.03, 1.03), xlabel="samples, sorted", ylabel=f"probability of {self.name}", xticks=[])
        self.ax_.legend(framealpha=0.9, loc="upper left")
        return self


class ConfidenceDisplay:
    """Decision confidence against probability: what is improbable, and what is only poorly known.

    Parameters
    ----------
    probability, confidence : ndarray of shape (n_samples,)
        Probability of the predicted label, and confidence in the decision for it.
    right : ndarray of shape (n_samples,) of bool, default=None
        Whether the prediction is right, where that is known.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    Examples
    --------
    >>> from optiscore import ModeratedDiscriminantAnalysis
    >>> from optiscore.plotting import ConfidenceDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ModeratedDiscriminantAnalysis().fit(X[::5], y[::5])
    >>> display = ConfidenceDisplay.from_estimator(model, X[1::5], y[1::5])  # doctest: +SKIP
    """

    def __init__(self, probability: FloatArray, confidence: FloatArray, *, right: np.ndarray | None = None) -> None:
        self.probability, self.confidence, self.right = probability, confidence, right

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike | None = None, *, ax: Any = None, **keywords: Any
    ) -> Self:
        """Plot samples under a fitted `ModeratedDiscriminantAnalysis`.

        Parameters
        ----------
        estimator : ModeratedDiscriminantAnalysis or KernelDiscriminantClassifier(average=False)
            Fitted classifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,), default=None
            Labels, where they are known.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        ConfidenceDisplay
        """
        model, samples = moderated_and_samples(estimator, X)
        right = None if y is None else model.predict(samples) == np.asarray(y)
        probability = model.predict_proba(samples).max(axis=1)
        return cls(probability, model.decision_confidence(samples), right=right).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, color: str = "C0") -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        color : str, default="C0"
            Colour of the samples, or of those that are right.

        Returns
        -------
        ConfidenceDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        right = np.ones(len(self.probability), dtype=bool) if self.right is None else self.right
        dots = {"linestyle": "none", "markersize": 5, "alpha": 0.7}
        self.ax_.plot(self.probability[right], self.confidence[right], "o", color=color, label="right", **dots)
        self.ax_.plot(self.probability[~right], self.confidence[~right], "x", color="#d55e00", label="wrong", **dots)
        self.ax_.axhline(0.5, color="gray", linewidth=0.8, linestyle=":")
        self.ax_.set(xlabel="probability of the predicted label", ylabel="confidence in the decision")
        if self.right is not None:
            self.ax_.legend(frameon=False, loc="lower right")
        return self


class CoverageDisplay:
    """Coverage of intervals against their nominal level: on the diagonal they hold what they promise.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
        Nominal levels.
    coverage : ndarray of shape (n_levels,)
        Fraction of intervals that hold the truth.
    name : str, default=None
        Label of the curve.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.plotting import CoverageDisplay
    >>> display = CoverageDisplay(np.array([0.5, 0.9]), np.array([0.48, 0.91])).plot()  # doctest: +SKIP
    """

    def __init__(self, levels: FloatArray, coverage: FloatArray, *, name: str | None = None) -> None:
        self.levels, self.coverage, self.name = levels, coverage, name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        true_proba: ArrayLike,
        *,
        levels: ArrayLike = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99),
        name: str | None = None,
        ax: Any = None,
        **keywords: Any,
    ) -> Self:
        """Plot the coverage for samples whose posteriors are known, as in a simulation.

        Parameters
        ----------
        estimator : ModeratedDiscriminantAnalysis or KernelDiscriminantClassifier(average=False)
            Fitted classifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Samples.
        true_proba : array-like of shape (n_samples, n_classes)
            Their true posteriors.
        levels : array-like of shape (n_levels,), default=(0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
            Nominal levels.
        name : str, default=None
            Label of the curve.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        CoverageDisplay
        """
        model, samples = moderated_and_samples(estimator, X)
        truth = np.asarray(true_proba)
        if truth.shape != (len(np.asarray(samples)), len(model.classes_)):
            raise ValueError(f"true_proba must hold one row per sample and one column per class, got {truth.shape}.")
        levels = np.atleast_1d(np.asarray(levels, dtype=np.float64))
        inside = []
        for level in levels:
            lower, upper = model.predict_proba_interval(samples, level)
            inside.append(float(((lower <= truth) & (truth <= upper)).mean()))
        return cls(levels, np.array(inside), name=name).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, **keywords: Any) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For the curve, such as ``color``.

        Returns
        -------
        CoverageDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        if ax is None or not self.ax_.lines:
            self.ax_.plot([0, 100], [0, 100], color="gray", linewidth=0.8, linestyle=":")
        self.ax_.plot(100 * self.levels, 100 * self.coverage, marker="o", markersize=4, label=self.name, **keywords)
        low = max(0.0, 100 * min(self.levels.min(), self.coverage.min()) - 5)
        self.ax_.set(xlim=(low, 101), ylim=(low, 101), xlabel="nominal level, %", ylabel="coverage, %")
        if self.name is not None:
            self.ax_.legend(frameon=False, loc="upper left")
        return self

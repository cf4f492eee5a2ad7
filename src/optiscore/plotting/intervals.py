"""Picture of certainty: intervals of posteriors."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.types import FloatArray
from .figure import last_step, new_axes

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
        """Plot the probabilities of samples under a fitted classifier with intervals.

        Parameters
        ----------
        estimator : ModeratedDiscriminantAnalysis, KernelDiscriminantClassifier or CrossFitClassifier
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
        model, samples = last_step(estimator, X, "predict_proba_interval", "a classifier with intervals")
        labels = model.classes_.tolist()
        if label is not None and label not in labels:
            raise ValueError(f"label must be one of {labels}, got {label!r}.")
        column = -1 if label is None else labels.index(label)
        moderated = model.predict_proba(samples)[:, column]
        nominal = model.nominal_proba(samples)[:, column] if hasattr(model, "nominal_proba") else moderated
        lower, upper = (end[:, column] for end in model.predict_proba_interval(samples, confidence_level))
        return cls.from_predictions(
            lower,
            upper,
            moderated,
            nominal=nominal,
            confidence_level=confidence_level,
            name=str(labels[column]),
            ax=ax,
            **keywords,
        )

    @classmethod
    def from_predictions(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        proba: ArrayLike,
        *,
        nominal: ArrayLike | None = None,
        confidence_level: float = 0.9,
        name: str = "the class",
        ax: Any = None,
        **keywords: Any,
    ) -> Self:
        """Plot probabilities of one class and their intervals, wherever they come from.

        Parameters
        ----------
        lower, upper, proba : array-like of shape (n_samples,)
            Ends of the intervals, and probabilities.
        nominal : array-like of shape (n_samples,), default=None
            Probabilities with the moments taken as exact, if the classifier has them.
        confidence_level : float, default=0.9
            Level of the intervals.
        name : str, default="the class"
            Name of the class.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        ProbaIntervalDisplay
        """
        moderated = np.asarray(proba)
        low, high, plain = np.asarray(lower), np.asarray(upper), moderated if nominal is None else np.asarray(nominal)
        order = np.lexsort((plain, moderated))
        if len(order) > _MAX_SHOWN:
            order = order[np.linspace(0, len(order) - 1, _MAX_SHOWN).round().astype(int)]
        display = cls(
            low[order],
            high[order],
            nominal=plain[order],
            moderated=moderated[order],
            confidence_level=confidence_level,
            name=name,
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
        has_nominal = not np.array_equal(self.nominal, self.moderated)
        name = "moderated" if has_nominal else "probability"
        self.ax_.plot(places, self.moderated, "o", color="black", markersize=4, label=name)
        if has_nominal:
            style = {"color": "#d55e00", "markersize": 8, "markeredgewidth": 2}
            self.ax_.plot(places, self.nominal, "_", label="nominal", **style)
        self.ax_.set(ylim=(-0.03, 1.03), xlabel="samples, sorted", ylabel=f"probability of {self.name}", xticks=[])
        self.ax_.legend(framealpha=0.9, loc="upper left")
        return self

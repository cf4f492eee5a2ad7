"""Picture of posterior bounds: for each sample, the range of the plausible probabilities of a class."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.types import FloatArray
from .figure import classifier_and_samples, new_axes


class PosteriorBoundsDisplay:
    """Ranges of plausible posteriors as bars, sorted by their middle.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_samples,)
        Bounds on the probability of one class.
    class_name : str
        The class.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    Examples
    --------
    >>> from optiscore import OptimisticScoreClassifier
    >>> from optiscore.plotting import PosteriorBoundsDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimisticScoreClassifier(decision_rule="minimax").fit(X[::2], y[::2])
    >>> display = PosteriorBoundsDisplay.from_estimator(model, X[1::2])  # doctest: +SKIP
    """

    def __init__(self, lower: FloatArray, upper: FloatArray, *, class_name: str) -> None:
        self.lower, self.upper, self.class_name = lower, upper, class_name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, *, class_of_interest: Any = None, ax: Any = None, **keywords: Any
    ) -> Self:
        """Plot the bounds of a fitted classifier.

        Parameters
        ----------
        estimator : OptimisticScoreClassifier or OptimisticScoreClassifierCV
            Fitted classifier, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Samples.
        class_of_interest : label, default=None
            The class whose probability is shown; None is the last one.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        PosteriorBoundsDisplay
        """
        classifier, samples = classifier_and_samples(estimator, X)
        labels = classifier.classes_.tolist()
        label = labels[-1] if class_of_interest is None else class_of_interest
        if label not in labels:
            raise ValueError(f"class_of_interest must be one of {labels}, got {label!r}.")
        lower, upper = classifier.predict_proba_bounds(samples)
        c = labels.index(label)
        return cls.from_predictions(lower[:, c], upper[:, c], class_name=str(label), ax=ax, **keywords)

    @classmethod
    def from_predictions(
        cls, lower: ArrayLike, upper: ArrayLike, *, class_name: str = "1", ax: Any = None, **keywords: Any
    ) -> Self:
        """Plot given bounds.

        Parameters
        ----------
        lower, upper : array-like of shape (n_samples,)
            Bounds on the probability of one class.
        class_name : str, default="1"
            The class.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        PosteriorBoundsDisplay
        """
        low, high = np.asarray(lower), np.asarray(upper)
        if low.ndim != 1 or low.shape != high.shape:
            raise ValueError(f"lower and upper must have a bound per sample, got shapes {low.shape} and {high.shape}.")
        return cls(low, high, class_name=class_name).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, color: str = "C0") -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        color : str, default="C0"
            Colour of the bars.

        Returns
        -------
        PosteriorBoundsDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        order = np.argsort(self.lower + self.upper, kind="stable")
        places = np.arange(len(order))
        low, high = self.lower[order], self.upper[order]
        self.ax_.bar(places, np.maximum(high - low, 0.004), bottom=low, width=0.9, color=color)
        self.ax_.axhline(0.5, color="grey", linewidth=1, linestyle=":")
        self.ax_.set(
            xlabel="samples, by the middle of their range", ylabel=f"plausible probability of {self.class_name}"
        )
        self.ax_.set_ylim(0, 1)
        self.ax_.set_xlim(-0.5, len(order) - 0.5)
        return self

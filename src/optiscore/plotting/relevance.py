"""Picture of what a kernel classifier looks at: weights of the features, the largest first."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..numerics.types import FloatArray
from .figure import new_axes


class RelevanceDisplay:
    """Weights of the features, as bars.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        Weights, 1 for the feature that matters most.
    names : array-like of shape (n_features,), default=None
        Names of the features; None numbers them.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.
    bars_ : matplotlib container
        The bars.

    Examples
    --------
    >>> from optiscore import KernelDiscriminantClassifier
    >>> from optiscore.plotting import RelevanceDisplay
    >>> from sklearn.datasets import load_wine
    >>> data = load_wine(as_frame=True)
    >>> model = KernelDiscriminantClassifier(relevance=True).fit(data.data, data.target)
    >>> display = RelevanceDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(self, relevance: FloatArray, names: ArrayLike | None = None) -> None:
        self.relevance, self.names = relevance, names

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **keywords: Any) -> Self:
        """Plot the weights of a fitted classifier or map.

        Parameters
        ----------
        estimator : KernelDiscriminantClassifier or KernelDiscriminantMap
            Fitted, or a pipeline that ends in one.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        RelevanceDisplay
        """
        check_is_fitted(estimator)
        model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not hasattr(model, "relevance_"):
            raise ValueError(
                f"estimator must be a KernelDiscriminantClassifier, a KernelDiscriminantMap or a pipeline that ends in "
                f"one, got {type(model).__name__}."
            )
        return cls(model.relevance_, getattr(model, "feature_names_in_", None)).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, most: int = 20, **keywords: Any) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        most : int, default=20
            So many features of the largest weights are shown.
        **keywords : dict
            For matplotlib's `barh`.

        Returns
        -------
        RelevanceDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        order = np.argsort(-self.relevance, kind="stable")[:most]
        names = np.arange(len(self.relevance)) if self.names is None else np.asarray(self.names)
        self.bars_ = self.ax_.barh(np.arange(len(order)), self.relevance[order], **keywords)
        rest = len(self.relevance) - len(order)
        self.ax_.set_yticks(np.arange(len(order)), [str(name) for name in names[order]])
        self.ax_.set(xlim=(0, 1.02), xlabel=f"weight{f' (and {rest} features of smaller ones)' if rest else ''}")
        self.ax_.invert_yaxis()
        return self

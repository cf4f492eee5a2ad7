"""Picture of decision regions in the plane, with what is certified in full colour."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.types import BoolArray, FloatArray
from .figure import classifier_and_samples, decisions, new_axes

# A legend of more classes would cover the plane.
_MOST_INSIDE = 8


class CertifiedRegionsDisplay:
    """Predicted classes over the plane; pale where other classes remain plausible.

    Parameters
    ----------
    x0, x1 : ndarray of shape (n_columns,) and (n_rows,)
        Axes of the grid.
    labels : ndarray of shape (n_rows, n_columns) of int
        Index of the predicted class.
    certified : ndarray of shape (n_rows, n_columns) of bool
        Whether it is the only plausible one.
    class_names : list of str
        Names of the classes.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    Examples
    --------
    >>> from optiscore import OptimisticScoreClassifier
    >>> from optiscore.plotting import CertifiedRegionsDisplay
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OptimisticScoreClassifier(decision_rule="minimax").fit(X[:, :2], y)
    >>> display = CertifiedRegionsDisplay.from_estimator(model, X[:, :2], y)  # doctest: +SKIP
    """

    def __init__(
        self, x0: FloatArray, x1: FloatArray, labels: np.ndarray, certified: BoolArray, *, class_names: list[str]
    ) -> None:
        self.x0, self.x1, self.labels, self.certified, self.class_names = x0, x1, labels, certified, class_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        resolution: int = 300,
        ax: Any = None,
        **keywords: Any,
    ) -> Self:
        """Plot the regions of a classifier of two features around given samples.

        Parameters
        ----------
        estimator : OptimisticScoreClassifier or OptimisticScoreClassifierCV
            Fitted classifier of two features, or a pipeline that ends in one.
        X : array-like of shape (n_samples, 2)
            Samples that tell which part of the plane is shown.
        y : array-like of shape (n_samples,), default=None
            Labels; if given, the samples are drawn as dots.
        resolution : int, default=300
            Grid points per axis.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        CertifiedRegionsDisplay
        """
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(f"X must have two features, got shape {points.shape}; choose two of them.")
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.15 * np.where(high > low, high - low, 1.0)
        x0, x1 = (np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True))
        grid = np.stack(np.meshgrid(x0, x1), axis=-1).reshape(-1, 2)
        with warnings.catch_warnings():
            # The grid is ours, and its columns are those of X, whatever they are called.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            classifier, samples = classifier_and_samples(estimator, grid)
            regions = [part.reshape(resolution, resolution) for part in decisions(classifier, samples)]
        names = [str(label) for label in classifier.classes_]
        display = cls(x0, x1, *regions, class_names=names).plot(ax=ax, **keywords)
        if y is not None:
            unknown = ~np.isin(y, classifier.classes_)
            if unknown.any():
                raise ValueError(f"y holds {np.asarray(y)[unknown][0]!r}, which is none of {names}.")
            display.draw_samples(points, np.searchsorted(classifier.classes_, np.asarray(y)))
        return display

    @classmethod
    def from_predictions(
        cls,
        x0: ArrayLike,
        x1: ArrayLike,
        labels: ArrayLike,
        certified: ArrayLike,
        *,
        class_names: list[str],
        ax: Any = None,
        **keywords: Any,
    ) -> Self:
        """Plot given regions.

        Parameters
        ----------
        x0, x1, labels, certified : array-like of shape (n_rows, n_columns)
            The grid, and what is said at each of its points, as in the display.
        class_names : list of str
            Names of the classes.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure if None.
        **keywords : dict
            Further ones of `plot`.

        Returns
        -------
        CertifiedRegionsDisplay
        """
        arrays = [np.asarray(part) for part in (x0, x1, labels, certified)]
        return cls(*arrays, class_names=class_names).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, colors: list[str] | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        colors : list of str, default=None
            Colours of the classes; None takes matplotlib's.

        Returns
        -------
        CertifiedRegionsDisplay
        """
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        self._colors = np.array([to_rgb(c) for c in colors or _colors(len(self.class_names))])
        strength = np.where(self.certified, 0.75, 0.22)[..., None]
        image = strength * self._colors[self.labels] + (1 - strength)
        extent = (self.x0[0], self.x0[-1], self.x1[0], self.x1[-1])
        self.ax_.imshow(image, origin="lower", extent=extent, aspect="auto", interpolation="nearest")
        handles = [Patch(color=color, label=name) for name, color in zip(self.class_names, self._colors, strict=True)]
        aside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if len(handles) > _MOST_INSIDE else {}
        self.ax_.legend(handles=[*handles, Patch(color="#dddddd", label="pale: not certified")], fontsize=9, **aside)
        return self

    def draw_samples(self, X: FloatArray, codes: np.ndarray) -> None:
        """Add samples as dots in the colours of their classes.

        Parameters
        ----------
        X : ndarray of shape (n_samples, 2)
            Samples.
        codes : ndarray of shape (n_samples,)
            Index of the class of each.
        """
        self.ax_.scatter(*X.T, c=self._colors[codes], edgecolors="black", linewidths=0.5, s=18)


def _colors(n: int) -> list[Any]:
    """Matplotlib's ten, or as many as there are classes."""
    if n <= 10:
        return [f"C{i}" for i in range(n)]
    from matplotlib import colormaps

    return [colormaps["tab20"](i) if n <= 20 else colormaps["turbo"](i / (n - 1)) for i in range(n)]

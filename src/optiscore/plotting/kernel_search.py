"""Picture of a search for a kernel map: the leave-one-out error of all kernels and scalings over the ridge."""

from itertools import cycle
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .figure import new_axes

# Told apart by the colour-blind, too.
_COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#aa4499")
_STYLES = ("-", "--")


class KernelSearchDisplay:
    """Leave-one-out squared error over the ridge, a curve per kernel and scaling; what was chosen is marked.

    Parameters
    ----------
    results : dict of ndarray
        What was tried: `KernelDiscriminantMap.results_` or that of the classifier.
    chosen : list of (str, str, float)
        Kernel, scaling and ridge of what was chosen.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    Examples
    --------
    >>> from optiscore import KernelDiscriminantMap
    >>> from optiscore.plotting import KernelSearchDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> display = KernelSearchDisplay.from_estimator(KernelDiscriminantMap().fit(X, y))  # doctest: +SKIP
    """

    def __init__(self, results: dict[str, np.ndarray], *, chosen: list[tuple[str, str, float]]) -> None:
        self.results, self.chosen = results, chosen

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **keywords: Any) -> Self:
        """Plot the search of a fitted map or classifier.

        Parameters
        ----------
        estimator : KernelDiscriminantMap or KernelDiscriminantClassifier
            Fitted estimator; of the classifier, all maps that were averaged are marked.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        KernelSearchDisplay
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "maps_"):
            columns = (estimator.maps_[name].tolist() for name in ("kernel", "scaling", "ridge"))
            chosen = list(zip(*columns, strict=True))
        elif hasattr(estimator, "expansion_"):
            chosen = [(estimator.kernel_, estimator.scaling_, estimator.ridge_)]
        else:
            raise ValueError(
                f"estimator must be a KernelDiscriminantMap or a KernelDiscriminantClassifier, got "
                f"{type(estimator).__name__}."
            )
        return cls(estimator.results_, chosen=chosen).plot(ax=ax, **keywords)

    def plot(self, ax: Any = None) -> Self:
        """Draw the picture: a colour for each kernel, a style of line for each scaling.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        KernelSearchDisplay
            Curves that were left behind on the landmarks are pale.
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        kernels, scalings = (list(dict.fromkeys(self.results[name].tolist())) for name in ("kernel", "scaling"))
        for kernel, colour in zip(kernels, cycle(_COLOURS), strict=False):
            for scaling, style in zip(scalings, _STYLES, strict=False):
                self._draw_curve(kernel, scaling, color=colour, linestyle=style)
        self.ax_.set(
            xscale="log",
            yscale="log",
            xlabel="ridge, in units of the mean eigenvalue",
            ylabel="leave-one-out squared error",
        )
        self.ax_.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        return self

    def _draw_curve(self, kernel: str, scaling: str, **style: Any) -> None:
        rows = (self.results["kernel"] == kernel) & (self.results["scaling"] == scaling)
        if not rows.any():
            return
        ridges, errors = self.results["ridge"][rows], self.results["squared_error"][rows]
        is_partial = self.results["n_rows"][rows][0] < self.results["n_rows"].max()
        self.ax_.plot(ridges, errors, alpha=0.35 if is_partial else 1.0, label=f"{kernel}, {scaling}", **style)
        for ridge in (ridge for *names, ridge in self.chosen if names == [kernel, scaling]):
            place = int(np.abs(ridges - ridge).argmin())
            self.ax_.plot(
                ridges[place], errors[place], "*", markersize=12, color=style["color"], markeredgecolor="black"
            )

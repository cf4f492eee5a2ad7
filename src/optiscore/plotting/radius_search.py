"""Picture of a search for radii: the cross-validated score over the candidates, the choice marked."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..numerics.types import FloatArray
from .figure import new_axes


class RadiusSearchDisplay:
    """Cross-validated score over the candidate radii.

    A heat map over pairs of radii, or a curve with its spread over what is common to all classes; the choice is marked.

    Parameters
    ----------
    mean : ndarray of shape (n_radii_0, n_radii_1) or (n_factors,)
        Mean score per candidate.
    std : ndarray of the same shape
        Its standard deviation over the folds.
    axes : tuple of ndarray
        Candidate radii of the first and of the second class, or candidate radii or factors common to all.
    best : tuple of int
        Indices of the choice along the axes.
    axis_names : sequence of str
        Names of the axes.
    score_name : str, default="score"
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib axes
        Axes with the picture.
    figure_ : matplotlib figure
        Figure that holds them.

    See Also
    --------
    OptimisticScoreClassifierCV.plot_radii : The same from the estimator.

    Examples
    --------
    >>> from optiscore import OptimisticScoreClassifierCV
    >>> from optiscore.plotting import RadiusSearchDisplay
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OptimisticScoreClassifierCV().fit(X[:, :5], y)
    >>> display = RadiusSearchDisplay.from_estimator(model)  # doctest: +SKIP
    """

    def __init__(
        self,
        mean: FloatArray,
        *,
        std: FloatArray,
        axes: tuple[FloatArray, ...],
        best: tuple[int, ...],
        axis_names: Sequence[str],
        score_name: str = "score",
    ) -> None:
        self.mean, self.std, self.axes, self.best = mean, std, axes, best
        self.axis_names, self.score_name = axis_names, score_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **keywords: Any) -> Self:
        """Plot the search of a fitted `OptimisticScoreClassifierCV`, for the likelihood and pooling that it chose.

        Parameters
        ----------
        estimator : OptimisticScoreClassifierCV
            Fitted estimator.
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        **keywords : dict
            For `plot`.

        Returns
        -------
        RadiusSearchDisplay
        """
        if not hasattr(estimator, "plot_radii"):
            raise ValueError(f"estimator must be an OptimisticScoreClassifierCV, got {type(estimator).__name__}.")
        check_is_fitted(estimator)
        axes, results = estimator.radius_axes_, estimator.cv_results_
        shape = tuple(len(axis) for axis in axes)
        block, place = divmod(estimator.best_index_, int(np.prod(shape)))
        mean, std = (results[f"{name}_test_score"].reshape(-1, *shape)[block] for name in ("mean", "std"))
        best = tuple(int(i) for i in np.unravel_index(place, shape))
        per_class = [f"radius of class {label}" for label in estimator.classes_]
        common = "factor on the clt radii" if estimator.radii is None else "radius of all classes"
        names = per_class if len(axes) > 1 else [common]
        score_name = _name_of(estimator.scoring)
        display = cls(mean, std=std, axes=axes, best=best, axis_names=names, score_name=score_name)
        return display.plot(ax=ax, **keywords)

    def plot(self, ax: Any = None, *, cmap: str = "cividis", color: str = "C0", colorbar: bool = True) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None makes a new figure.
        cmap : str, default="cividis"
            Colour map of the heat map.
        color : str, default="C0"
            Colour of the curve.
        colorbar : bool, default=True
            Whether the heat map gets a colour bar.

        Returns
        -------
        RadiusSearchDisplay
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        if len(self.axes) > 1:
            self._draw_map(cmap, colorbar)
        else:
            self._draw_curve(color)
        return self

    def _draw_map(self, cmap: str, colorbar: bool) -> None:
        row, column = self.best
        image = self.ax_.imshow(self.mean, origin="lower", cmap=cmap, aspect="auto")
        self.ax_.plot(column, row, marker="*", markersize=16, color="white", markeredgecolor="black", linestyle="none")
        for side, axis in ((self.ax_.yaxis, self.axes[0]), (self.ax_.xaxis, self.axes[1])):
            side.set_ticks(range(len(axis)), [f"{radius:.2g}" for radius in axis])
        self.ax_.tick_params(axis="x", rotation=45)
        self.ax_.set(ylabel=self.axis_names[0], xlabel=self.axis_names[1], title=self._title())
        if colorbar:
            self.figure_.colorbar(image, ax=self.ax_, label=f"mean {self.score_name}")

    def _draw_curve(self, color: str) -> None:
        places, (best,) = np.arange(len(self.mean)), self.best
        self.ax_.fill_between(places, self.mean - self.std, self.mean + self.std, color=color, alpha=0.2, linewidth=0)
        self.ax_.plot(places, self.mean, color=color, marker="o", markersize=4)
        self.ax_.plot(best, self.mean[best], marker="*", markersize=16, color=color, markeredgecolor="black")
        self.ax_.set_xticks(places, [f"{factor:.2g}" for factor in self.axes[0]])
        label = f"{self.score_name}, mean and spread of folds"
        self.ax_.set(xlabel=self.axis_names[0], ylabel=label, title=self._title())

    def _title(self) -> str:
        radii = ", ".join(f"{axis[i]:.3g}" for axis, i in zip(self.axes, self.best, strict=True))
        return f"best {self.score_name} {self.mean[self.best]:.4f} at {radii}"


def _name_of(scoring: Any) -> str:
    if scoring is None:
        return "accuracy"
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")

"""Decision regions in the plane: what Figures 2 and 3 of the paper have in common."""

import base64
from collections.abc import Sequence

import numpy as np
from sklearn.covariance import EmpiricalCovariance

from optiscore import OptimisticScoreClassifier
from optiscore.datasets import PLANE_COVARIANCES, PLANE_MEANS, make_plane_classes
from optiscore.numerics.types import BoolArray, FloatArray

from .experiment import Cell, Result, Row, Summary, Table, Values

_WINDOW = (-4.0, 5.0)
_RESOLUTION = 400
_SEED = 2020


def grid_points() -> FloatArray:
    """The points of a square window, row by row from below."""
    axis = np.linspace(*_WINDOW, _RESOLUTION)
    return np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)


def compute_regions(cell: Cell) -> Values:
    """Labels on a grid, training accuracy and threshold of a classifier for given radii."""
    X, y = make_plane_classes(random_state=_SEED)
    model = OptimisticScoreClassifier(
        cell["likelihood"],
        radius=cell["radii"],
        decision_rule=cell["decision_rule"],
        covariance_estimator=EmpiricalCovariance(),
    ).fit(X, y)
    labels = model.predict(grid_points()) == 1
    tau = float(np.exp(model.offsets_[0] - model.offsets_[1]))
    return {"accuracy": float(model.score(X, y)), "tau": tau, "labels": _pack(labels)}


def summarise_regions(name: str, results: Sequence[Result]) -> Summary:
    """A table of accuracies and a figure with one panel per cell."""
    rows: list[Row] = [
        {
            "likelihood": cell["likelihood"],
            "radius of class 0": cell["radii"][0],
            "radius of class 1": cell["radii"][1],
            "tau": values["tau"],
            "training accuracy": 100 * values["accuracy"],
            "fraction of class 1": 100 * float(_unpack(values["labels"]).mean()),
        }
        for cell, values, _ in results
    ]
    return Summary(tables={name: Table(rows)}, figures={name: draw_regions(results)})


def draw_regions(results: Sequence[Result]) -> object:
    """Class regions in two colours, means as dots, contours of the densities as dashed ellipses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 8), layout="constrained")
    axis = np.linspace(*_WINDOW, _RESOLUTION)
    for ax, (cell, values, _) in zip(figure.subplots(2, 2, sharex=True, sharey=True).flat, results, strict=True):
        labels = _unpack(values["labels"]).reshape(_RESOLUTION, _RESOLUTION)
        ax.contourf(axis, axis, labels, levels=[-0.5, 0.5, 1.5], colors=["#4477aa", "#cc6677"])
        for mean, S in zip(PLANE_MEANS, PLANE_COVARIANCES, strict=True):
            for size in (1, 2, 3):
                ax.plot(*_ellipse(mean, S, size), color="white", linestyle="--", linewidth=1.2)
            ax.plot(*mean, "o", color="black", markersize=6, zorder=3)
        for place, label in ((PLANE_MEANS[0], "0"), (PLANE_MEANS[1], "1")):
            ax.annotate(label, place, xytext=(7, 5), textcoords="offset points", fontweight="bold", zorder=3)
        radii = ", ".join(f"{radius:g}" for radius in cell["radii"])
        ax.set_title(f"{cell['likelihood']}, radii ({radii}), {100 * values['accuracy']:.1f} % right", fontsize=10)
        ax.set(aspect="equal", xlim=_WINDOW, ylim=_WINDOW)
    return figure


def _ellipse(mean: FloatArray, S: FloatArray, size: float) -> FloatArray:
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return mean[:, None] + size * np.linalg.cholesky(S) @ circle


def _pack(labels: BoolArray) -> str:
    return base64.b64encode(np.packbits(labels).tobytes()).decode("ascii")


def _unpack(text: str) -> BoolArray:
    return np.unpackbits(np.frombuffer(base64.b64decode(text), dtype=np.uint8)).astype(bool)

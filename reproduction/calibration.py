"""Calibration (not in the paper): whether probabilities mean what they say, on small training sets."""

from collections.abc import Sequence

import numpy as np

from .datasets import fetch_benchmark, list_benchmarks
from .experiment import HOW_SURE, Cell, Experiment, Question, Result, Row, Summary, Table, Values
from .sampling import METHODS, OURS, SIZES, split

_BINS = np.linspace(0.5, 1, 11)

#: The bins of predictions that sound sure, 90 % and more; and the methods that are drawn.
_SURE = slice(8, 10)
_DRAWN = {OURS: "#0072b2", "kernel": "#56b4e9", "LDA": "#009e73", "logistic": "#cc79a7", "forest": "#e69f00"}


def cells(quick: bool) -> list[Cell]:
    """Four sizes of the training set, 5 splits; one if quick."""
    return [
        {"dataset": name, "size": size, "repeat": repeat}
        for repeat in range(1 if quick else 5)
        for name in list_benchmarks()
        for size in SIZES
    ]


def compute(cell: Cell) -> Values:
    """How often predictions of ten levels of probability are right."""
    X, y = fetch_benchmark(cell["dataset"], return_X_y=True)
    train, test = split(y, X.shape[1], cell["size"], cell["repeat"])
    values = {}
    for name, make in METHODS.items():
        model = make().fit(X[train], y[train])
        proba = model.predict_proba(X[test])
        codes = np.searchsorted(model.classes_, y[test])
        top, right = proba.max(axis=1), proba.argmax(axis=1) == codes
        place = np.clip(np.digitize(top, _BINS) - 1, 0, len(_BINS) - 2)
        values[name] = {
            "rows": np.bincount(place, minlength=len(_BINS) - 1).tolist(),
            "right": np.bincount(place, weights=right, minlength=len(_BINS) - 1).tolist(),
            "probability": np.bincount(place, weights=top, minlength=len(_BINS) - 1).tolist(),
        }
    return values


def summarise(results: Sequence[Result]) -> Summary:
    """Reliability over all data sets, per size and method."""
    sure: list[Row] = []
    for size in SIZES:
        if part := [values for cell, values, _ in results if cell["size"] == size]:
            sure += [_sure_row(size, method, part) for method in METHODS]
    caption = "Predictions of 90 % and more, over all data sets: stated and true, in percent."
    question = Question(HOW_SURE, _answer(sure), ("calibration",), ("calibration_sure",), EXPERIMENT.title)
    return Summary(
        tables={"calibration_sure": Table(sure, caption)},
        figures={"calibration": draw(results)},
        questions=(question,),
    )


def _totals(part: Sequence[Values], method: str) -> dict[str, np.ndarray]:
    """Rows, right ones and probabilities in each bin, over all data sets and splits."""
    return {key: np.sum([values[method][key] for values in part], axis=0) for key in ("rows", "right", "probability")}


def _sure_row(size: str, method: str, part: Sequence[Values]) -> Row:
    """What is stated and what is true of predictions that sound sure."""
    totals = _totals(part, method)
    rows, right, probability = (float(totals[key][_SURE].sum()) for key in ("rows", "right", "probability"))
    return {
        "size": size,
        "method": method,
        "stated": 100 * probability / max(rows, 1),
        "right": 100 * right / max(rows, 1),
        "of all predictions": 100 * rows / float(totals["rows"].sum()),
    }


def _answer(sure: Sequence[Row]) -> list[str]:
    """The smallest training sets are where probabilities go wrong."""
    size = sure[0]["size"]
    said = {row["method"]: row for row in sure if row["size"] == size}
    parts = [f"{m} {said[m]['right']:.1f} % (stated {said[m]['stated']:.1f} %)" for m in (OURS, "kernel", "LDA")]
    return [f"Trained on {size} rows, of the predictions of 90 % and more so many are right: {', '.join(parts)}."]


def draw(results: Sequence[Result]) -> object:
    """Fraction of right predictions against probability, a panel per size."""
    from matplotlib.figure import Figure

    sizes = [size for size in SIZES if any(cell["size"] == size for cell, _, _ in results)]
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for ax, size in zip(axes, sizes, strict=True):
        part = [values for cell, values, _ in results if cell["size"] == size]
        ax.plot([50, 100], [50, 100], color="gray", linewidth=0.8, linestyle=":")
        for method, colour in _DRAWN.items():
            totals = _totals(part, method)
            known = totals["rows"] > 0
            rows = totals["rows"][known]
            curve = 100 * totals["probability"][known] / rows, 100 * totals["right"][known] / rows
            width = 2.5 if method == OURS else 1.2
            ax.plot(*curve, marker="o", markersize=3, linewidth=width, color=colour, label=method)
        ax.set(title=size, xlabel="probability of the predicted label, %")
    axes[0].set_ylabel("predictions that are right, %")
    axes[-1].legend(frameon=False, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    name="calibration",
    title="Calibration: do probabilities mean what they say?",
    about=(
        "Training sets from tiny to three quarters of all rows, 5 splits. On the diagonal, predictions of 80 % are "
        "right in 80 % of the cases."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

"""Calibration (not in the paper): log loss and reliability of probabilities, on small training sets."""

from collections.abc import Sequence

import numpy as np

from ..datasets import fetch_benchmark, list_benchmarks
from ..metrics import mean_log_loss
from .experiment import Cell, Experiment, Result, Row, Summary, Table, Values, mean_and_error
from .sampling import METHODS, SIZES, split

_BINS = np.linspace(0.5, 1, 11)


def cells(quick: bool) -> list[Cell]:
    """Four sizes of the training set, 5 splits; one if quick."""
    return [
        {"dataset": name, "size": size, "repeat": repeat}
        for repeat in range(1 if quick else 5)
        for name in list_benchmarks()
        for size in SIZES
    ]


def compute(cell: Cell) -> Values:
    """Log loss, and how often predictions of ten levels of probability are right."""
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
            # A probability of 0 for the truth would make all others irrelevant.
            "log loss": mean_log_loss(np.maximum(proba.T, 1e-6), codes),
            "rows": np.bincount(place, minlength=len(_BINS) - 1).tolist(),
            "right": np.bincount(place, weights=right, minlength=len(_BINS) - 1).tolist(),
            "probability": np.bincount(place, weights=top, minlength=len(_BINS) - 1).tolist(),
        }
    return values


def summarise(results: Sequence[Result]) -> Summary:
    """Mean log loss per size and method, and reliability over all data sets."""
    rows: list[Row] = []
    for size in SIZES:
        part = [values for cell, values, _ in results if cell["size"] == size]
        if part:
            row: Row = {"size": size}
            for method in METHODS:
                row[method], row[f"{method} +-"] = mean_and_error([values[method]["log loss"] for values in part])
            rows.append(row)
    best = [f"{row['size']}: {min(METHODS, key=row.__getitem__)}" for row in rows]
    notes = [f"Smallest mean log loss: {'; '.join(best)}. Probabilities below 1e-6 count as that."]
    return Summary(tables={"calibration": Table(rows)}, figures={"calibration": draw(results)}, notes=notes)


def draw(results: Sequence[Result]) -> object:
    """Fraction of right predictions against probability, a panel per size."""
    from matplotlib.figure import Figure

    sizes = [size for size in SIZES if any(cell["size"] == size for cell, _, _ in results)]
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    axes = figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for ax, size in zip(axes, sizes, strict=True):
        part = [values for cell, values, _ in results if cell["size"] == size]
        ax.plot([50, 100], [50, 100], color="gray", linewidth=0.8, linestyle=":")
        for method in METHODS:
            sums = {key: [values[method][key] for values in part] for key in ("rows", "right", "probability")}
            totals = {key: np.sum(values, axis=0) for key, values in sums.items()}
            known = totals["rows"] > 0
            rows = totals["rows"][known]
            curve = 100 * totals["probability"][known] / rows, 100 * totals["right"][known] / rows
            ax.plot(*curve, marker="o", markersize=3, linewidth=2.5 if method == "moderated" else 1.2, label=method)
        ax.set(title=size, xlabel="probability of the predicted label, %")
    axes[0].set_ylabel("predictions that are right, %")
    axes[-1].legend(frameon=False, fontsize=8)
    return figure


EXPERIMENT = Experiment(
    name="calibration",
    title="Calibration: do probabilities mean what they say?",
    about=(
        "Training sets from tiny to three quarters of all rows, 5 splits. On the diagonal, predictions of 80 % are "
        "right in 80 % of the cases. The table has log losses."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

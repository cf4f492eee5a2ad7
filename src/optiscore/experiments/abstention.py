"""Abstention (not in the paper): which method knows best what to leave to a person, on small training sets."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ..datasets import fetch_benchmark, list_benchmarks
from .experiment import Cell, Experiment, Result, Row, Summary, Table, Values, mean_and_error
from .judging import judge
from .sampling import METHODS, OURS, SIZES, split


def cells(quick: bool) -> list[Cell]:
    """Three sizes of the training set, 30 splits; 2 if quick."""
    return [
        {"dataset": name, "size": size, "repeat": repeat}
        for repeat in range(2 if quick else 30)
        for name in list_benchmarks()
        for size in SIZES
    ]


def compute(cell: Cell) -> Values:
    """Accuracy, area under risk-coverage and log loss of each method on the rows that were not trained on."""
    X, y = fetch_benchmark(cell["dataset"], return_X_y=True)
    train, test = split(y, X.shape[1], cell["size"], cell["repeat"])
    values = {}
    for name, make in METHODS.items():
        model = make().fit(X[train], y[train])
        values[name] = judge(model, X[test], y[test])
    return values


def summarise(results: Sequence[Result]) -> Summary:
    """Areas per data set and size, their means, and on how many sets ours is better than each other."""
    rows, notes = [], []
    for size in SIZES:
        part = [_row(name, size, results) for name in list_benchmarks() if _has(name, size, results)]
        if not part:
            continue
        rows += part
        means = {method: float(np.mean([row[method] for row in part])) for method in METHODS}
        won = [f"{method} {sum(row[OURS] < row[method] for row in part)}" for method in METHODS if method != OURS]
        listed = ", ".join(f"{method} {mean:.2f}" for method, mean in means.items())
        notes.append(
            f"{size}: mean area in percent over {len(part)} data sets: {listed}. Data sets on which {OURS} is better "
            f"than each: {', '.join(won)}."
        )
    return Summary(tables={"abstention": Table(rows)}, figures={"abstention": draw(rows)}, notes=notes)


def _has(name: str, size: str, results: Sequence[Result]) -> bool:
    return any(cell["dataset"] == name and cell["size"] == size for cell, _, _ in results)


def _row(name: str, size: str, results: Sequence[Result]) -> Row:
    areas = defaultdict(list)
    for cell, values, _ in results:
        if cell["dataset"] == name and cell["size"] == size:
            for method in METHODS:
                areas[method].append(100 * values[method]["area"])
    row: Row = {"dataset": name, "size": size}
    for method in METHODS:
        row[method], row[f"{method} +-"] = mean_and_error(areas[method])
    return row


def draw(rows: Sequence[Row]) -> object:
    """Areas relative to LDA's, a panel per size, a dot per data set."""
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys(row["size"] for row in rows))
    shown = [method for method in METHODS if method != "LDA"]
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for ax, size in zip(figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0], sizes, strict=True):
        part = [row for row in rows if row["size"] == size]
        for place, method in enumerate(shown):
            ratios = [row[method] / max(row["LDA"], 1e-9) for row in part]
            ax.plot(ratios, [place] * len(ratios), "o", color="#777777", alpha=0.5, markersize=5)
            ax.plot(np.mean(ratios), place, "D", color="#0072b2", markersize=8)
        ax.axvline(1, color="black", linewidth=0.8)
        ax.set(title=size, yticks=range(len(shown)), yticklabels=shown, xscale="log")
        ax.set_xticks([0.25, 0.5, 1, 2], ["1/4", "1/2", "1", "2"], minor=False)
        ax.minorticks_off()
        ax.invert_yaxis()
    figure.supxlabel("area under risk-coverage relative to LDA's (dots: data sets, diamonds: means)", fontsize=10)
    return figure


EXPERIMENT = Experiment(
    name="abstention",
    title="Abstention: who knows what to leave to a person",
    about=(
        "Small training sets, 30 splits. Every method decides the rows that it is surest of, by its largest "
        "probability. The table has the area under the risk-coverage curve, in percent, with its standard error; "
        "smaller is better."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

"""Abstention (not in the paper): which method knows best what to leave to a person, from few rows to many."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from ..datasets import fetch_benchmark, list_benchmarks
from .experiment import Cell, Experiment, Result, Row, Summary, Table, Values, mean_and_error
from .judging import judge
from .ranking import Ranking, compare_with, draw_ranks, rank_methods, rank_note, rank_rows
from .sampling import METHODS, OURS, SIZES, split

#: What is measured: unit, and which differences are ties.
_MEASURES = {"area": (100.0, 0.25), "log loss": (1.0, 0.005)}


def cells(quick: bool) -> list[Cell]:
    """Four sizes of the training set, 20 splits; one if quick."""
    return [
        {"dataset": name, "size": size, "repeat": repeat}
        for repeat in range(1 if quick else 20)
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
    """Areas and log losses per data set and size, their means and ranks, and who is significantly better than ours."""
    tables: dict[str, Table] = {}
    notes: list[str] = []
    rankings: dict[str, Ranking] = {}
    rows: list[Row] = []
    for measure, (scale, tie) in _MEASURES.items():
        ranked: list[Row] = []
        for size in SIZES:
            part = [
                _row(name, size, results, measure, scale) for name in list_benchmarks() if _has(name, size, results)
            ]
            if not part:
                continue
            rows += part if measure == "area" else []
            values = np.array([[row[method] for method in METHODS] for row in part])
            ranking = rank_methods(values, list(METHODS), more_is_better=False)
            compared = compare_with(values, list(METHODS), OURS, tie, more_is_better=False)
            ranked += [{"size": size, **row} for row in rank_rows(ranking, compared)]
            if measure == "area":
                rankings[f"area, {size}"] = ranking
            notes.append(f"{size}, {rank_note(measure, ranking, OURS, len(part))}")
        caption = f"{measure}: means, mean ranks, and wins, ties and losses of {OURS} against each; smaller is better."
        tables[f"abstention_{measure.replace(' ', '_')}_ranks"] = Table(ranked, caption)
    tables["abstention"] = Table(rows, "Area under risk-coverage in percent, with its standard error.")
    figures = {"abstention": draw(rows), "abstention_ranks": draw_ranks(rankings, [OURS, "kernel"])}
    return Summary(tables=tables, figures=figures, notes=notes)


def _has(name: str, size: str, results: Sequence[Result]) -> bool:
    return any(cell["dataset"] == name and cell["size"] == size for cell, _, _ in results)


def _row(name: str, size: str, results: Sequence[Result], measure: str, scale: float) -> Row:
    found = defaultdict(list)
    for cell, values, _ in results:
        if cell["dataset"] == name and cell["size"] == size:
            for method in METHODS:
                found[method].append(scale * values[method][measure])
    row: Row = {"dataset": name, "size": size}
    for method in METHODS:
        row[method], row[f"{method} +-"] = mean_and_error(found[method])
    return row


def draw(rows: Sequence[Row]) -> object:
    """Areas relative to LDA's, a panel per size, a dot per data set."""
    from matplotlib.figure import Figure

    sizes = list(dict.fromkeys(row["size"] for row in rows))
    shown = [method for method in METHODS if method != "LDA"]
    figure = Figure(figsize=(12, 3.6), layout="constrained")
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
        "Training sets from tiny to three quarters of all rows, 20 splits. Every method decides the rows that it is "
        "surest of, by its largest probability. The table has the area under the risk-coverage curve, in percent, with "
        "its standard error; smaller is better."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

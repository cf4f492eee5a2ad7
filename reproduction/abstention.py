"""Abstention (not in the paper): which method knows best what to leave to a person, from few rows to many."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from .datasets import fetch_benchmark, list_benchmarks
from .experiment import HOW_SURE, Cell, Experiment, Question, Result, Row, Summary, Table, Values, mean_and_error
from .judging import judge
from .ranking import Ranking, draw_ranks, place_row, places_in_words, rank_methods, rank_rows
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
    rankings: dict[str, dict[str, Ranking]] = {}
    sizes = [size for size in SIZES if any(cell["size"] == size for cell, _, _ in results)]
    for measure, (scale, tie) in _MEASURES.items():
        rows: list[Row] = []
        ranked: list[Row] = []
        for size in sizes:
            part = [
                _row(name, size, results, measure, scale) for name in list_benchmarks() if _has(name, size, results)
            ]
            values = np.array([[row[method] for method in METHODS] for row in part])
            ranking = rank_methods(values, list(METHODS), more_is_better=False)
            rankings.setdefault(measure, {})[size] = ranking
            ranked += [{"size": size, **row} for row in rank_rows(ranking, OURS, tie)]
            rows += part
        key = f"abstention_{measure.replace(' ', '_')}"
        tables[key] = Table(rows, f"{measure.capitalize()} of each data set, with its standard error; less is better.")
        caption = f"{measure.capitalize()}: means, mean ranks, and wins, ties and losses of {OURS} against each."
        tables[f"{key}_ranks"] = Table(ranked, caption)
    figures = {
        "abstention": draw(tables["abstention_area"].rows),
        "abstention_ranks": draw_ranks({f"area, {size}": r for size, r in rankings["area"].items()}, [OURS, "kernel"]),
    }
    places = [
        {"measure": measure, "training rows": size} | place_row(ranking, OURS)
        for measure, by_size in rankings.items()
        for size, ranking in by_size.items()
    ]
    caption = "Where the moderated classifier stands. Area: under risk-coverage, in percent; smaller is better."
    shown = ("abstention_places", *tables)
    tables["abstention_places"] = Table(places, caption)
    question = Question(HOW_SURE, _answer(rankings, sizes), (*figures,), shown, EXPERIMENT.title)
    return Summary(tables=tables, figures=figures, questions=(question,))


def _answer(rankings: dict[str, dict[str, Ranking]], sizes: Sequence[str]) -> list[str]:
    """Places in the order of the sizes."""
    area, loss = (places_in_words(rankings[measure], OURS) for measure in _MEASURES)
    return [
        f"Trained on {', '.join(sizes)} rows (d is the number of features), the {OURS} classifier has {area}, by the "
        f"area under risk-coverage.",
        f"In log loss it has {loss}.",
    ]


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
            # On sets that are easy for all, ratios say little: they are drawn at the edge.
            ratios = np.clip([row[method] / max(row["LDA"], 1e-9) for row in part], 0.2, 2.8)
            ax.plot(ratios, [place] * len(ratios), "o", color="#777777", alpha=0.5, markersize=5)
            ax.plot(np.median(ratios), place, "D", color="#0072b2", markersize=8)
        ax.axvline(1, color="black", linewidth=0.8)
        ax.set(title=size, yticks=range(len(shown)), yticklabels=shown, xscale="log", xlim=(0.18, 3))
        ax.set_xticks([0.25, 0.5, 1, 2], ["1/4", "1/2", "1", "2"], minor=False)
        ax.minorticks_off()
    ax.invert_yaxis()
    figure.supxlabel("area under risk-coverage relative to LDA's (dots: data sets, diamonds: medians)", fontsize=10)
    return figure


EXPERIMENT = Experiment(
    name="abstention",
    title="Abstention: which method knows what to leave to a person?",
    about=(
        "Training sets from tiny to three quarters of all rows, 20 splits. Every method decides the rows that it is "
        "surest of, by its largest probability; the area under the curve of risk against coverage is its mean error "
        "rate over all fractions of rows that may be decided."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

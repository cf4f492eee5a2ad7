"""Accuracy (not in the paper): the classifiers to be chosen, the paper's methods, and what users have today."""

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import train_test_split

from ..datasets import fetch_benchmark, list_benchmarks
from .experiment import Cell, Experiment, Result, Row, Summary, Table, Values
from .judging import judge
from .methods import OURS, PAPER_METHODS, PEERS

_METHODS = {**OURS, **PEERS, **PAPER_METHODS}

#: What is measured, in which unit, and whether more is better.
_MEASURES = {"accuracy": (100.0, True), "area": (100.0, False), "log loss": (1.0, False)}


def cells(quick: bool) -> list[Cell]:
    """The ten published splits; one if quick."""
    return [
        {"dataset": dataset, "method": method, "trial": trial}
        for trial in range(1 if quick else 10)
        for dataset in list_benchmarks()
        for method in _METHODS
    ]


def compute(cell: Cell) -> Values:
    """Accuracy, area under risk-coverage and log loss on the test part; everything is chosen on the training part."""
    X, y = fetch_benchmark(cell["dataset"], return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=1000 + cell["trial"])
    with warnings.catch_warnings():
        # A penalty of SQDA for which the graphical lasso has no solution in floating point loses the search.
        warnings.simplefilter("ignore", FitFailedWarning)
        model = _METHODS[cell["method"]](X.shape[1]).fit(X_train, y_train)
    return judge(model, X_test, y_test)


def summarise(results: Sequence[Result]) -> Summary:
    """A table per measure with means over the data sets, mean ranks, and on how many sets ours is better."""
    names = list(dict.fromkeys(cell["dataset"] for cell, _, _ in results))
    methods = [m for m in _METHODS if any(cell["method"] == m for cell, _, _ in results)]
    means = {measure: _means(results, names, methods, measure) for measure in _MEASURES}
    tables = {
        f"accuracy_{measure.replace(' ', '_')}": Table(_rows(values, names, methods), caption=_caption(measure))
        for measure, values in means.items()
    }
    return Summary(
        tables=tables, figures={"accuracy": draw(means, methods)}, notes=_notes(means, names, methods, results)
    )


def _means(results: Sequence[Result], names: list[str], methods: list[str], measure: str) -> np.ndarray:
    """Means over the splits, of shape (n_datasets, n_methods)."""
    sums, counts = np.zeros((len(names), len(methods))), np.zeros((len(names), len(methods)))
    for cell, values, _ in results:
        place = names.index(cell["dataset"]), methods.index(cell["method"])
        sums[place] += _MEASURES[measure][0] * values[measure]
        counts[place] += 1
    return sums / np.maximum(counts, 1)


def _rows(values: np.ndarray, names: list[str], methods: list[str]) -> list[Row]:
    rows: list[Row] = [
        {"dataset": name, **dict(zip(methods, row.tolist(), strict=True))}
        for name, row in zip(names, values, strict=True)
    ]
    return [*rows, {"dataset": "mean", **dict(zip(methods, values.mean(axis=0).tolist(), strict=True))}]


def _caption(measure: str) -> str:
    return {
        "accuracy": "Accuracy in percent.",
        "area": "Area under risk-coverage in percent, by the largest probability; smaller is better.",
        "log loss": "Log loss; smaller is better. Probabilities below 1e-6 count as that.",
    }[measure]


def _notes(means: dict[str, np.ndarray], names: list[str], methods: list[str], results: Sequence[Result]) -> list[str]:
    ours = methods.index("kernel")
    notes = []
    for measure, values in means.items():
        sign = -1 if _MEASURES[measure][1] else 1
        ranks = np.argsort(np.argsort(sign * values, axis=1), axis=1).mean(axis=0) + 1
        best = ", ".join(f"{methods[i]} {values[:, i].mean():.3g} (rank {ranks[i]:.1f})" for i in np.argsort(ranks)[:5])
        better = ((sign * values[:, [ours]]) < sign * values).sum(axis=0)
        won = ", ".join(f"{m} {better[i]}" for i, m in enumerate(methods) if m in PEERS)
        notes.append(
            f"{measure}: best mean ranks of {len(methods)} methods, with means: {best}. Data sets, out of "
            f"{len(names)}, on which kernel is better than {won}."
        )
    seconds = {m: np.mean([spent for cell, _, spent in results if cell["method"] == m]) for m in (*OURS, *PEERS)}
    listed = ", ".join(f"{method} {mean:.2f}" for method, mean in seconds.items())
    return [*notes, f"Seconds per split for training and testing, on one thread: {listed}."]


def draw(means: dict[str, np.ndarray], methods: list[str]) -> object:
    """A panel per measure: a dot per data set, a diamond for the mean, methods in the order of their mean accuracy."""
    from matplotlib.figure import Figure

    order = np.argsort(-means["accuracy"].mean(axis=0))
    figure = Figure(figsize=(12, 5), layout="constrained")
    axes = figure.subplots(1, len(means), sharey=True)
    for ax, (measure, values) in zip(axes, means.items(), strict=True):
        for place, i in enumerate(order):
            colour = "#0072b2" if methods[i] in OURS else "#777777"
            ax.plot(values[:, i], [place] * len(values), "o", color=colour, alpha=0.3, markersize=5)
            ax.plot(values[:, i].mean(), place, "D", color=colour, markersize=8)
            mean = f"{values[:, i].mean():.1f}" if _MEASURES[measure][0] > 1 else f"{values[:, i].mean():.2f}"
            ax.annotate(mean, (1.01, place), xycoords=("axes fraction", "data"), va="center", fontsize=8)
        ax.set(title=measure, yticks=range(len(order)), yticklabels=[methods[i] for i in order])
        ax.grid(axis="x", linewidth=0.4)
    axes[0].invert_yaxis()
    axes[0].set_xlabel("%, more is better")
    axes[1].set_xlabel("area under risk-coverage, %, less is better")
    axes[2].set_xlabel("less is better")
    return figure


EXPERIMENT = Experiment(
    name="accuracy",
    title="Accuracy: which classifier is worth choosing",
    about=(
        "The ten published splits; settings are chosen within the training part. Ours are blue, with the mean beside "
        "each row; the others are what users have today and the paper's seven methods."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

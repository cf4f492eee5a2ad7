"""Selective prediction (not in the paper): which confidence tells best what to leave to a person."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from optiscore import OptimisticScoreClassifier
from optiscore.metrics import area_under_risk_coverage, risk_coverage_curve
from optiscore.numerics.types import BoolArray, FloatArray
from optiscore.table.selection import linear_discriminant, logistic_regression

from .datasets import fetch_benchmark, list_benchmarks
from .experiment import Cell, Experiment, Result, Row, Summary, Table, Values, mean_and_error
from .methods import plain_qda

_OURS = "certified factor"
_OTHERS: dict[str, Callable[[], Any]] = {
    "QDA": plain_qda,
    "shrunk QDA": partial(OptimisticScoreClassifier, radius=0, decision_rule="prior"),
    "LDA": linear_discriminant,
    "logistic": logistic_regression,
}
_METHODS = (_OURS, *_OTHERS)
# Of the certified factor; above 0, it orders worse than chance.
_EXCESS = "area - error"
_COLOURS = ("#0072b2", "#d55e00", "#e69f00", "#009e73", "#777777")
_COVERAGE = np.linspace(0.05, 1, 39)


def cells(quick: bool) -> list[Cell]:
    """Two training sizes per class, 20 repeats; 2 if quick."""
    return [
        {"dataset": name, "times d": factor, "repeat": repeat}
        for repeat in range(2 if quick else 20)
        for name in list_benchmarks()
        for factor in (2, 8)
    ]


def compute(cell: Cell) -> Values:
    """Area and curve of each method, trained on a few samples per class and tested on all others."""
    X, y = fetch_benchmark(cell["dataset"], return_X_y=True)
    rng = np.random.default_rng([cell["repeat"], cell["times d"], len(y)])
    train = _draw(y, cell["times d"] * X.shape[1], rng)
    test = np.setdiff1d(np.arange(len(y)), train)
    values = {}
    for method in _METHODS:
        right, confidence = _judge(method, X[train], y[train], X[test], y[test])
        values[method] = {
            "area": area_under_risk_coverage(right, confidence),
            "error": float(1 - right.mean()),
            "risk": _risk_at(right, confidence, _COVERAGE).tolist(),
        }
    return values


def _draw(y: np.ndarray, per_class: int, rng: np.random.Generator) -> np.ndarray:
    """So many samples of each class at random; of a small class at most half."""
    members = [np.flatnonzero(y == label) for label in np.unique(y)]
    return np.concatenate([rng.choice(rows, min(per_class, len(rows) // 2), replace=False) for rows in members])


def _judge(
    method: str, X: FloatArray, y: np.ndarray, X_test: FloatArray, y_test: np.ndarray
) -> tuple[BoolArray, FloatArray]:
    """Which predictions are right, and how sure the method is of each."""
    if method == _OURS:
        model = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
        return model.predict(X_test) == y_test, model.certified_factor(X_test)
    model = _OTHERS[method]().fit(X, y)
    return model.predict(X_test) == y_test, np.abs(model.decision_function(X_test))


def _risk_at(right: BoolArray, confidence: FloatArray, coverage: FloatArray) -> FloatArray:
    reached, risk, _ = risk_coverage_curve(right, confidence)
    return np.interp(coverage, reached, risk)


def summarise(results: Sequence[Result]) -> Summary:
    """Areas with standard errors, who has the smallest, and mean curves."""
    areas, curves, excess = defaultdict(list), defaultdict(list), defaultdict(list)
    for cell, values, _ in results:
        setting = cell["dataset"], cell["times d"]
        excess[setting].append(100 * (values[_OURS]["area"] - values[_OURS]["error"]))
        for method in _METHODS:
            areas[*setting, method].append(100 * values[method]["area"])
            curves[*setting, method].append(values[method]["risk"])
    rows = [
        _row(name, factor, areas, excess[name, factor]) for name, factor in sorted(excess, key=lambda s: (s[1], s[0]))
    ]
    mean_curves = {key: np.mean(values, axis=0) for key, values in curves.items()}
    return Summary(
        tables={"selective": Table(rows)},
        figures={"selective": draw(mean_curves, list(excess))},
        notes=[*_comparisons(rows), *_failures(rows)],
    )


def _comparisons(rows: Sequence[Row]) -> list[str]:
    """On how many data sets the certified factor orders better than each of the others."""
    notes = []
    for factor in (2, 8):
        part = [row for row in rows if row["times d"] == factor]
        won = [f"{method} {sum(row[_OURS] < row[method] for row in part)}" for method in _OTHERS]
        notes.append(
            f"Training sets of {factor} d samples per class: the number of data sets, out of {len(part)}, on which the "
            f"certified factor orders better than the posterior margin of: {', '.join(won)}."
        )
    return notes


def _failures(rows: Sequence[Row]) -> list[str]:
    """Where it orders worse than chance: the area is above the error rate by more than two standard errors."""
    worse = [
        f"{row['dataset']} ({row['times d']} d samples per class)"
        for row in rows
        if row[_EXCESS] > 2 * row[f"{_EXCESS} +-"]
    ]
    if not worse:
        return []
    return [
        f"Worse than chance, with an area above the error rate by more than two standard errors: {', '.join(worse)}. "
        "Where moments describe a class badly, as with heavy tails, its certificates mislead."
    ]


def _row(name: str, factor: int, areas: dict[tuple[str, int, str], list[float]], excess: list[float]) -> Row:
    row: Row = {"dataset": name, "times d": factor}
    for method in _METHODS:
        row[method], row[f"{method} +-"] = mean_and_error(areas[name, factor, method])
    row[_EXCESS], row[f"{_EXCESS} +-"] = mean_and_error(excess)
    return row


def draw(curves: dict[tuple[str, int, str], FloatArray], settings: Sequence[tuple[str, int]]) -> object:
    """Risk against coverage, one panel per data set: solid for 2 d samples per class, dotted for 8 d."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for name, _ in settings))
    n_rows = -(-(len(names) + 1) // 4)
    figure = Figure(figsize=(12, 2.9 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, 4, sharex=True, squeeze=False).flatten()
    for ax, name in zip(axes, names, strict=False):
        for method, colour in zip(_METHODS, _COLOURS, strict=True):
            for factor, style in ((2, "-"), (8, ":")):
                if (curve := curves.get((name, factor, method))) is not None:
                    ax.plot(100 * _COVERAGE, 100 * curve, color=colour, linestyle=style, linewidth=1.8)
        ax.set_title(name.replace("_", " "), fontsize=10)
        ax.set_ylim(bottom=0)
    for ax in axes[len(names) :]:
        ax.axis("off")
    for ax in axes[: len(names)][-4:]:
        ax.tick_params(labelbottom=True)
    legend = axes[len(names)]
    for method, colour in zip(_METHODS, _COLOURS, strict=True):
        legend.plot([], [], color=colour, linewidth=2.5, label=method)
    legend.plot([], [], color="black", label="2 d per class")
    legend.plot([], [], color="black", linestyle=":", label="8 d per class")
    legend.legend(loc="center", frameon=False)
    figure.supxlabel("coverage: fraction of the samples that are decided, %")
    figure.supylabel("risk: fraction of these that are wrong, %")
    return figure


EXPERIMENT = Experiment(
    name="selective",
    title="Selective prediction: risk against coverage",
    about=(
        "Small training sets. Each method decides the samples it is surest of and leaves the others to a person: the "
        "minimax classifier by its certified factor, the others by their posterior margin. The table has the area "
        "under the curve, in percent, with its standard error; smaller is better."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

"""Table 1 of the paper: accuracy of its seven methods on eleven data sets, beside the print and other methods."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.model_selection import train_test_split

from .datasets import fetch_benchmark, list_benchmarks
from .expected import EXPECTED
from .experiment import Cell, Compared, Experiment, Result, Row, Summary, Table, Values, mean_and_error
from .methods import OTHER_METHODS, PAPER_METHODS, train

_METHODS = {**PAPER_METHODS, **OTHER_METHODS}
_CLT = ("GQDA-CLT", "NPQDA-CLT")
_OURS = ("GQDA-CV", "NPQDA-CV", "KQDA", *_CLT, "minimax", "CV with pooling")

# Marks of cells.
_FAR, _EXCHANGED = "!", "*"

#: Cells that look exchanged in print.
EXCHANGED = {("banknote_authentication", method) for method in _CLT}


def cells(quick: bool) -> list[Cell]:
    """Ten trials; one if quick."""
    return [
        {"dataset": dataset, "method": method, "trial": trial}
        for trial in range(1 if quick else 10)
        for dataset in list_benchmarks()
        for method in _METHODS
    ]


def compute(cell: Cell) -> Values:
    """Test accuracy on one of the published splits."""
    X, y = fetch_benchmark(cell["dataset"], return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=1000 + cell["trial"])
    model = train(_METHODS[cell["method"]], X_train, y_train)
    return {"accuracy": float((model.predict(X_test) == y_test).mean())}


def expected(which: str) -> dict[tuple[str, str], float]:
    """Cells in percent by data set and method: "printed", or "here", those of the last full run."""
    return {(name, method): row[method] for name, row in EXPECTED[which].items() for method in PAPER_METHODS}


def accuracies(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    """Mean accuracy in percent by data set and method."""
    return {key: value for key, (value, _) in _with_errors(results).items()}


def _with_errors(results: Sequence[Result]) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean accuracy in percent and its standard error over the splits."""
    trials = defaultdict(list)
    for cell, values, _ in results:
        trials[cell["dataset"], cell["method"]].append(100 * values["accuracy"])
    return {key: mean_and_error(values) for key, values in trials.items()}


def summarise(results: Sequence[Result]) -> Summary:
    """Accuracies beside the printed ones, differences, and their means per column."""
    ours, printed, errors = accuracies(results), expected("printed"), _with_errors(results)
    datasets = list(dict.fromkeys(cell["dataset"] for cell, _, _ in results))
    compared = {key: _compared(*errors[key], printed[key], key) for key in errors if key in printed}
    rows = [{"dataset": name, **{m: compared.get((name, m), ours[name, m]) for m in _METHODS}} for name in datasets]
    mean = {"dataset": "mean", **{m: float(np.mean([ours[name, m] for name in datasets])) for m in _METHODS}}
    seconds = {m: sum(spent for cell, _, spent in results if cell["method"] == m) for m in _METHODS}
    differences = [
        {"dataset": name, **{method: ours[name, method] - printed[name, method] for method in PAPER_METHODS}}
        for name in datasets
    ]
    caption = (
        "Accuracy in percent; small below it its standard error over the splits, the printed value, and the difference "
        f"in points and in standard errors (orange: more here, violet: less here). {_FAR}: more than two standard "
        f"errors away; {_EXCHANGED}: looks exchanged in print."
    )
    return Summary(
        tables={
            "table1": Table([*rows, mean], caption, more_rows=[{"dataset": "seconds, all trials", **seconds}]),
            "table1_difference_to_print": Table(differences, is_shown=False),
            "table1_cells": Table([_row(*pair) for pair in compared.items()], is_shown=False),
            "table1_columns": Table(_columns(ours, printed, datasets)),
        },
        figures={"table1": draw(ours, printed, datasets)},
        notes=_notes(ours, printed, datasets, results),
    )


def _compared(value: float, error: float, printed: float, key: tuple[str, str]) -> Compared:
    plain = Compared(value, printed, error)
    return plain._replace(mark=_EXCHANGED if key in EXCHANGED else _FAR if abs(plain.in_errors) > 2 else "")


def _row(key: tuple[str, str], cell: Compared) -> Row:
    """One cell with all that is known of it."""
    return {
        "dataset": key[0],
        "method": key[1],
        "printed": cell.printed,
        "here": cell.value,
        "standard error": cell.error,
        "difference": cell.value - cell.printed,
        "in standard errors": cell.in_errors,
        "mark": cell.mark,
    }


def mean_difference(
    ours: Mapping[tuple[str, str], float],
    printed: Mapping[tuple[str, str], float],
    keys: Sequence[tuple[str, str]],
) -> float:
    """Mean absolute difference in points over some cells."""
    return float(np.mean([abs(ours[key] - printed[key]) for key in keys]))


def _columns(
    ours: Mapping[tuple[str, str], float], printed: Mapping[tuple[str, str], float], datasets: Sequence[str]
) -> list[Row]:
    rows: list[Row] = []
    for method in _METHODS:
        keys = [(name, method) for name in datasets]
        row: Row = {"method": method, "mean": float(np.mean([ours[key] for key in keys])), "printed mean": ""}
        row["mean absolute difference"] = ""
        if method in PAPER_METHODS:
            row["printed mean"] = float(np.mean([printed[key] for key in keys]))
            row["mean absolute difference"] = mean_difference(ours, printed, keys)
        rows.append(row)
    return rows


def _notes(
    ours: Mapping[tuple[str, str], float],
    printed: Mapping[tuple[str, str], float],
    datasets: Sequence[str],
    results: Sequence[Result],
) -> list[str]:
    everything = [(name, method) for name in datasets for method in PAPER_METHODS]
    clt = [key for key in everything if key[1] in _CLT and key not in EXCHANGED]
    n_trials = len({cell["trial"] for cell, _, _ in results})
    notes = [
        f"Mean over {n_trials} of the 10 published splits. Mean absolute difference to print: "
        f"{mean_difference(ours, printed, everything):.2f} points over all {len(everything)} cells.",
        "SQDA: the published code ran the graphical lasso on 0.99 S + 0.01 I of unscaled data and stopped it before "
        "it converged. Here the same problem is solved to a duality gap of 1e-4; penalties for which that fails in "
        "floating point lose the cross-validation. RQDA and SQDA use one penalty for both classes.",
    ]
    if clt:
        notes.insert(1, f"CLT columns without banknote: {mean_difference(ours, printed, clt):.2f} points.")
    if len(EXCHANGED & set(everything)) == 2:
        gaussian, nonparametric = (("banknote_authentication", method) for method in _CLT)
        notes.insert(
            2,
            f"The CLT cells of banknote look exchanged in print: {printed[gaussian]:.2f} (Gaussian) and "
            f"{printed[nonparametric]:.2f} (nonparametric); here {ours[gaussian]:.2f} and {ours[nonparametric]:.2f}.",
        )
    return notes


def draw(
    ours: Mapping[tuple[str, str], float], printed: Mapping[tuple[str, str], float], datasets: Sequence[str]
) -> object:
    """Differences to print as a heat map, and the mean accuracy of every method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    difference = np.array([[ours[name, m] - printed[name, m] for m in PAPER_METHODS] for name in datasets])
    image = left.imshow(difference, cmap="PuOr_r", vmin=-4, vmax=4, aspect="auto")
    for (row, column), value in np.ndenumerate(difference):
        colour = "white" if abs(value) > 2.4 else "black"
        left.text(column, row, f"{value:+.1f}", ha="center", va="center", fontsize=9, color=colour)
    left.set_xticks(range(len(PAPER_METHODS)), list(PAPER_METHODS), rotation=30, ha="right")
    left.set_yticks(range(len(datasets)), [name.replace("_", " ") for name in datasets])
    left.set_title("Accuracy here minus accuracy in print, points")
    figure.colorbar(image, ax=left, shrink=0.8)
    means = {m: float(np.mean([ours[name, m] for name in datasets])) for m in _METHODS}
    order = sorted(means, key=lambda m: means[m])
    for place, m in enumerate(order):
        colour = "#0072b2" if m in _OURS else "#777777"
        right.plot(means[m], place, "o", color=colour, markersize=8)
        right.annotate(f"{means[m]:.1f}", (means[m], place), xytext=(9, -4), textcoords="offset points", fontsize=9)
    right.set_yticks(range(len(order)), order)
    right.set_xlim(min(means.values()) - 0.5, max(means.values()) + 1)
    right.grid(axis="x", alpha=0.3)
    right.set_title("Mean accuracy, %\n(blue: with ambiguity sets)", fontsize=11)
    return figure


EXPERIMENT = Experiment(
    name="table1",
    title="Table 1: accuracy on the benchmark data sets",
    about=(
        "The paper's protocol: 75/25 splits as published, radii and penalties by stratified 5-fold cross-validation on "
        "its grid, the threshold tuned on the training samples. The seven methods are settings of one estimator. The "
        "columns to the right of them tell what a user would try instead."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

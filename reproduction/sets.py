"""Sets of labels (not in the paper): how large they are, how often the truth is in them, and what they are worth."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from optiscore import KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis
from optiscore.numerics.types import BoolArray, FloatArray
from optiscore.table.selection import logistic_regression
from optiscore.trust.sets import best_sets

from .experiment import HOW_SURE, Cell, Experiment, Question, Result, Row, Summary, Table, Values
from .judging import complete_sets, mean_over_splits
from .ranking import place_row, rank_methods
from .sampling import SIZES, split
from .suites import FURTHER, PAPER, SUITES, by_suite, load

_LEVEL = 0.9
_CONFORMAL = "split conformal, 90 %"

#: Rules by name: sets of a model's probabilities.
_RULES: dict[str, Callable[[FloatArray], BoolArray]] = {
    "u65": lambda proba: best_sets(proba.T, "u65").T,
    "u80": lambda proba: best_sets(proba.T, "u80").T,
    "p >= 0.2": lambda proba: (proba >= 0.2) | (proba == proba.max(axis=1, keepdims=True)),
}
_MODELS: dict[str, Callable[[], Any]] = {
    "moderated": ModeratedDiscriminantAnalysis,
    "kernel": lambda: KernelDiscriminantClassifier(random_state=0),
    "logistic": logistic_regression,
}
_METHODS = [*(f"{model}, {rule}" for model in _MODELS for rule in _RULES), _CONFORMAL]
_MEASURES = ("coverage", "size", "u65", "u80")


def cells(quick: bool) -> list[Cell]:
    """8 d rows in all and three quarters of all rows, 10 splits of the paper's sets and 3 of others; one if quick."""
    return [
        {"dataset": name, "size": size, "repeat": repeat}
        for repeat in range(1 if quick else 10)
        for suite, names in SUITES.items()
        if repeat < 3 or suite == PAPER
        for name in names
        for size in SIZES[2:]
    ]


def compute(cell: Cell) -> Values:
    """Measures of each method's sets on the rows that were not trained on."""
    X, y = load(cell["dataset"])
    train, test = split(y, X.shape[1], cell["size"], cell["repeat"])
    truth = np.searchsorted(np.unique(y), y[test])
    values: Values = {}
    for name, make in _MODELS.items():
        proba = make().fit(X[train], y[train]).predict_proba(X[test])
        values |= {f"{name}, {rule}": _judge(choose(proba), truth) for rule, choose in _RULES.items()}
    conformal = _split_conformal(X[train], y[train], X[test], cell["repeat"])
    return values if conformal is None else values | {_CONFORMAL: _judge(conformal, truth)}


def _split_conformal(X: FloatArray, y: np.ndarray, points: FloatArray, seed: int) -> BoolArray | None:
    """Sets of a logistic regression, calibrated on a third of the rows (extra `conformal`); None without crepes."""
    try:
        from crepes import WrapClassifier
    except ImportError:
        return None
    stratify = y if np.unique(y, return_counts=True)[1].min() >= 4 else None
    X_fit, X_rest, y_fit, y_rest = train_test_split(X, y, test_size=1 / 3, random_state=seed, stratify=stratify)
    wrapped = WrapClassifier(logistic_regression())
    wrapped.fit(X_fit, y_fit)
    # A label that the fitted rows lack has no score, and is never named.
    known = np.isin(y_rest, wrapped.learner.classes_)
    wrapped.calibrate(X_rest[known], y_rest[known], seed=seed)
    found = np.asarray(wrapped.predict_set(points, labels=False, confidence=_LEVEL, seed=seed), dtype=bool)
    sets = np.zeros((len(points), len(np.unique(y))), dtype=bool)
    sets[:, np.searchsorted(np.unique(y), wrapped.learner.classes_)] = found
    return sets


def _judge(sets: BoolArray, truth: np.ndarray) -> dict[str, float]:
    """Coverage, mean size, and utilities: a right set of k labels is worth 1.6/k - 0.6/k^2 or 2.2/k - 1.2/k^2."""
    size = sets.sum(axis=1)
    x = np.where(sets[np.arange(len(truth)), truth], 1 / np.maximum(size, 1), 0)
    return {
        "coverage": float((x > 0).mean()),
        "size": float(size.mean()),
        "u65": float((1.6 * x - 0.6 * x**2).mean()),
        "u80": float((2.2 * x - 1.2 * x**2).mean()),
    }


def summarise(results: Sequence[Result]) -> Summary:
    """Means over the data sets, and who is worth most."""
    tables: dict[str, Table] = {}
    places: list[Row] = []
    for suite, part in by_suite(results).items():
        rows: list[Row] = []
        for size in SIZES[2:]:
            found = [values for cell, values, _ in part if cell["size"] == size]
            methods = [m for m in _METHODS if all(m in values for values in found)]
            names, splits = complete_sets(
                (
                    (cell["dataset"], method, values[method])
                    for cell, values, _ in part
                    if cell["size"] == size
                    for method in methods
                ),
                methods,
            )
            if not names:
                continue
            means = {measure: mean_over_splits(splits, names, methods, measure) for measure in _MEASURES}
            rows += [
                {"training": size, "method": method, **{key: float(means[key][:, i].mean()) for key in _MEASURES}}
                for i, method in enumerate(methods)
            ]
            # With two classes, all labels of probability 0.2 or more are the u80 sets: they count once.
            ranked = [i for i, method in enumerate(methods) if not method.endswith("p >= 0.2")]
            for utility in ("u65", "u80"):
                values = means[utility][:, ranked]
                ranking = rank_methods(values, [methods[i] for i in ranked], more_is_better=True)
                row: Row = {"utility": utility, "data": suite, "training rows": size}
                places.append(row | place_row(ranking, f"moderated, {utility}"))
        key = "sets" if suite == PAPER else "sets_further"
        tables[key] = Table(rows, f"{suite.capitalize()}: means over the data sets; size is that of the sets.")
    figures = {"sets": draw(tables)}
    question = Question(HOW_SURE, _answer(tables), (*figures,), (*tables, "sets_places"), EXPERIMENT.title)
    tables["sets_places"] = Table(places, "Where sets of the moderated classifier stand, by what they are worth.")
    return Summary(tables=tables, figures=figures, questions=(question,))


def _answer(tables: dict[str, Table]) -> list[str]:
    """The first table's first size: ours beside split conformal sets."""
    rows = next(iter(tables.values())).rows
    size = rows[0]["training"]
    said = {
        row["method"]: f"hold the truth in {100 * row['coverage']:.1f} % of the cases with {row['size']:.2f} labels"
        for row in rows
        if row["training"] == size
    }
    ours = f"Trained on {size} rows, u80 sets of the moderated classifier {said['moderated, u80']} on average."
    if _CONFORMAL not in said:
        return [ours, "Split conformal sets were left out: they need the extra `conformal`."]
    return [ours, f"Split conformal sets of logistic regression {said[_CONFORMAL]}."]


def draw(tables: dict[str, Table]) -> object:
    """Coverage against mean size, a panel per suite and size of the training set."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    panels = [
        (name, size) for name, table in tables.items() for size in dict.fromkeys(row["training"] for row in table.rows)
    ]
    n_rows = -(-len(panels) // 2)
    figure = Figure(figsize=(11, 3.4 * n_rows), layout="constrained")
    colours = {"moderated": "#0072b2", "kernel": "#56b4e9", "logistic": "#777777", "split conformal": "#d55e00"}
    markers = {"u65": "o", "u80": "s", "p >= 0.2": "^", "90 %": "*"}
    axes = figure.subplots(n_rows, 2, squeeze=False).flatten()
    for ax, (name, size) in zip(axes, panels, strict=False):
        for row in (row for row in tables[name].rows if row["training"] == size):
            model, _, rule = row["method"].partition(", ")
            style = {"color": colours[model], "marker": markers[rule], "markersize": 9, "alpha": 0.8}
            ax.plot(row["size"], 100 * row["coverage"], linestyle="", **style)
        suite = PAPER if name == "sets" else FURTHER
        ax.set_title(f"{suite}, {size}", fontsize=10)
    for ax in axes[len(panels) :]:
        ax.axis("off")
    shown = [Line2D([], [], linestyle="", marker="o", color=colour, label=model) for model, colour in colours.items()]
    shown += [Line2D([], [], linestyle="", marker=m, color="#333333", label=rule) for rule, m in markers.items()]
    figure.legend(handles=shown, loc="outside right center", frameon=False)
    figure.supxlabel("labels per set")
    figure.supylabel("sets that hold the truth, %")
    return figure


EXPERIMENT = Experiment(
    name="sets",
    title="Sets: how many labels does it take?",
    about=(
        "Where one label is not sure enough, a method may name several. Ours name those of the largest expected "
        "utility (u65, u80: what a right set of two is worth) or all of probability 0.2 or more; split conformal sets "
        "on logistic regression promise to hold the truth in 90 % of the cases."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
    extras=("crepes",),
)

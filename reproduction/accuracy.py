"""Accuracy (not in the paper): the classifiers to be chosen, the paper's methods, and what users have today."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

from optiscore.numerics.types import FloatArray

from .experiment import COST, LOSSES, WHICH, Cell, Experiment, Question, Result, Row, Summary, Table, Values
from .judging import complete_sets, judge, mean_over_splits
from .methods import OURS, PAPER_METHODS, PEERS, train
from .ranking import Ranking, draw_ranks, place_row, rank_methods, rank_rows
from .suites import FURTHER, PAPER, SUITES, by_suite, load

_METHODS = {**OURS, **PEERS, **PAPER_METHODS}

#: What is measured, in which unit, whether more is better, and which differences are ties.
_MEASURES = {"accuracy": (100.0, True, 0.25), "area": (100.0, False, 0.25), "log loss": (1.0, False, 0.005)}

_OURS = "kernel"

#: The suites, and both together, as the names of files have them.
_ALL = "all sets"
_PREFIXES = {PAPER: "eleven", FURTHER: "further", _ALL: "all"}


def cells(quick: bool) -> list[Cell]:
    """The ten published splits of the paper's sets, three of the further ones; one of each if quick."""
    return [
        {"dataset": dataset, "method": method, "trial": trial}
        for trial in range(1 if quick else 10)
        for suite, names in SUITES.items()
        if trial < 3 or suite == PAPER
        for dataset in names
        # The paper's methods are for two classes, and their grids of radii for each class.
        for method in (_METHODS if suite == PAPER else {**OURS, **PEERS})
    ]


def compute(cell: Cell) -> Values:
    """Accuracy, area under risk-coverage and log loss on the test part; everything is chosen on the training part."""
    X, y = load(cell["dataset"])
    of_paper = cell["dataset"] in SUITES[PAPER]
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.25, random_state=1000 + cell["trial"], stratify=None if of_paper else y
    )
    model = train(_METHODS[cell["method"]], X_train, y_train)
    return judge(model, X_test, y_test)


class _Means(NamedTuple):
    """Means over the splits: by measure an array of shape (n_datasets, n_methods)."""

    names: list[str]
    methods: list[str]
    values: dict[str, FloatArray]


def summarise(results: Sequence[Result]) -> Summary:
    """For each suite means, ranks, wins, ties and losses; what a split costs; and where the kernel classifier loses."""
    suites = {suite: found for suite, part in by_suite(results).items() if (found := _means(part)).names}
    tables: dict[str, Table] = {}
    figures: dict[str, object] = {}
    for suite, found in suites.items():
        for measure, values in found.values.items():
            tables[_key(suite, measure)] = Table(
                _rows(values, found.names, found.methods), f"{suite.capitalize()}. {_caption(measure)}"
            )
        figures[_PREFIXES[suite]] = draw(suite, found.values, found.methods)
    losses = [row for suite, found in suites.items() for row in _losses(suite, found)]
    ranked = suites | ({_ALL: _together(list(suites.values()))} if len(suites) > 1 else {})
    rankings = {
        (suite, measure): rank_methods(values, found.methods, more_is_better=_MEASURES[measure][1])
        for suite, found in ranked.items()
        for measure, values in found.values.items()
    }
    tables |= {f"{_key(*where)}_ranks": _rank_table(*where, ranking) for where, ranking in rankings.items()}
    # The further sets are among all sets: six diagrams are enough to look at.
    drawn = {f"{m}, {suite}": r for (suite, m), r in rankings.items() if suite != FURTHER or _ALL not in ranked}
    figures["ranks"] = draw_ranks(drawn, list(OURS))
    which = Question(WHICH, _answer(rankings), (*figures,), ("places", *tables))
    caption = "Where the kernel classifier stands. Area: under risk-coverage, in percent; smaller is better."
    tables["places"] = Table(
        [{"measure": f"{m}, {s}"} | place_row(r, _OURS) for (s, m), r in rankings.items()], caption
    )
    of_paper = by_suite(results).get(PAPER, results)
    tables["cost"], tables["losses"] = _costs(of_paper), Table(losses or [{"dataset": "none"}])
    cost = Question(COST, [_cost_answer(tables["cost"].rows)], (), ("cost",))
    lost = Question(LOSSES, [_loss_answer(losses)], (), ("losses",))
    return Summary(tables=tables, figures=figures, questions=(which, cost, lost))


def _means(results: Sequence[Result]) -> _Means:
    """Of the data sets on which every method has results."""
    methods = [m for m in _METHODS if any(result.cell["method"] == m for result in results)]
    found = ((cell["dataset"], cell["method"], values) for cell, values, _ in results)
    names, splits = complete_sets(found, methods)
    means = {
        measure: scale * mean_over_splits(splits, names, methods, measure)
        for measure, (scale, _, _) in _MEASURES.items()
    }
    return _Means(names, methods, means)


def _together(suites: Sequence[_Means]) -> _Means:
    """All data sets, with the methods that all suites have."""
    methods = [m for m in suites[0].methods if all(m in suite.methods for suite in suites)]
    values = {
        measure: np.concatenate([suite.values[measure][:, list(map(suite.methods.index, methods))] for suite in suites])
        for measure in _MEASURES
    }
    return _Means([name for suite in suites for name in suite.names], methods, values)


def _key(suite: str, measure: str) -> str:
    return f"{_PREFIXES[suite]}_{measure.replace(' ', '_')}"


def _answer(rankings: Mapping[tuple[str, str], Ranking]) -> list[str]:
    """The ranks in a few sentences."""
    first = sum(ranking.place(_OURS) == "1" for ranking in rankings.values())
    better = sorted({method for ranking in rankings.values() for method in ranking.better_than(_OURS)})
    worse = [
        f"{measure}: {'; '.join(ranking.worse_than(_OURS)) or 'none'}"
        for (suite, measure), ranking in rankings.items()
        if suite == _ALL
    ]
    return [
        f"{'Take the kernel classifier' if first == len(rankings) else 'Often the kernel classifier'}: in accuracy, "
        f"abstention and log loss on the suites of data sets it is first by mean rank in {first} of {len(rankings)} "
        f"comparisons, and {', '.join(better) if better else 'no method'} is significantly better than it in any.",
        *([f"Significantly worse than it, on all sets together: {'. '.join(worse)}."] if worse else []),
        "The list above says when to take something else, and the last section where it loses.",
    ]


def _rank_table(suite: str, measure: str, ranking: Ranking) -> Table:
    tie = _MEASURES[measure][2]
    caption = (
        f"{suite.capitalize()}, {measure}: mean ranks (critical difference {ranking.critical_difference:.2f}), and "
        f"wins, ties and losses of {_OURS} against each; differences up to {tie:g} are ties."
    )
    return Table(rank_rows(ranking, _OURS, tie), caption)


def _losses(suite: str, means: _Means) -> list[Row]:
    """Data sets on which what users have today is more accurate than the kernel classifier by a point or more."""
    accuracy, methods = means.values["accuracy"], means.methods
    peers = [methods.index(m) for m in PEERS]
    ours = accuracy[:, methods.index(_OURS)]
    found = []
    for name, row, own in zip(means.names, accuracy, ours, strict=True):
        best = max(peers, key=row.__getitem__)
        if row[best] >= own + 1:
            found.append(
                {"dataset": name, "suite": suite, _OURS: own, "better": methods[best], "its accuracy": row[best]}
            )
    return [{key: value if isinstance(value, str) else float(value) for key, value in row.items()} for row in found]


def _loss_answer(losses: Sequence[Row]) -> str:
    if not losses:
        return "On no data set is what users have today more accurate by a point or more."
    listed = ", ".join(
        f"{row['dataset']} ({row['better']}, {row['its accuracy'] - row[_OURS]:.1f} points)" for row in losses
    )
    return f"The kernel classifier is less accurate by a point or more on: {listed}."


def _rows(values: FloatArray, names: list[str], methods: list[str]) -> list[Row]:
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


def _costs(results: Sequence[Result]) -> Table:
    methods = [m for m in _METHODS if any(result.cell["method"] == m for result in results)]
    rows: list[Row] = []
    for method in methods:
        seconds = [result.seconds for result in results if result.cell["method"] == method]
        rows.append({"method": method, "seconds": float(np.mean(seconds)), "most": float(max(seconds))})
    return Table(
        rows, "Seconds per split of the paper's sets for training and testing, on one thread: mean and largest."
    )


def _cost_answer(rows: Sequence[Row]) -> str:
    seconds = {row["method"]: row["seconds"] for row in rows}
    listed = ", ".join(f"{method} {seconds[method]:.2f}" for method in (*OURS, *PEERS) if method in seconds)
    return f"Mean seconds per split of the paper's sets for training and testing, on one thread: {listed}."


def draw(suite: str, means: dict[str, FloatArray], methods: list[str]) -> object:
    """A panel per measure: a dot per data set, a diamond for the mean, methods in the order of their mean accuracy."""
    from matplotlib.figure import Figure

    order = np.argsort(-means["accuracy"].mean(axis=0))
    figure = Figure(figsize=(9.5, 1.2 + 0.24 * len(methods)), layout="constrained")
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
    figure.suptitle(f"{suite.capitalize()} ({len(means['accuracy'])}; a dot each, and their mean)", fontsize=11)
    axes[0].set_xlabel("%, more is better")
    axes[1].set_xlabel("area under risk-coverage, %, less is better")
    axes[2].set_xlabel("less is better")
    return figure


EXPERIMENT = Experiment(
    name="accuracy",
    title=WHICH,
    about=(
        "The paper's eleven sets with its ten published splits, and further sets with three; settings are chosen "
        "within the training part. Ours are blue, with the mean beside each row; the others are what users have today "
        "and the paper's seven methods. Ranks are over data sets, each of which counts once; methods that a bar joins "
        "may be alike (Friedman and Nemenyi, 5 %)."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

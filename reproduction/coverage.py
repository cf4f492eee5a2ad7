"""Coverage of posterior intervals (not in the paper): on Gaussian classes, and on data sets beside the bootstrap.

On data sets, the whole set is the population: training rows are drawn from it with replacement, and the truth is the
posterior of the same model, with the same shrinkage, at the moments of the whole set.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.covariance import EmpiricalCovariance

from optiscore import ModeratedDiscriminantAnalysis
from optiscore.moments.factors import factorise, squared_distances
from optiscore.numerics.types import FloatArray

from .datasets import fetch_benchmark, list_benchmarks
from .experiment import HOW_SURE, Cell, Experiment, Question, Result, Row, Summary, Table, Values, mean_and_error

_LEVELS = (0.5, 0.9, 0.95)
_LEVEL = 0.9
_TIMES = (2, 4, 16)
_REFITS, _POINTS = 200, 200


def cells(quick: bool) -> list[Cell]:
    """Gaussian classes of several dimensions and sizes; data sets with 2 d, 4 d and 16 d rows per class."""
    gaussian = [
        {"model": model, "d": d, "times d": times, "ratio": ratio, "repeat": repeat}
        for repeat in range(1 if quick else 4)
        for model in ("own", "shared")
        for d in (2, 5, 10, 20)
        for times in (4, 10, 40)
        for ratio in (1, 5)
    ]
    real = [
        {"dataset": name, "model": model, "times d": times, "repeat": repeat}
        for repeat in range(1 if quick else 6)
        for name in list_benchmarks()
        for model in ("own", "shared")
        for times in _TIMES
    ]
    return gaussian + real


def compute(cell: Cell) -> Values:
    """Coverage at some levels; on a data set also that of the bootstrap, interval scores and times."""
    return _real(cell) if "dataset" in cell else _gaussian(cell)


def _gaussian(cell: Cell) -> Values:
    """25 training sets of Gaussian classes, unshrunk."""
    d, n = cell["d"], cell["times d"] * cell["d"]
    sizes = np.array([n, cell["ratio"] * n])
    rng = np.random.default_rng([cell["repeat"], d, n, cell["ratio"]])
    inside = []
    for _ in range(25):
        A = np.eye(d) + 0.4 * rng.normal(size=(2, d, d)) / np.sqrt(d)
        if cell["model"] == "shared":
            A[1] = A[0]
        means = np.stack([np.zeros(d), 1.5 * rng.normal(size=d) / np.sqrt(d)])
        X, y = _draw(means, A, sizes, rng)
        points, _ = _draw(means, A, np.array([50, 50]), rng)
        truth = _posterior(points, means, A @ A.transpose(0, 2, 1), sizes / sizes.sum())
        model = ModeratedDiscriminantAnalysis(
            cell["model"], feature_map=None, covariance_estimator=EmpiricalCovariance(), calibration=None
        )
        inside.append([_covers(model.fit(X, y).predict_proba_interval(points, level), truth) for level in _LEVELS])
    return {"coverage": np.mean(inside, axis=0).tolist()}


def _draw(
    means: FloatArray, A: FloatArray, sizes: np.ndarray, rng: np.random.Generator
) -> tuple[FloatArray, np.ndarray]:
    parts = [mean + rng.normal(size=(n, len(mean))) @ a.T for mean, a, n in zip(means, A, sizes, strict=True)]
    return np.concatenate(parts), np.repeat([0, 1], sizes)


def _posterior(points: FloatArray, means: FloatArray, covariances: FloatArray, priors: FloatArray) -> FloatArray:
    """Posterior of the second class under Gaussian classes."""
    joint = []
    for mean, covariance, prior in zip(means, covariances, priors, strict=True):
        factor = factorise(covariance, "a covariance of the population")
        joint.append(np.log(prior) - 0.5 * factor.logdet - 0.5 * squared_distances(points, mean, factor))
    return softmax(np.stack(joint), axis=0)[1]


def _covers(interval: tuple[FloatArray, FloatArray], truth: FloatArray) -> float:
    lower, upper = (end[:, 1] for end in interval)
    return float(((lower <= truth) & (truth <= upper)).mean())


def _real(cell: Cell) -> Values:
    X, y = _population(cell["dataset"])
    n = cell["times d"] * X.shape[1]
    rng = np.random.default_rng([cell["repeat"], cell["times d"], len(y)])
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), n) for c in (0, 1)])
    points = X[rng.choice(len(X), min(_POINTS, len(X)), replace=False)]
    model = ModeratedDiscriminantAnalysis(cell["model"], feature_map=None, calibration=None)
    start = time.perf_counter()
    lower, upper = (end[:, 1] for end in model.fit(X[rows], y[rows]).predict_proba_interval(points, _LEVEL))
    seconds = time.perf_counter() - start
    truth = _truth(model, cell["model"], X, y, points)
    start = time.perf_counter()
    refits = [_refit(cell["model"], X[rows], y[rows], points, rng) for _ in range(_REFITS)]
    resampled = np.quantile(refits, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
    slow = time.perf_counter() - start
    return {
        "ours": _judge(lower, upper, truth) | {"seconds": seconds},
        "bootstrap": _judge(resampled[0], resampled[1], truth) | {"seconds": slow},
    }


def _population(name: str) -> tuple[FloatArray, np.ndarray]:
    """Standardised features that vary in both classes, and classes as 0 and 1."""
    X, y = fetch_benchmark(name, return_X_y=True)
    codes = (y > 0).astype(int)
    spread = np.min([X[codes == c].std(axis=0) for c in (0, 1)], axis=0)
    X = X[:, spread > 1e-6 * X.std(axis=0)]
    return (X - X.mean(axis=0)) / X.std(axis=0), codes


def _truth(
    model: ModeratedDiscriminantAnalysis, kind: str, X: FloatArray, y: np.ndarray, points: FloatArray
) -> FloatArray:
    """Posterior of the same model, with the shrinkage of the fitted one, at the moments of the population."""
    kept = slice(-1, None) if kind == "shared" else slice(0, -1)
    shrinkage = 1 - model.effective_features_[kept] / model.mean_distance_[kept]
    means = np.stack([X[y == c].mean(axis=0) for c in (0, 1)])
    covariances = np.stack([np.cov(X[y == c].T, bias=True).reshape(X.shape[1], -1) for c in (0, 1)])
    if kind == "shared":
        # The classes were drawn in equal numbers.
        covariances[:] = covariances.mean(axis=0)
        shrinkage = np.repeat(shrinkage, 2)
    shrunk = np.stack([_shrink(S, s) for S, s in zip(covariances, shrinkage, strict=True)])
    return _posterior(points, means, shrunk, model.priors_)


def _shrink(covariance: FloatArray, shrinkage: float) -> FloatArray:
    scale = np.sqrt(np.diagonal(covariance))
    unit = scale * scale[:, None]
    return ((1 - shrinkage) * covariance / unit + shrinkage * np.eye(len(scale))) * unit


def _refit(kind: Any, X: FloatArray, y: np.ndarray, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Nominal posterior after drawing the training rows of each class again."""
    rows = np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in (0, 1)])
    model = ModeratedDiscriminantAnalysis(kind, feature_map=None, priors=[0.5, 0.5], calibration=None)
    return model.fit(X[rows], y[rows]).nominal_proba(points)[:, 1]


def _judge(lower: FloatArray, upper: FloatArray, truth: FloatArray) -> Values:
    """Coverage, width, and Winkler's score, in which each miss costs 2/(1 - level) times its distance."""
    missed = np.maximum(lower - truth, 0) + np.maximum(truth - upper, 0)
    return {
        "coverage": float((missed == 0).mean()),
        "width": float((upper - lower).mean()),
        "score": float((upper - lower + 2 / (1 - _LEVEL) * missed).mean()),
    }


def summarise(results: Sequence[Result]) -> Summary:
    """Coverage of Gaussian classes by dimension and size; on data sets coverage, width, score and time."""
    gaussian, real, single = defaultdict(list), defaultdict(list), defaultdict(list)
    for cell, values, _ in results:
        if "dataset" in cell:
            real[cell["model"], cell["times d"]].append(values)
            single[cell["dataset"], cell["model"], cell["times d"]].append(values)
        else:
            key = cell["model"], cell["d"], cell["times d"], cell["ratio"]
            gaussian[key].append(values["coverage"])
    simulated: list[Row] = []
    for (model, d, times, ratio), parts in gaussian.items():
        row: Row = {"model": model, "d": d, "times d": times, "sizes": f"1 : {ratio}"}
        simulated.append(
            row | {f"{100 * level:g} %": 100 * v for level, v in zip(_LEVELS, np.mean(parts, axis=0), strict=True)}
        )
    measured = [_row(model, times, parts) for (model, times), parts in real.items()]
    tables = {}
    if measured:
        caption = "Data sets, nominal level 90 %; the score is Winkler's: width, and 20 times the distance of misses."
        tables["coverage_data"] = Table(measured, caption)
        caption = "The same on each data set: coverage in percent, with its standard error."
        tables["coverage_sets"] = Table([_set_row(*setting, parts) for setting, parts in single.items()], caption)
    tables["coverage_gaussian"] = Table(simulated, "Gaussian classes, unshrunk: coverage in percent.")
    question = Question(HOW_SURE, _answer(simulated, measured), ("coverage",), (*tables,), EXPERIMENT.title)
    return Summary(tables=tables, figures={"coverage": draw(simulated)}, questions=(question,))


def _row(model: str, times: int, parts: Sequence[Values]) -> Row:
    row: Row = {"model": model, "times d": times}
    for who in ("ours", "bootstrap"):
        row[f"{who}: coverage, %"] = 100 * float(np.mean([part[who]["coverage"] for part in parts]))
        for name in ("width", "score"):
            row[f"{who}: {name}"] = float(np.mean([part[who][name] for part in parts]))
    row["times faster"] = float(np.median([part["bootstrap"]["seconds"] / part["ours"]["seconds"] for part in parts]))
    return row


def _set_row(name: str, model: str, times: int, parts: Sequence[Values]) -> Row:
    row: Row = {"dataset": name, "model": model, "times d": times}
    for who in ("ours", "bootstrap"):
        row[who], row[f"{who} +-"] = mean_and_error([100 * part[who]["coverage"] for part in parts])
    return row


def _answer(simulated: Sequence[Row], measured: Sequence[Row]) -> list[str]:
    """From the smallest to the largest coverage, beside the bootstrap's."""
    said = []
    if measured:
        ours, bootstrap = (
            f"{min(values):.0f} to {max(values):.0f} %"
            for values in ([row[f"{who}: coverage, %"] for row in measured] for who in ("ours", "bootstrap"))
        )
        said.append(
            f"On data sets, intervals of nominally 90 % hold the truth in {ours} of the cases, percentile "
            f"bootstraps of {_REFITS} refits in {bootstrap}, and these take "
            f"{np.median([row['times faster'] for row in measured]):.0f} times as long."
        )
    off = [abs(row[f"{100 * level:g} %"] - 100 * level) for row in simulated for level in _LEVELS]
    said.append(
        f"For Gaussian classes, coverage is at most {max(off):.1f} points off, and {np.mean(off):.1f} on average."
    )
    said.append("The truth is the posterior of the same model, with the same shrinkage, at the population's moments.")
    return said


def draw(rows: Sequence[Row]) -> object:
    """Coverage at 90 % against the size of the smaller class."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for ax, model in zip(axes, ("own", "shared"), strict=True):
        ax.axhline(90, color="gray", linewidth=0.8, linestyle=":")
        for ratio, style in (("1 : 1", "-"), ("1 : 5", "--")):
            for d, colour in ((2, "C0"), (5, "C1"), (10, "C2"), (20, "C3")):
                part = [row for row in rows if (row["model"], row["d"], row["sizes"]) == (model, d, ratio)]
                label = f"d = {d}" if style == "-" else None
                curve = [row["times d"] for row in part], [row["90 %"] for row in part]
                ax.plot(*curve, style, color=colour, marker="o", markersize=4, label=label)
        ax.set(
            title=f"{model} covariance",
            xscale="log",
            ylim=(75, 100),
            xlabel="samples of the smaller class, in units of d",
        )
        ax.set_xticks([4, 10, 40], ["4", "10", "40"])
        ax.minorticks_off()
    axes[0].set_ylabel("coverage at 90 %, %")
    axes[0].legend(frameon=False, ncols=2)
    return figure


EXPERIMENT = Experiment(
    name="coverage",
    title="Coverage: do the intervals hold what they promise?",
    about=(
        "Intervals of posteriors from sampling error, by the likelihood ratio; on data sets beside the percentile "
        "bootstrap of 200 refits. Solid lines: classes of equal size, dashed: one to five."
    ),
    cells=cells,
    compute=compute,
    summarise=summarise,
)

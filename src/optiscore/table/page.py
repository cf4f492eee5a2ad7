"""The page of `optiscore report`: may a model be trusted on these rows? The answer first, then what it rests on."""

import json
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment
from plotly.offline import get_plotlyjs
from sklearn.metrics import confusion_matrix

from .. import __version__
from ..metrics import risk_coverage_curve
from ..numerics.types import FloatArray
from .answers import abstentions, ask, in_words
from .evaluation import OURS, Evaluation, MethodAnswers, Rows
from .judging import Judgement
from .show import count_rows, facts_of
from .table_model import TableModel, percent, proportion
from .verdict import kept_by_others

_MAX_CURVE, _MAX_DOTS, _MAX_LISTED, _MAX_ROWS = 400, 2_000, 40, 20_000


def render(judged: Judgement, source: str) -> str:
    """The page as text; it needs nothing else."""
    trained, rows, evaluation, verdict = judged
    data: dict[str, Any] = {
        "classes": trained.labels,
        "verdict": verdict.threshold,
        "rows": _rows(trained, rows, evaluation),
        "curves": {name: _curve(each, rows.codes) for name, each in evaluation.judged.items()},
        "plane": _plane(trained, rows, evaluation),
    }
    if rows.codes is not None:
        predicted = evaluation.answers.predicted
        data["confusion"] = confusion_matrix(rows.codes, predicted, labels=range(len(trained.labels))).tolist()
        data["reliability"] = _reliability(evaluation.judged[OURS], rows.codes)
    right, decided = evaluation.decided
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "rows": count_rows, "short": _shortened}
    template = environment.from_string((files(__package__) / "page.html").read_text(encoding="utf-8"))
    return template.render(
        facts=facts_of(trained),
        trained=trained,
        source=source,
        evaluation=evaluation,
        ours=OURS,
        verdict=verdict,
        sense=data["rows"]["sense"],
        limits=in_words(evaluation.thresholds),
        proportion=proportion,
        right=right,
        decided=decided,
        version=__version__,
        # Labels may hold anything; "<" could end the script or hide its end.
        data=json.dumps(data).replace("<", "\\u003c"),
        plotly=get_plotlyjs(),
    )


def _shortened(label: Any, n: int = 36) -> str:
    """A label without its middle, if it is long: many differ at their ends only."""
    text = str(label)
    return text if len(text) <= n else f"{text[: n // 2]}…{text[1 - n // 2 :]}"


def _rows(trained: TableModel, rows: Rows, evaluation: Evaluation) -> dict[str, Any]:
    """Return the data of the slider and the list, for every row or some of very many; infinite factors are null."""
    answers, n = evaluation.answers, evaluation.n_rows
    shown = np.arange(n) if n <= _MAX_ROWS else np.sort(np.random.default_rng(0).permutation(n)[:_MAX_ROWS])
    sense = next(iter(answers.certainty))
    predicted = answers.predicted[shown]
    lower, upper, about = _posterior_range(trained.classifier, rows.X[shown], evaluation, shown)
    listed = np.arange(len(shown))
    return {
        "sense": sense,
        "of": n,
        "name": [rows.names[i] for i in shown],
        "truth": None if rows.codes is None else rows.codes[shown].tolist(),
        "predicted": predicted.tolist(),
        "probability": answers.proba[shown, predicted].round(4).tolist(),
        "certainty": [None if np.isinf(value) else float(value) for value in answers.certainty[sense][shown]],
        "reason": evaluation.reasons[shown].tolist(),
        "stays": kept_by_others(evaluation)[shown].tolist(),
        "lower": None if lower is None else lower[listed, predicted].round(4).tolist(),
        "upper": None if upper is None else upper[listed, predicted].round(4).tolist(),
        "range": about,
        "listed": _MAX_LISTED,
    }


def _posterior_range(classifier: Any, X: np.ndarray, evaluation: Evaluation, shown: np.ndarray) -> tuple[Any, Any, str]:
    """Bounds or intervals of the posteriors, and what they are; none where the model has neither."""
    if evaluation.answers.bounds is not None:
        bounds = evaluation.answers.bounds
        return bounds.lower[shown], bounds.upper[shown], "probability of the label, from worst to best case"
    if hasattr(classifier, "predict_proba_interval"):
        return *classifier.predict_proba_interval(X, 0.9), "90 % interval of the label's posterior, from sampling error"
    return None, None, ""


def _curve(judged: MethodAnswers, codes: np.ndarray | None) -> dict[str, list[float]]:
    coverage, risk, _ = risk_coverage_curve(judged.predicted == codes, judged.confidence)
    shown = np.unique(np.linspace(0, len(coverage) - 1, min(_MAX_CURVE, len(coverage))).round().astype(int))
    return {"coverage": coverage[shown].tolist(), "risk": risk[shown].tolist()}


def _reliability(judged: MethodAnswers, codes: np.ndarray) -> dict[str, list[Any]]:
    """Mean probability and fraction of right predictions with its interval, in ten bins of equal size."""
    top = judged.proba[np.arange(len(codes)), judged.predicted]
    right = judged.predicted == codes
    bins = [rows for rows in np.array_split(np.argsort(top, kind="stable"), 10) if len(rows)]
    fractions = [proportion(int(right[rows].sum()), len(rows)) for rows in bins]
    return {
        "probability": [float(top[rows].mean()) for rows in bins],
        "right": [each.value for each in fractions],
        "low": [each.value - each.low for each in fractions],
        "high": [each.high - each.value for each in fractions],
        "rows": [len(rows) for rows in bins],
    }


def _plane(trained: TableModel, rows: Rows, evaluation: Evaluation) -> dict[str, Any] | None:
    """Dots, each with its own certificate: its place among the rows that the slider moves, where it is one of them."""
    n = evaluation.n_rows
    dots = np.sort(np.random.default_rng(0).permutation(n)[:_MAX_DOTS])
    names = list(trained.pipeline[:-1].get_feature_names_out())
    picture = draw(trained.classifier, rows.X, evaluation.answers.predicted, names, evaluation.thresholds)
    if picture is None:
        return None
    certainty = next(iter(evaluation.answers.certainty.values()))
    plane: dict[str, Any] = {
        "axes": picture.axes,
        "dots": np.stack([_short(column) for column in picture.coordinates[dots].T], axis=1).tolist(),
        "predicted": evaluation.answers.predicted[dots].tolist(),
        "truth": None if rows.codes is None else rows.codes[dots].tolist(),
        "certainty": [None if np.isinf(value) else float(value) for value in certainty[dots]],
        "stays": kept_by_others(evaluation)[dots].tolist(),
        "reason": evaluation.reasons[dots].tolist(),
        "name": [rows.names[i] for i in dots],
    }
    if picture.background is not None:
        grid = picture.background
        plane["grid"] = {
            "x": _short(grid["x"]).tolist(),
            "y": _short(grid["y"]).tolist(),
            "code": (2 * grid["labels"] + grid["decided"]).tolist(),
        }
    return plane


def _short(values: FloatArray) -> FloatArray:
    """Numbers with no more digits than a picture of them shows."""
    span = np.ptp(values)
    return values.round(4 - int(np.floor(np.log10(span)))) if 1e-100 < span < 1e100 else values


class Picture(NamedTuple):
    """Coordinates of rows, names of the axes, and the decisions behind them where the plane is all there is."""

    #: Where the rows lie; of shape (n_rows, 2).
    coordinates: FloatArray
    #: What the axes are.
    axes: tuple[str, str]
    #: A grid: "x", "y", predicted classes and whether the model decides there, if the rows have two features.
    background: dict[str, Any] | None


def draw(classifier: Any, X: FloatArray, predicted: np.ndarray, names: list[str], thresholds: Any) -> Picture | None:
    """The picture of rows; None where they have one feature only."""
    if X.shape[1] < 2:
        return None
    if X.shape[1] == 2:
        return Picture(X, (names[0], names[1]), regions(classifier, X, thresholds))
    axes = ("first discriminant direction", "second direction")
    return Picture(discriminant_coordinates(X, predicted), axes, None)


def discriminant_coordinates(X: FloatArray, groups: np.ndarray) -> FloatArray:
    """The first two discriminant directions; where there is one only, the second is that of the largest spread.

    In coordinates in which the spread within the groups is the identity, the means lie in the directions of the largest
    spread between them.
    """
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)
    members = groups[:, None] == np.unique(groups)
    means = (members / members.sum(axis=0)).T @ Z
    within = Z - members @ means
    values, vectors = np.linalg.eigh(within.T @ within / len(Z) + 0.05 * np.eye(Z.shape[1]))
    whitened = Z @ vectors / np.sqrt(values)
    centres = members @ ((members / members.sum(axis=0)).T @ whitened)
    first = _leading(centres) if members.shape[1] > 1 else _leading(whitened)
    rest = np.eye(Z.shape[1]) - np.outer(first, first)
    second = _leading((centres if members.shape[1] > 2 else Z @ vectors) @ rest)
    return whitened @ np.stack([first, second]).T


def _leading(rows: FloatArray) -> FloatArray:
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][0]


def regions(classifier: Any, X: FloatArray, thresholds: Any, resolution: int = 120) -> dict[str, Any]:
    """Predicted classes, and where the model decides, on a grid around rows of two features."""
    low, high = np.quantile(X, [0.005, 0.995], axis=0)
    margin = 0.15 * (high - low) + 1e-9
    x, y = (np.linspace(a, b, resolution) for a, b in zip(low - margin, high + margin, strict=True))
    answers = ask(classifier, np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2))
    decided = abstentions(answers.certainty, thresholds) == ""
    shape = resolution, resolution
    return {"x": x, "y": y, "labels": answers.predicted.reshape(shape), "decided": decided.reshape(shape)}

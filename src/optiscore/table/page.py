"""The page of `optiscore report`: may a model be trusted on these rows? The answer first, then what it rests on."""

import json
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment
from plotly.offline import get_plotlyjs
from sklearn.metrics import confusion_matrix

from .. import __version__
from ..metrics import risk_coverage_curve
from ..numerics.types import FloatArray
from .answers import in_words
from .evaluation import OURS, Evaluation, Judged, Rows
from .judging import Judgement
from .plane import draw
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
        "curves": {name: _curve(each, _codes(rows)) for name, each in evaluation.judged.items()},
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


def _codes(rows: Rows) -> np.ndarray:
    assert rows.codes is not None
    return rows.codes


def _rows(trained: TableModel, rows: Rows, evaluation: Evaluation) -> dict[str, Any]:
    """What the slider and the list need of every row, or of some of very many; infinite factors become null."""
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


def _curve(judged: Judged, codes: np.ndarray) -> dict[str, list[float]]:
    coverage, risk, _ = risk_coverage_curve(judged.predicted == codes, judged.confidence)
    shown = np.unique(np.linspace(0, len(coverage) - 1, min(_MAX_CURVE, len(coverage))).round().astype(int))
    return {"coverage": coverage[shown].tolist(), "risk": risk[shown].tolist()}


def _reliability(judged: Judged, codes: np.ndarray) -> dict[str, list[Any]]:
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

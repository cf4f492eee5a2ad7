"""The page of `optiscore report`: what a model does on labelled rows, and where it may be trusted."""

import json
from importlib.resources import files
from typing import Any

import numpy as np
from jinja2 import Environment
from plotly.offline import get_plotlyjs
from sklearn.metrics import confusion_matrix

from .. import __version__
from ..drift import Drift, measure_drift
from ..metrics import risk_coverage_curve
from .evaluation import OURS, Judged, LabelledRows, evaluate, judge
from .plane import discriminant_plane, regions
from .show import facts_of
from .table_model import TableModel

_MAX_CURVE, _MAX_DOTS, _MAX_LISTED = 400, 2_000, 40


def render(trained: TableModel, test: LabelledRows, source: str, seed: int) -> str:
    """The page as text; it needs nothing else."""
    model = trained.classifier
    judged = judge(trained, test)
    ours = judged[OURS]
    results = evaluate(judged, test.codes, 1.0, seed)
    drift = measure_drift(model, trained.groups, trained.n_rows, test.X)
    data: dict[str, Any] = {
        "classes": [str(label) for label in test.classes],
        "rows": _rows(model, test, ours),
        "curves": {name: _curve(part, test.codes) for name, part in judged.items()},
        "confusion": confusion_matrix(test.codes, ours.predicted, labels=range(len(test.classes))).tolist(),
        "reliability": _reliability(ours, test.codes),
        "plane": _plane(model, test),
    }
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["percent"] = lambda value: "-" if value != value else f"{100 * value:.1f} %"
    template = environment.from_string((files(__package__) / "page.html").read_text(encoding="utf-8"))
    return template.render(
        facts=facts_of(trained),
        source=source,
        n_rows=len(test.codes),
        results=results,
        ours=OURS,
        verdict=_verdict(results, data["curves"][OURS], drift),
        drift=drift,
        version=__version__,
        # Labels may hold anything; "<" could end the script or hide its end.
        data=json.dumps(data).replace("<", "\\u003c"),
        plotly=get_plotlyjs(),
    )


def _rows(model: Any, test: LabelledRows, ours: Judged) -> dict[str, Any]:
    """What the slider needs of every row; infinite factors become null."""
    lower, upper = model.predict_proba_bounds(test.X)
    everyone = np.arange(len(test.codes))
    return {
        "truth": test.codes.tolist(),
        "predicted": ours.predicted.tolist(),
        "factor": [None if np.isinf(r) else float(f"{r:.6g}") for r in ours.confidence],
        "lower": lower[everyone, ours.predicted].round(4).tolist(),
        "upper": upper[everyone, ours.predicted].round(4).tolist(),
        "listed": _MAX_LISTED,
    }


def _curve(judged: Judged, codes: np.ndarray) -> dict[str, list[float]]:
    coverage, risk, _ = risk_coverage_curve(judged.predicted == codes, judged.confidence)
    shown = np.unique(np.linspace(0, len(coverage) - 1, min(_MAX_CURVE, len(coverage))).round().astype(int))
    return {"coverage": coverage[shown].tolist(), "risk": risk[shown].tolist()}


def _reliability(judged: Judged, codes: np.ndarray) -> dict[str, list[float]]:
    """Mean probability and fraction of right predictions, in ten bins of equal size."""
    top = judged.proba.max(axis=1)
    right = judged.predicted == codes
    bins = [rows for rows in np.array_split(np.argsort(top, kind="stable"), 10) if len(rows)]
    return {
        "probability": [float(top[rows].mean()) for rows in bins],
        "right": [float(right[rows].mean()) for rows in bins],
        "rows": [len(rows) for rows in bins],
    }


def _plane(model: Any, test: LabelledRows) -> dict[str, Any] | None:
    if test.X.shape[1] < 2:
        return None
    plane = discriminant_plane(model)
    coordinates = plane.project(test.X)
    shown = regions(model, plane, coordinates)
    dots = np.random.default_rng(0).permutation(len(coordinates))[:_MAX_DOTS]
    return {
        "x": shown["x"].round(4).tolist(),
        "y": shown["y"].round(4).tolist(),
        "labels": shown["labels"].tolist(),
        "certified": shown["certified"].astype(int).tolist(),
        "dots": coordinates[dots].round(3).tolist(),
        "truth": test.codes[dots].tolist(),
        "row": (dots + 1).tolist(),
    }


def _verdict(results: dict[str, Any], curve: dict[str, list[float]], drift: list[Drift]) -> list[str]:
    """The page in a few sentences."""
    ours = results[OURS]
    value, low, high = ours["accuracy"]
    sentences = [
        f"The model is right on {100 * value:.1f} % of the rows (95 % interval {100 * low:.1f} to {100 * high:.1f})."
    ]
    others = {name: part["accuracy"][0] for name, part in results.items() if name != OURS}
    if others:
        listed = ", ".join(f"{name} {100 * accuracy:.1f} %" for name, accuracy in others.items())
        sentences.append(f"Trained on the same rows: {listed}.")
    risk = float(np.interp(0.8, curve["coverage"], curve["risk"]))
    coverage = ours["coverage"][0]
    return [
        *sentences,
        f"If the least certain fifth of the rows goes to a person, {100 * (1 - risk):.1f} % of the rest are right.",
        f"At the fitted radii {100 * coverage:.1f} % of the decisions are certified.",
        f"Drift of all rows: {drift[-1].verdict}.",
    ]

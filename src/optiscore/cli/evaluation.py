"""How a trained model does on labelled rows, beside QDA, LDA and logistic regression, with bootstrap intervals."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata

from ..metrics import area_under_risk_coverage, mean_log_loss
from .preparation import labelled_rows, labels_of
from .table_model import TableModel
from .tables import read_table

# Of large tables fewer resamples do: their intervals are narrow.
_RESAMPLED_ROWS = 1_000_000
OURS = "optiscore"


class Judged(NamedTuple):
    """What a method says of the test rows: codes of the predicted classes, probabilities, and its confidence."""

    predicted: np.ndarray
    proba: np.ndarray
    confidence: np.ndarray


class LabelledRows(NamedTuple):
    """Labelled rows as the classifier sees them."""

    X: np.ndarray
    codes: np.ndarray
    classes: np.ndarray


def read_test(trained: TableModel, path: str) -> LabelledRows:
    """Labelled rows from a table."""
    target = trained.target
    table = labelled_rows(read_table(path), target, path)
    if not table.num_rows:
        raise ValueError(f"{path} has no row with a label in column {target!r}.")
    classes = trained.pipeline.classes_
    labels = labels_of(table[target], as_numbers=classes.dtype.kind == "i").astype(str)
    known = classes.astype(str).tolist()
    unknown = sorted(set(labels.tolist()) - set(known))
    if unknown:
        raise ValueError(f"{path} has the label {unknown[0]!r}, which the model does not know: {known}.")
    codes = np.array([known.index(label) for label in labels])
    return LabelledRows(trained.features(table, path), codes, classes)


def judge(trained: TableModel, test: LabelledRows) -> dict[str, Judged]:
    """Every method on the test rows."""
    model = trained.classifier
    proba = model.predict_proba(test.X)
    predicted = np.searchsorted(test.classes, model.predict(test.X))
    judged = {OURS: Judged(predicted, proba, model.certified_factor(test.X))}
    for name, other in trained.peers.items():
        proba = other.predict_proba(test.X)
        top = np.sort(proba, axis=1)
        judged[name] = Judged(proba.argmax(axis=1), proba, top[:, -1] - top[:, -2])
    return judged


def measures(judged: Judged, codes: np.ndarray) -> dict[str, float]:
    """Quality in numbers; NaN where the test rows do not tell (AUC with one class only).

    Log loss and AUC are scikit-learn's, which checks its input for longer than a bootstrap of few rows may take.
    """
    right = judged.predicted == codes
    present = np.unique(codes)
    recalls = [right[codes == c].mean() for c in present]
    return {
        "accuracy": float(right.mean()),
        "balanced accuracy": float(np.mean(recalls)),
        "log loss": mean_log_loss(judged.proba.T, codes),
        "AUC": _auc(judged.proba, codes, present),
        "area under risk-coverage": area_under_risk_coverage(right, judged.confidence),
    }


def _auc(proba: np.ndarray, codes: np.ndarray, present: np.ndarray) -> float:
    """Probability that a row of a class ranks above one of the others, ties counting half; mean over the classes."""
    if len(present) < 2:
        return float("nan")
    columns = present if proba.shape[1] > 2 else np.array([1])
    members = codes[:, None] == columns
    inside = members.sum(axis=0)
    ranks = np.where(members, rankdata(proba[:, columns], axis=0), 0).sum(axis=0)
    return float(np.mean((ranks - inside * (inside + 1) / 2) / (inside * (len(codes) - inside))))


def certified_part(judged: Judged, codes: np.ndarray, abstain_below: float) -> dict[str, float]:
    """Fraction of the rows that are decided, and how many of these are right."""
    kept = judged.confidence >= abstain_below
    right = (judged.predicted == codes)[kept]
    return {
        "coverage": float(kept.mean()),
        "accuracy of the decided": float(right.mean()) if kept.any() else float("nan"),
    }


def evaluate(judged: dict[str, Judged], codes: np.ndarray, abstain_below: float, seed: int) -> dict[str, Any]:
    """Measures of every method with 95 % bootstrap intervals: name to (value, low, high)."""
    rng = np.random.default_rng(seed)
    n_samples = int(np.clip(_RESAMPLED_ROWS / len(codes), 40, 300))
    samples = [rng.integers(len(codes), size=len(codes)) for _ in range(n_samples)]

    def with_interval(method: str) -> dict[str, list[float]]:
        def value(rows: np.ndarray) -> dict[str, float]:
            part = Judged(*(array[rows] for array in judged[method]))
            own = certified_part(part, codes[rows], abstain_below) if method == OURS else {}
            return measures(part, codes[rows]) | own

        whole = value(np.arange(len(codes)))
        resampled = [value(rows) for rows in samples]
        return {name: [whole[name], *_interval([r[name] for r in resampled])] for name in whole}

    return {method: with_interval(method) for method in judged}


def _interval(values: list[float]) -> list[float]:
    known = np.array(values)[~np.isnan(values)]
    return [float(q) for q in np.quantile(known, [0.025, 0.975])] if len(known) else [float("nan")] * 2

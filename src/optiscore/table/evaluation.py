"""How a trained model does on rows of a table, beside QDA, LDA and logistic regression; with labels or without."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy.stats import rankdata, t

from ..estimators.progress import Progress
from ..metrics import area_under_risk_coverage, log_losses
from .answers import Answers, abstentions, ask
from .preparation import has_label, labels_of
from .table_model import UNKNOWN, Interval, TableModel, proportion
from .tables import check_name, read_table
from .watch import TableDrift

OURS = "optiscore"

# Resamples of few rows; many rows are cut into parts instead.
_N_RESAMPLES, _MOST_RESAMPLED, _N_PARTS = 300, 20_000, 30


class Rows(NamedTuple):
    """Rows of a table as the classifier sees them; without codes of their classes where none has a label.

    Where some have labels, these are the rows, and `n_unlabelled` others were left out.
    """

    frame: pd.DataFrame
    X: np.ndarray
    codes: np.ndarray | None
    names: list[str]
    n_unlabelled: int


class MethodAnswers(NamedTuple):
    """Answers of a method to labelled rows: codes of the predicted classes, probabilities, and its confidence."""

    predicted: np.ndarray
    proba: np.ndarray
    confidence: np.ndarray


class Evaluation(NamedTuple):
    """Findings about a model on some rows."""

    #: What the model says of them.
    answers: Answers
    #: Why each row goes to a person; empty where it does not; of shape (n_rows,).
    reasons: np.ndarray
    #: What that went by.
    thresholds: dict[str, float]
    #: Rows without a label that were left out.
    n_unlabelled: int
    #: Rows with values that were not in training, by column.
    unseen: dict[str, int]
    #: Whether they look like the training rows.
    drift: TableDrift
    #: About how many of them are training rows.
    n_trained_on: int
    #: How many are equal to training rows, be they the same observations or not.
    n_equal: int
    #: Which predictions are right, where the rows have labels; so are all that follow; of shape (n_rows,).
    is_right: np.ndarray = np.empty(0, dtype=bool)
    #: Every method on the rows.
    judged: Mapping[str, MethodAnswers] = MappingProxyType({})
    #: Their measures.
    methods: Mapping[str, dict[str, Interval]] = MappingProxyType({})
    #: By class: rows that are right, and all of them.
    recalls: Mapping[str, tuple[int, int]] = MappingProxyType({})
    #: The most frequent class of the training rows, and how many rows are of it.
    majority: tuple[str, int] = "", 0
    #: By how much other methods are more accurate.
    advantages: Mapping[str, Interval] = MappingProxyType({})
    #: By how much the log loss is smaller than that of the class frequencies in training.
    information: Interval = UNKNOWN

    @property
    def decided(self) -> tuple[int, int]:
        """Rows that are right, and all, of those that do not go to a person; without labels none is known as right."""
        stays = self.reasons == ""
        return int(self.is_right[stays].sum()) if self.has_labels else 0, int(stays.sum())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.reasons)

    @property
    def has_labels(self) -> bool:
        """Whether the rows have labels."""
        return bool(self.judged)

    @property
    def n_by_reason(self) -> dict[str, int]:
        """Rows that go to a person, by reason, most frequent first."""
        return {str(reason): count for reason, count in Counter(self.reasons.tolist()).most_common() if reason}

    @property
    def never_predicted(self) -> list[str]:
        """Classes that some rows have and that the model names for none."""
        named = set(self.answers.predicted.tolist())
        return [label for code, (label, (_, n)) in enumerate(self.recalls.items()) if n and code not in named]


def read_rows(trained: TableModel, path: str, decimal: str | None, advance: Callable[[int], None]) -> Rows:
    """Rows from a table: those with labels, or all where there are no labels."""
    target = trained.target
    table = read_table(path, decimal or trained.decimal, (target, *trained.ids), advance)
    for name in trained.ids:
        check_name(name, table.column_names, path)
    n_rows, codes, names = table.num_rows, None, _row_names(table, trained.ids)
    if target in table.column_names and (known := has_label(table, target, path).to_numpy()).any():
        table, names = table.filter(pa.array(known)), list(compress(names, known))
        codes = _codes(table[target], trained, path)
    frame = trained.frame(table, path)
    return Rows(frame, trained.features(frame), codes, names, n_rows - table.num_rows)


def _row_names(table: pa.Table, ids: Sequence[str]) -> list[str]:
    """Return names of rows: their ids, or their numbers."""
    if not ids:
        return [str(i + 1) for i in range(table.num_rows)]
    parts = [pc.fill_null(table[name].cast(pa.string()), "") for name in ids]
    return pc.binary_join_element_wise(*parts, " ").to_pylist()


def _codes(column: pa.ChunkedArray, trained: TableModel, path: str) -> np.ndarray:
    labels = labels_of(column, as_numbers=trained.classifier.classes_.dtype.kind == "i").astype(str)
    known = trained.labels
    unknown = sorted(set(labels.tolist()) - set(known))
    if unknown:
        n = int(np.isin(labels, unknown).sum())
        raise ValueError(
            f"{path} has the label {unknown[0]!r}, which the model does not know: {known}. Leave out such rows "
            f"({n:,} of {len(labels):,}), or train with some of them."
        )
    place = {label: code for code, label in enumerate(known)}
    return np.array([place[label] for label in labels.tolist()])


def evaluate(
    trained: TableModel, rows: Rows, thresholds: dict[str, float], seed: int, progress: Progress
) -> Evaluation:
    """Judge a model on rows; intervals are at 95 %."""
    with progress("asking the model about", None):
        answers = ask(trained.classifier, rows.X)
    reasons = abstentions(answers.certainty, thresholds)
    with progress("looking for drift in", None):
        drift = trained.watch.compare(rows.frame, answers.predicted, trained.labels)
    found = Evaluation(
        answers=answers,
        reasons=reasons,
        thresholds=thresholds,
        n_unlabelled=rows.n_unlabelled,
        unseen=trained.count_unseen(rows.frame),
        drift=drift,
        n_trained_on=trained.seen.count(rows.frame),
        n_equal=trained.seen.count_equal(rows.frame),
    )
    if rows.codes is None:
        return found
    with progress("asking other methods about", None):
        judged = _judge_all(trained, rows, answers)
    with progress("measuring", _n_repeats(len(rows.codes)) * len(judged)) as advance:
        methods = {name: _measure(each, rows.codes, seed, advance) for name, each in judged.items()}
    return _with_labels(found._replace(judged=judged, methods=methods), trained, rows.codes)


def _with_labels(found: Evaluation, trained: TableModel, codes: np.ndarray) -> Evaluation:
    """Add to the measures of all methods what the labels tell."""
    answers, judged = found.answers, found.judged
    right = answers.predicted == codes
    counts = [count for _, count in trained.class_counts]
    majority = int(np.argmax(counts))
    frequencies = np.log(np.array(counts) / sum(counts))
    members = {label: codes == code for code, label in enumerate(trained.labels)}
    return found._replace(
        is_right=right,
        recalls={label: (int(right[of].sum()), int(of.sum())) for label, of in members.items()},
        majority=(trained.labels[majority], int((codes == majority).sum())),
        advantages={name: paired_difference(j.predicted == codes, right) for name, j in judged.items() if name != OURS},
        information=_mean_interval(-frequencies[codes] - log_losses(answers.proba, codes)),
    )


def _judge_all(trained: TableModel, rows: Rows, answers: Answers) -> dict[str, MethodAnswers]:
    judged = {OURS: MethodAnswers(answers.predicted, answers.proba, next(iter(answers.certainty.values())))}
    for name, peer in trained.peers.items():
        proba = peer.predict_proba(rows.X)
        judged[name] = MethodAnswers(proba.argmax(axis=1), proba, proba.max(axis=1))
    return judged


def paired_difference(first: np.ndarray, second: np.ndarray) -> Interval:
    """By how much the first method is more often right, on the same rows; interval of Agresti and Min (2005)."""
    n, gained, lost = len(first), int((first & ~second).sum()), int((second & ~first).sum())
    b, c, m = gained + 0.5, lost + 0.5, n + 2
    middle = (b - c) / m
    error = 1.96 * np.sqrt((b + c) - (b - c) ** 2 / m) / m
    return Interval((gained - lost) / n, float(max(middle - error, -1)), float(min(middle + error, 1)))


def _mean_interval(values: np.ndarray) -> Interval:
    mean = float(values.mean())
    error = 1.96 * float(values.std()) / np.sqrt(len(values)) if len(values) > 1 else float("inf")
    return Interval(mean, mean - error, mean + error)


def measures(judged: MethodAnswers, codes: np.ndarray) -> dict[str, float]:
    """Quality in numbers; NaN where the rows do not tell (AUC with one class only).

    As scikit-learn computes them, without its checks of the input, which would take most of the time of a bootstrap.
    """
    right = judged.predicted == codes
    present = np.unique(codes)
    return {
        "accuracy": float(right.mean()),
        "balanced accuracy": float(np.mean([right[codes == c].mean() for c in present])),
        "log loss": float(log_losses(judged.proba, codes).mean()),
        "AUC": _auc(judged.proba, codes, present),
        "area under risk-coverage": area_under_risk_coverage(right, judged.confidence),
    }


def _n_repeats(n_rows: int) -> int:
    return _N_RESAMPLES if n_rows <= _MOST_RESAMPLED else _N_PARTS


def _measure(
    judged: MethodAnswers, codes: np.ndarray, seed: int, advance: Callable[[int], None]
) -> dict[str, Interval]:
    """Measures with intervals: Wilson's for the accuracy, else those of resampled rows, or of parts of many rows."""
    rng, n = np.random.default_rng(seed), len(codes)
    is_resampled = n <= _MOST_RESAMPLED
    order = rng.permutation(n)
    parts = [rng.integers(n, size=n) if is_resampled else order[i::_N_PARTS] for i in range(_n_repeats(n))]
    found = []
    for rows in parts:
        found.append(measures(MethodAnswers(*(array[rows] for array in judged)), codes[rows]))
        advance(1)
    whole = measures(judged, codes)
    interval = _bootstrap_interval if is_resampled else _interval_of_parts
    measured = {name: interval(value, np.array([each[name] for each in found])) for name, value in whole.items()}
    measured["accuracy"] = proportion(int((judged.predicted == codes).sum()), n)
    # All but the log loss are fractions.
    return {
        name: each if name == "log loss" else each._replace(high=min(each.high, 1.0)) for name, each in measured.items()
    }


def _bootstrap_interval(value: float, found: np.ndarray) -> Interval:
    known = found[~np.isnan(found)]
    if np.isnan(value) or not len(known):
        return UNKNOWN
    low, high = np.quantile(known, [0.025, 0.975])
    return Interval(value, float(min(low, value)), float(max(high, value)))


def _interval_of_parts(value: float, found: np.ndarray) -> Interval:
    known = found[~np.isnan(found)]
    error = float(t.ppf(0.975, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan
    return Interval(value, max(value - error, 0.0), value + error)


def _auc(proba: np.ndarray, codes: np.ndarray, present: np.ndarray) -> float:
    """Probability that a row of a class ranks above one of the others, ties counting half; mean over the classes."""
    if len(present) < 2:
        return float("nan")
    columns = present if proba.shape[1] > 2 else np.array([1])
    members = codes[:, None] == columns
    inside = members.sum(axis=0)
    ranks = np.where(members, rankdata(proba[:, columns], axis=0), 0).sum(axis=0)
    return float(np.mean((ranks - inside * (inside + 1) / 2) / (inside * (len(codes) - inside))))


def as_plain(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation as plain values, for JSON."""
    right, decided = evaluation.decided
    plain: dict[str, Any] = {
        "rows": evaluation.n_rows,
        "rows without label that were left out": evaluation.n_unlabelled,
        "labelled": evaluation.has_labels,
        "abstain below": evaluation.thresholds,
        "rows to a person": evaluation.n_by_reason,
        "coverage": decided / evaluation.n_rows,
        "unseen values": evaluation.unseen,
        "training rows among them": evaluation.n_trained_on,
        "equal to training rows": evaluation.n_equal,
        "drift": {
            "p-value": evaluation.drift.p_value,
            "columns": [moved._asdict() for moved in evaluation.drift.moved],
        },
    }
    if evaluation.has_labels:
        label, count = evaluation.majority
        plain |= {
            "majority": {"label": label, "accuracy": proportion(count, evaluation.n_rows)},
            "decided": {"right": right, "rows": decided, "accuracy": proportion(right, decided)},
            "recall": {
                name: {"right": r, "rows": n, "recall": proportion(r, n)} for name, (r, n) in evaluation.recalls.items()
            },
            "never predicted": evaluation.never_predicted,
            "methods": evaluation.methods,
            "more accurate by": evaluation.advantages,
        }
    return plain

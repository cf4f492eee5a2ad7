"""Output of the commands: tables for people, JSON for programs."""

import json
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .answers import in_words
from .columns import MOST_COUNTED
from .evaluation import OURS, Evaluation, as_plain
from .prediction import Tally
from .remarks import left_out_accuracy, majority, recalls, remarks
from .table_model import Interval, TableModel, proportion
from .verdict import Verdict


def facts_of(trained: TableModel) -> dict[str, Any]:
    """Return facts about a trained model as plain values."""
    model, (label, share) = trained.classifier, majority(trained)
    facts: dict[str, Any] = {
        "trained on": trained.source,
        "rows": trained.n_rows,
        "rows without label": trained.n_unlabelled,
        "rows of the sample for encodings and accuracy": trained.n_sampled,
        "target": trained.target,
        "model": trained.kind,
        "why": trained.reason,
        "compared": [{"model": name, "log loss": loss, "accuracy": right} for name, loss, right in trained.tried],
        "judged by": trained.how,
        "classifier": type(model).__name__,
        "settings": {name: value for name, value in model.get_params(deep=False).items() if _is_plain(value)},
        "features": int(model.n_features_in_),
        "holds training rows": trained.holds_rows,
        "accuracy": left_out_accuracy(trained),
        "majority": {"label": label, "accuracy": share},
        "certain training rows": trained.n_certain,
        "classes": [
            {"label": name, "rows": count, "recall": recall}
            for (name, count), recall in zip(trained.class_counts, recalls(trained), strict=True)
        ],
        "columns": [
            {"name": c.name, "kind": c.kind, "missing": c.n_missing, "done": trained.treatment(c)}
            for c in trained.columns
        ],
        "remarks": remarks(trained),
    }
    for name, attribute in (("prior", "priors_"), ("radius", "radii_")):
        for row, value in zip(facts["classes"], getattr(model, attribute, ()), strict=False):
            row[name] = float(value)
    return facts


def _is_plain(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float))


def show_training(trained: TableModel, as_json: bool) -> None:
    """Columns, classes, and what the model reaches."""
    facts = facts_of(trained)
    if as_json:
        print_json(facts)
        return
    console = _console()
    columns = Table(
        "column", "kind", "distinct", "missing", "what is done", title=escape(f"Columns of {facts['trained on']}")
    )
    for column in trained.columns:
        style = None if column.is_used else "dim"
        cells = (escape(column.name), column.kind, _distinct(column.n_distinct), f"{column.n_missing:,}")
        columns.add_row(*cells, trained.treatment(column), style=style)
    console.print(columns)
    console.print(_classes(facts))
    if len(trained.tried) > 1:
        compared = Table("model", "log loss", "accuracy", title=f"Models, judged by {trained.how}")
        for name, loss, right in trained.tried:
            compared.add_row(
                name, f"{loss:.3f}", f"{100 * right:.1f} %", style="bold" if name == trained.kind else None
            )
        console.print(compared)
        console.print(f"Taken: {trained.kind}; {trained.reason}")
    right, of = int(np.trace(trained.confusion)), int(np.sum(trained.confusion))
    label, share = majority(trained)
    console.print(
        f"{facts['classifier']}, {facts['features']} features. Accuracy by {trained.how}: "
        f"[bold]{_percent(facts['accuracy'])}[/], {right:,} of {of:,} rows; "
        f"always answering {escape(repr(label))}: {100 * share:.1f} %."
    )
    if sampled := trained.n_sampled:
        console.print(
            f"Moments are those of all {facts['rows']:,} rows; encodings, accuracy and the methods compared with come "
            f"from {sampled:,} random rows, text without cross-fitting."
        )
    if trained.n_unlabelled:
        console.print(
            f"Left out: {count_rows(trained.n_unlabelled)} without a label (empty cells, NA, None and the like)."
        )
    for remark in facts["remarks"]:
        console.print(f"- {remark}", markup=False)


def _classes(facts: dict[str, Any]) -> Table:
    more = [name for name in ("prior", "radius") if name in facts["classes"][0]]
    table = Table("class", "rows", "recall", *more, title=escape(f"Classes ({facts['target']})"))
    for row in facts["classes"]:
        extra = (f"{row[name]:.4g}" for name in more)
        table.add_row(escape(str(row["label"])), f"{row['rows']:,}", _percent(row["recall"]), *extra)
    return table


def _distinct(count: int) -> str:
    return f"{count:,}" if count < MOST_COUNTED else f"over {MOST_COUNTED:,}"


def plain_tally(tally: Tally, thresholds: dict[str, float], out: str, seconds: float) -> dict[str, Any]:
    """Return the tally of predictions as plain values."""
    return {
        "rows": tally.n_rows,
        "seconds": round(seconds, 3),
        "out": out,
        "predicted": {label: int(count) for label, count in tally.labels.items()},
        "abstain below": thresholds,
        "rows to a person": {reason: count for reason, count in tally.reasons.items() if reason},
        "unseen values": dict(tally.unseen),
    }


def show_tally(tally: Tally, thresholds: dict[str, float], out: str, seconds: float) -> None:
    """Print the tally of predictions in lines on standard error."""
    rate = tally.n_rows / max(seconds, 1e-9)
    lines = [f"{count_rows(tally.n_rows)} in {seconds:.1f} s ({rate:,.0f} per second) -> {out}"]
    n_abstained = tally.n_rows - tally.reasons[""]
    reasons = {reason: count for reason, count in tally.reasons.most_common() if reason}
    lines.append(f"{_abstaining(n_abstained, reasons)} ({in_words(thresholds)}; --abstain-below)")
    lines += _unseen(dict(tally.unseen))
    if len([count for count in tally.labels.values() if count]) == 1 and tally.n_rows >= 20:
        lines.append(f"all rows get the same label, {tally.labels.most_common(1)[0][0]!r}")
    print("\n".join(lines), file=sys.stderr)


def _abstaining(count: int, reasons: dict[str, int]) -> str:
    """How many rows abstain, and why."""
    why = ", ".join(f"{n:,} {reason}" for reason, n in reasons.items())
    return f"{count_rows(count)} abstain{'s' if count == 1 else ''}{f': {why}' if why else ''}"


def _unseen(counts: dict[str, int]) -> list[str]:
    return [
        f"column {name!r}: {count_rows(count)} with values that were not in training" for name, count in counts.items()
    ]


def count_rows(count: int) -> str:
    """So many rows, in words."""
    return f"{count:,} row{'' if count == 1 else 's'}"


def show_evaluation(trained: TableModel, evaluation: Evaluation, verdict: Verdict, as_json: bool) -> None:
    """The verdict, and measures of every method with their intervals."""
    if as_json:
        print_json({"verdict": verdict._asdict(), **as_plain(evaluation), "failed methods": trained.failed_peers})
        return
    console = _console()
    console.print(f"[bold]{escape(verdict.headline)}[/]\n{escape(verdict.reason)}\n{escape(verdict.recommendation)}\n")
    if evaluation.has_labels:
        names = list(evaluation.methods[OURS])
        table = Table("", *evaluation.methods, title=f"{evaluation.n_rows:,} rows; 95 % intervals")
        for name in names:
            table.add_row(name, *(_with_interval(measures[name]) for measures in evaluation.methods.values()))
        console.print(table)
        recall = Table("class", "rows", "right", "recall")
        for label, (right, n) in evaluation.recalls.items():
            recall.add_row(escape(label), f"{n:,}", f"{right:,}", _percent(proportion(right, n)) if n else "-")
        console.print(recall)
        label, count = evaluation.majority
        console.print(f"Always answering {escape(repr(label))}: {100 * count / evaluation.n_rows:.1f} % right.")
    for line in _about_rows(trained, evaluation):
        console.print(f"- {line}", markup=False)


def _about_rows(trained: TableModel, evaluation: Evaluation) -> list[str]:
    """Abstention, drift, and what is out of order."""
    right, decided = evaluation.decided
    n_abstained = evaluation.n_rows - decided
    line = f"{_abstaining(n_abstained, evaluation.n_by_reason)} ({in_words(evaluation.thresholds)})"
    if evaluation.has_labels and decided and n_abstained:
        line += f"; of the {decided:,} that do not {_percent(proportion(right, decided))} are right"
    lines = [line]
    if evaluation.drift.moved:
        lines += [
            f"drift: column {moved.column!r}, {moved.rows}: {moved.words} (p = {moved.p_value:.2g})"
            for moved in evaluation.drift.moved[:10]
        ]
    else:
        lines.append(evaluation.drift.sentence)
    if evaluation.n_unlabelled:
        lines.append(f"left out: {count_rows(evaluation.n_unlabelled)} without a label")
    if evaluation.n_equal:
        lines.append(f"equal to training rows in all columns: {count_rows(evaluation.n_equal)}")
    lines += _unseen(evaluation.unseen)
    if evaluation.never_predicted:
        lines.append(f"never predicted, though some rows are of it: {', '.join(map(repr, evaluation.never_predicted))}")
    lines += [f"{name} could not be trained: {reason}" for name, reason in trained.failed_peers.items()]
    return lines


def _with_interval(value: Interval) -> str:
    return f"{value.value:.3f} [dim]{value.low:.3f}-{value.high:.3f}[/]" if value.is_known else "-"


def _percent(value: Interval) -> str:
    return f"{value.percent} ({value.percent_range})"


def print_json(value: Any) -> None:
    """Plain values as JSON; what is no number is null."""
    print(json.dumps(_without_nan(value), indent=2))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    is_number = isinstance(value, float) and np.isfinite(value)
    return value if is_number or not isinstance(value, float) else None


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=120)

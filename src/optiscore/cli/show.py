"""What the commands print: tables for people, JSON for programs."""

import json
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .preparation import MOST_COUNTED
from .table_model import TableModel


def facts_of(trained: TableModel) -> dict[str, Any]:
    """What was learned, as plain values."""
    model = trained.classifier
    rule = model.decision_rule
    return {
        "trained on": trained.source,
        "rows": trained.n_rows,
        "rows without label": trained.n_unlabelled,
        "rows of the sample for encodings and accuracy": trained.n_sampled,
        "target": trained.target,
        "classifier": type(model).__name__,
        "features": int(model.n_features_in_),
        "likelihood": model.likelihood_ if isinstance(model.likelihood_, str) else model.likelihood_.name,
        "decision rule": rule if isinstance(rule, str | float) else list(rule),
        "classes": [
            {"label": label, "rows": count, "prior": float(prior), "radius": float(radius)}
            for (label, count), prior, radius in zip(trained.class_counts, model.priors_, model.radii_, strict=True)
        ],
        "cross-validated accuracy": float(np.mean(trained.fold_accuracies)),
        "its standard deviation over folds": float(np.std(trained.fold_accuracies)),
        "columns": [{"name": c.name, "kind": c.kind, "missing": c.n_missing} for c in trained.columns],
    }


def show_training(trained: TableModel, as_json: bool) -> None:
    """Columns, classes, and what the model reaches."""
    facts = facts_of(trained)
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    console = _console()
    columns = Table(
        "column", "kind", "distinct", "missing", "what is done", title=escape(f"Columns of {facts['trained on']}")
    )
    for column in trained.columns:
        columns.add_row(
            escape(column.name), column.kind, _distinct(column.n_distinct), str(column.n_missing), column.treatment
        )
    console.print(columns)
    classes = Table("class", "rows", "prior", "radius", title=escape(f"Classes ({facts['target']})"))
    for row in facts["classes"]:
        classes.add_row(escape(str(row["label"])), f"{row['rows']:,}", f"{row['prior']:.3f}", f"{row['radius']:.4g}")
    console.print(classes)
    spread = facts["its standard deviation over folds"]
    console.print(
        f"{facts['classifier']}, {facts['likelihood']} likelihood, decision rule {facts['decision rule']}, "
        f"{facts['features']} features. Cross-validated accuracy "
        f"[bold]{100 * facts['cross-validated accuracy']:.1f} %[/] +- {100 * spread:.1f}."
    )
    if sampled := facts["rows of the sample for encodings and accuracy"]:
        console.print(
            f"Moments are those of all {facts['rows']:,} rows; encodings, accuracy and the methods compared with come "
            f"from {sampled:,} random rows, text without cross-fitting."
        )
    if facts["rows without label"]:
        console.print(f"{facts['rows without label']} rows without a label were left out.")


def _distinct(count: int) -> str:
    return str(count) if count < MOST_COUNTED else f"over {MOST_COUNTED:,}"


def show_evaluation(results: dict[str, Any], n_rows: int, as_json: bool) -> None:
    """Measures of every method, with their intervals."""
    if as_json:
        print(json.dumps({"rows": n_rows, "methods": _without_nan(results)}, indent=2))
        return
    names = list(dict.fromkeys(name for measures in results.values() for name in measures))
    table = Table("", *results, title=f"{n_rows:,} rows; 95 % intervals by bootstrap")
    for name in names:
        table.add_row(name, *(_with_interval(measures.get(name)) for measures in results.values()))
    _console().print(table)


def _with_interval(value: list[float] | None) -> str:
    if value is None:
        return ""
    return f"{value[0]:.3f} [dim]{value[1]:.3f}-{value[2]:.3f}[/]" if value[0] == value[0] else "-"


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_nan(part) for part in value]
    return None if value != value else value


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=120)

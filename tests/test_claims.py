"""What README says is what the stored results say: a figure that no longer holds fails here.

`make evidence` writes the tables; those of the last full run are kept in docs/evidence.
"""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())


def table(name):
    with (ROOT / "docs" / "evidence" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ranked(name, method, **where):
    """The row of a method in a table of ranks."""
    rows = [row for row in table(f"{name}_ranks") if all(row[key] == value for key, value in where.items())]
    return next(row for row in rows if row["method"] == method)


def loss(value):
    """A log loss as README writes it: .317."""
    return f"{float(value):.3f}".removeprefix("0")


METHODS = ["kernel", "kernel, one map", "moderated", "logistic", "LDA", "forest", "boosting", "SVC, grid"]
SIZED = ["moderated", "kernel", "LDA", "logistic", "forest"]


def best(values):
    """Which values, as they are printed, are the smallest or the largest."""
    return [value == min(values) for value in values]


@pytest.mark.parametrize("suite", ["accuracy", "further"])
def test_accuracy_area_and_log_loss(suite):
    """A cell per method: accuracy, area, log loss; the best in bold."""
    values = {
        measure: [float(ranked(f"{suite}_{measure}", method)["mean"]) for method in METHODS]
        for measure in ("accuracy", "area", "log_loss")
    }
    printed = [
        [f"{value:.1f}" for value in values["accuracy"]],
        [f"{value:.1f}" for value in values["area"]],
        [loss(value) for value in values["log_loss"]],
    ]
    leading = [best([-float(v) for v in printed[0]]), best([float(v) for v in printed[1]]), best(values["log_loss"])]
    cells = [
        " / ".join(f"**{printed[k][i]}**" if leading[k][i] else printed[k][i] for k in range(3))
        for i in range(len(METHODS))
    ]
    assert f"| {' | '.join(cells)} |" in README


@pytest.mark.parametrize("size", ["2 d per class", "8 d per class", "8 d in all", "three quarters"])
def test_abstention_by_size(size):
    """A cell per method: area and log loss; the best in bold."""
    areas = [f"{float(ranked('abstention_area', m, size=size)['mean']):.1f}" for m in SIZED]
    losses = [f"{float(ranked('abstention_log_loss', m, size=size)['mean']):.2f}" for m in SIZED]
    cells = [
        " / ".join(f"**{text}**" if text == min(texts, key=float) else text for text, texts in pair)
        for pair in zip([(a, areas) for a in areas], [(b, losses) for b in losses], strict=True)
    ]
    assert f"| {size} | {' | '.join(cells)} |" in README


def test_ranks():
    """The places that README claims, and that nothing is significantly better where it says so."""
    for suite in ("accuracy", "further"):
        for measure in ("accuracy", "area", "log_loss"):
            assert table(f"{suite}_{measure}_ranks")[0]["method"] == "kernel"
    assert "first by mean rank in accuracy, area and log loss on both" in README
    places = [
        next(
            place
            for place, row in enumerate((r for r in table("abstention_area_ranks") if r["size"] == size), start=1)
            if row["method"] == "moderated"
        )
        for size in ("2 d per class", "8 d per class", "8 d in all")
    ]
    assert f"place {places[0]}, {places[1]} and {places[2]} of seven by mean rank" in README


def test_where_it_loses():
    """Every data set on which another method is better by a point or more is named."""
    sentence = re.search(r"\*\*Where it loses by a point or more\*\*(.*?)\(`docs/evidence/losses.csv`\)", README).group(
        1
    )
    for row in table("losses"):
        gain = float(row["its accuracy"]) - float(row["kernel"])
        assert f"{row['dataset'].replace('_', ' ')} ({row['better']}, {gain:.1f})" in sentence
    assert sentence.count("(") == len(table("losses"))


def test_coverage_on_data_sets():
    """From the smallest to the largest coverage of nominal 90 % intervals, beside the bootstrap's."""
    rows = table("coverage_data")
    for who in ("ours", "bootstrap"):
        values = [float(row[f"{who}: coverage, %"]) for row in rows]
        assert f"{min(values):.0f} to {max(values):.0f} %" in README


def test_sets():
    """u80 sets of the moderated classifier beside split conformal ones."""
    rows = {row["method"]: row for row in table("sets") if row["training"] == "8 d in all"}
    ours, theirs = rows["moderated, u80"], rows["split conformal, 90 %"]
    for row in (ours, theirs):
        assert f"{100 * float(row['coverage']):.1f} % with {float(row['size']):.2f} labels" in README

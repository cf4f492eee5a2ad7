"""The command on tables: formats, columns of every kind, streams, settings, and what it prints."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command import call, mixed_frame

from optiscore.cli.plane import discriminant_plane
from optiscore.cli.table_model import TableModel
from optiscore.cli.tables import estimate_rows, read_blocks, read_table


def test_what_was_done_to_which_column(folder):
    code, out, _ = call("inspect", folder / "model.skops", "--json")
    assert code == 0
    facts = json.loads(out)
    kinds = {column["name"]: column["kind"] for column in facts["columns"]}
    assert kinds == {
        "length": "number",
        "count": "number",
        "colour": "category",
        "member": "category",
        "since": "date",
        "street": "text",
        "same": "constant",
    }
    assert [row["label"] for row in facts["classes"]] == ["no", "yes"]
    assert 0.6 < facts["cross-validated accuracy"] <= 1
    code, out, _ = call("inspect", folder / "model.skops")
    assert "how often each class goes with the value" in out


def test_one_row_out_per_row_in(folder):
    out = folder / "predictions.csv"
    assert call("predict", folder / "model.skops", folder / "test.csv", "-o", out, "--abstain-below", "0.5")[0] == 0
    table = pd.read_csv(out)
    assert len(table) == 120
    assert set(table["predicted"]) <= {"yes", "no"}
    assert (table["abstain"] == (table["certified factor"] < 0.5)).all()
    assert (table["lower yes"] <= table["upper yes"]).all()
    single = ~table["plausible"].str.contains("|", regex=False)
    assert (single == (table["certified factor"] > 1)).mean() > 0.95


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "feather", "arrow"])
def test_formats_give_the_same_predictions(folder, suffix, tmp_path):
    # Older versions of pandas read numbers that are off in the last digit.
    frame = pd.read_csv(folder / "test.csv", converters={"length": lambda cell: float(cell or "nan")})
    path = tmp_path / f"table.{suffix}"
    if suffix in ("csv", "csv.gz"):
        frame.to_csv(path, index=False)
    elif suffix == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    for name in ("a.csv", "a.parquet"):
        assert call("predict", folder / "model.skops", path, "-o", tmp_path / name)[0] == 0
    call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (
        pd.read_parquet(tmp_path / "a.parquet")["predicted"].tolist()
        == pd.read_csv(tmp_path / "b.csv")["predicted"].tolist()
    )


def test_svmlight(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{1 if i % 2 else -1} 1:{rng.normal() + i % 2:.4f} 2:{rng.normal():.4f}" for i in range(60)]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    assert call("fit", tmp_path / "t.txt", "--target", "target", "-o", tmp_path / "m")[0] == 0
    assert call("predict", tmp_path / "m", tmp_path / "t.txt", "-o", tmp_path / "p.csv")[0] == 0
    assert set(pd.read_csv(tmp_path / "p.csv")["predicted"]) == {-1, 1}


def test_standard_streams(folder):
    command = [sys.executable, "-m", "optiscore.cli", "predict", str(folder / "model.skops"), "-"]
    content = (folder / "test.csv").read_bytes()
    plain, compressed = (
        subprocess.run(command, input=data, capture_output=True, check=True).stdout
        for data in (content, gzip.compress(content))
    )
    assert plain == compressed
    assert plain.count(b"\n") == 121


def test_blocks_are_the_whole(folder, monkeypatch, tmp_path):
    from optiscore.cli import tables

    monkeypatch.setattr(tables, "_BLOCK_BYTES", 2000)
    assert len(list(read_blocks(str(folder / "test.csv")))) > 3
    call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "blocks.csv")
    monkeypatch.undo()
    call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "whole.csv")
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_estimated_rows(tmp_path):
    frame = pd.concat([mixed_frame(500, seed=i) for i in range(40)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    assert estimate_rows(str(tmp_path / "t.csv")) == pytest.approx(20_000, rel=0.02)
    assert estimate_rows(str(tmp_path / "t.parquet")) == 20_000
    assert estimate_rows("-") is None


def test_evaluate(folder):
    code, out, _ = call("evaluate", folder / "model.skops", folder / "test.csv", "--json", "--abstain-below", "0.3")
    assert code == 0
    results = json.loads(out)
    assert results["rows"] == 120
    assert set(results["methods"]) == {"optiscore", "QDA", "LDA", "logistic"}
    call("predict", folder / "model.skops", folder / "test.csv", "-o", folder / "p.csv", "--abstain-below", "0.3")
    table, truth = pd.read_csv(folder / "p.csv"), pd.read_csv(folder / "test.csv")["label"]
    ours = results["methods"]["optiscore"]
    assert ours["accuracy"][0] == pytest.approx((table["predicted"] == truth).mean())
    assert ours["coverage"][0] == pytest.approx(1 - table["abstain"].mean())
    for value, low, high in (ours["accuracy"], ours["log loss"], ours["AUC"]):
        assert low <= value <= high
    assert "95 % intervals" in call("evaluate", folder / "model.skops", folder / "test.csv")[1]


def test_cross_validated_radii_and_settings(folder, tmp_path):
    for options in (
        ["--cv"],
        ["--radius", "0.2", "--rule", "tuned"],
        ["--likelihood", "nonparametric", "--radius", "empirical"],
    ):
        assert call("fit", folder / "train.csv", "-t", "label", "-o", tmp_path / "m", "-q", *options)[0] == 0
    assert TableModel.load(str(tmp_path / "m")).pipeline[-1].get_params()["likelihood"] == "nonparametric"


def test_empty_cells_of_a_lone_column_are_rows(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i},{'ab'[i > 9]}\n" for i in range(20)))
    assert call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "-q")[0] == 0
    (tmp_path / "p.csv").write_text("x\n1.0\n\n2.0\n\n3.0\n")
    assert call("predict", tmp_path / "m", tmp_path / "p.csv", "-o", tmp_path / "out.csv")[0] == 0
    assert len(pd.read_csv(tmp_path / "out.csv")) == 5


def test_names_and_labels_of_any_kind(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.choice(["[/b]", "<!--<script>", "007", "7"], size=120)
    frame = pd.DataFrame({"len [/mm]": rng.normal(size=120), "[red]": rng.normal(size=120), "y": labels})
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m")
    assert code == 0, err
    assert "len [/mm]" in out
    assert "[/b]" in out
    assert TableModel.load(str(tmp_path / "m")).pipeline.classes_.tolist() == sorted(
        {"[/b]", "<!--<script>", "007", "7"}
    )
    assert call("report", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "r.html")[0] == 0
    data = re.search(r"const data = (.*);\n", (tmp_path / "r.html").read_text(encoding="utf-8")).group(1)
    assert "<" not in data
    frame[frame["y"].isin(["007", "7"])].to_csv(tmp_path / "part.csv", index=False)
    assert call("evaluate", tmp_path / "m", tmp_path / "part.csv")[0] == 0


def test_baselines_get_encodings_that_are_cross_fitted(tmp_path):
    """A useless column with many values must not spoil the others."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1200)
    frame = pd.DataFrame(
        {"x": rng.normal(size=1200) + y, "id": [f"id {i}" for i in rng.integers(300, size=1200)], "y": y}
    )
    frame[:600].to_csv(tmp_path / "train.csv", index=False)
    frame[600:].to_csv(tmp_path / "test.csv", index=False)
    assert call("fit", tmp_path / "train.csv", "-t", "y", "-o", tmp_path / "m", "-q")[0] == 0
    methods = json.loads(call("evaluate", tmp_path / "m", tmp_path / "test.csv", "--json")[1])["methods"]
    assert all(method["accuracy"][0] > 0.62 for method in methods.values())


def test_help_and_completion():
    for arguments in (["--help"], ["fit", "--help"], ["predict", "--help"], ["report", "--help"]):
        code, out, _ = call(*arguments)
        assert code == 0
        assert "optiscore" in out
    assert "--install-completion" in call("--help")[1]


def test_plane(folder):
    model = TableModel.load(str(folder / "model.skops")).pipeline[-1]
    plane = discriminant_plane(model)
    grid = np.random.default_rng(0).normal(size=(5, 2))
    np.testing.assert_allclose(plane.project(plane.points(grid)), grid, atol=1e-8)


def test_example(tmp_path):
    code, out, _ = call("example", "-o", tmp_path)
    assert code == 0
    assert [Path(line).name for line in out.split()] == ["train.csv", "test.csv"]
    assert read_table(str(tmp_path / "train.csv")).num_rows == 426

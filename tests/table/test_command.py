"""The command on tables: formats, columns of every kind, streams, settings, and what it prints."""

import gzip
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import call, mixed_frame, posix_only

from optiscore.files.states import from_states, to_states
from optiscore.table.page import discriminant_coordinates
from optiscore.table.seen_rows import SeenRows
from optiscore.table.table_model import TableModel
from optiscore.table.tables import estimate_rows, read_blocks, read_table


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
    assert 0.6 < facts["accuracy"][0] <= 1
    code, out, _ = call("inspect", folder / "model.skops")
    assert "how often each class goes with the value" in out


def test_what_predictions_hold(folder):
    out = folder / "predictions.csv"
    call("predict", folder / "moderated.skops", folder / "test.csv", "-o", out, "--interval", "0.9", "--keep", "street")
    table = pd.read_csv(out, keep_default_na=False)
    measures = ["probability", "stability", "typicality"]
    interval = ["nominal probability", "interval from", "interval to"]
    assert table.columns.tolist() == ["street", "predicted", *measures, *interval, "abstain", "reason"]
    assert table["street"].tolist() == pd.read_csv(folder / "test.csv")["street"].tolist()
    assert ((table["abstain"]) == (table["reason"] != "")).all()
    assert (table["interval from"] <= table["nominal probability"]).all()
    assert (table["nominal probability"] <= table["interval to"]).all()
    by_probability = table["probability"] < 0.65
    assert (table.loc[by_probability, "reason"] == "too uncertain").all()
    by_evidence = ~by_probability & (table["stability"] < 0.75)
    assert by_evidence.any()
    assert (table.loc[by_evidence, "reason"] == "too little evidence").all()


def test_worst_case_predictions(folder):
    out = folder / "predictions.csv"
    arguments = "predict", folder / "optimistic.skops", folder / "test.csv", "-o", out, "--abstain-below", "0.5"
    code, _, err = call(*arguments)
    assert code == 0
    assert "certified factor below 0.5" in err
    table = pd.read_csv(out)
    assert len(table) == 120
    assert set(table["predicted"]) <= {"yes", "no"}
    assert (table["abstain"] == (table["certified factor"] < 0.5)).all()
    assert (table["lower yes"] <= table["upper yes"]).all()
    single = ~table["undominated"].str.contains("|", regex=False)
    assert (single == (table["certified factor"] > 1)).mean() > 0.95
    assert "no intervals" in call(*arguments, "--interval", "0.9")[2]


def test_abstention_speaks_of_one_measure_and_says_of_which(folder):
    out = folder / "p.csv"

    def predict(*limits):
        options = [word for limit in limits for word in ("--abstain-below", limit)]
        code, _, err = call("predict", folder / "moderated.skops", folder / "test.csv", "-o", out, *options)
        assert code == 0, err
        return pd.read_csv(out, keep_default_na=False), err

    table, err = predict("0.9", "stability=0", "typicality=0")
    assert "(probability below 0.9 or stability below 0 or typicality below 0; --abstain-below)" in err
    assert (table["abstain"] == (table["probability"] < 0.9)).all()
    table, _ = predict("stability=0.99", "prob=0", "typ=0")
    assert (table["abstain"] == (table["stability"] < 0.99)).all()
    table, err = predict("typicality=0.5", "probability=0", "stab=0")
    assert (table["abstain"] == (table["typicality"] < 0.5)).all()
    assert f"{table['abstain'].sum()} rows abstain: {table['abstain'].sum()} unlike the training rows" in err


def test_probabilities_of_all_classes(folder):
    out = folder / "p.csv"
    code, printed, _ = call(
        "predict", folder / "model.skops", folder / "test.csv", "-o", out, "--all-probabilities", "--json"
    )
    assert code == 0
    table, told = pd.read_csv(out), json.loads(printed)
    np.testing.assert_allclose(table["probability no"] + table["probability yes"], 1)
    np.testing.assert_allclose(table[["probability no", "probability yes"]].max(axis=1), table["probability"])
    assert told["rows"] == 120
    assert told["predicted"] == table["predicted"].value_counts().sort_index().to_dict()


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


def test_standard_streams(folder):
    command = [
        sys.executable,
        "-c",
        "from optiscore.table import main; main()",
        "predict",
        str(folder / "model.skops"),
        "-",
    ]
    content = (folder / "test.csv").read_bytes()
    plain, compressed = (
        subprocess.run(command, input=data, capture_output=True, check=True).stdout
        for data in (content, gzip.compress(content))
    )
    assert plain == compressed
    assert plain.count(b"\n") == 121


def test_blocks_are_the_whole(folder, monkeypatch, tmp_path):
    from optiscore.table import tables

    monkeypatch.setattr(tables, "_BLOCK_BYTES", 2000)
    assert len(list(read_blocks(str(folder / "test.csv")))) > 3
    call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "blocks.csv")
    monkeypatch.undo()
    call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "whole.csv")
    # Products of matrices of other sizes are rounded otherwise.
    pd.testing.assert_frame_equal(*(pd.read_csv(tmp_path / f"{name}.csv") for name in ("blocks", "whole")), rtol=1e-9)


def test_estimated_rows(tmp_path):
    frame = pd.concat([mixed_frame(500, seed=i) for i in range(40)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    assert estimate_rows(str(tmp_path / "t.csv")) == pytest.approx(20_000, rel=0.02)
    assert estimate_rows(str(tmp_path / "t.parquet")) == 20_000
    assert estimate_rows("-") is None


@pytest.mark.parametrize("model", ["moderated", "optimistic"])
def test_evaluate(folder, model):
    path, limit = folder / f"{model}.skops", ("--abstain-below", "0.3" if model == "optimistic" else "0.8")
    code, out, err = call("evaluate", path, folder / "test.csv", "--json", *limit)
    assert code == 0, err
    results = json.loads(out)
    assert results["rows"] == 120
    assert set(results["methods"]) == {"optiscore", "QDA", "LDA", "logistic regression"}
    call("predict", path, folder / "test.csv", "-o", folder / "p.csv", *limit)
    table, truth = pd.read_csv(folder / "p.csv"), pd.read_csv(folder / "test.csv")["label"]
    ours, right = results["methods"]["optiscore"], table["predicted"] == truth
    assert ours["accuracy"][0] == pytest.approx(right.mean())
    assert results["coverage"] == pytest.approx(1 - table["abstain"].mean())
    assert results["decided"]["right"] == right[~table["abstain"]].sum()
    assert results["recall"]["yes"]["right"] == right[truth == "yes"].sum()
    assert results["majority"]["label"] in ("yes", "no")
    for value, low, high in (ours["accuracy"], ours["log loss"], ours["AUC"]):
        assert low <= value <= high
    assert "95 % intervals" in (printed := call("evaluate", path, folder / "test.csv")[1])
    assert "Always answering" in printed
    assert call("evaluate", path, folder / "test.csv", "--quiet")[1:] == ("", "")


def test_rows_without_labels(folder, tmp_path):
    test = mixed_frame(120, seed=2)
    for rows in (test.drop(columns="label"), test.assign(label=None)):
        rows.to_csv(tmp_path / "new.csv", index=False)
        code, out, err = call("evaluate", folder / "moderated.skops", tmp_path / "new.csv", "--json")
        assert code == 0, err
        results = json.loads(out)
        assert results["labelled"] is False
        assert "methods" not in results
        assert "Accuracy cannot be known without labels" in results["verdict"]["reason"]
        assert results["verdict"]["answer"] == "only"
        assert call("evaluate", folder / "moderated.skops", tmp_path / "new.csv")[0] == 0
    moved = test.drop(columns="label").assign(length=test["length"] + 2)
    moved.to_csv(tmp_path / "moved.csv", index=False)
    results = json.loads(call("evaluate", folder / "moderated.skops", tmp_path / "moved.csv", "--json")[1])
    assert results["verdict"]["answer"] == "no"
    assert "column 'length' (larger by" in results["verdict"]["reason"]


def test_labels_that_are_all_not_a_number_are_none(folder, tmp_path):
    """A column of NaN, which a Parquet file holds without a null."""
    table = pa.Table.from_pandas(mixed_frame(60, seed=2).drop(columns="label"), preserve_index=False)
    pq.write_table(table.append_column("label", pa.array(np.full(60, np.nan))), tmp_path / "t.parquet")
    results = json.loads(call("evaluate", folder / "moderated.skops", tmp_path / "t.parquet", "--json")[1])
    assert (results["rows"], results["labelled"]) == (60, False)


def test_some_rows_without_labels_are_left_out(folder, tmp_path):
    test = pd.read_csv(folder / "test.csv")
    test.loc[:9, "label"] = None
    test.to_csv(tmp_path / "some.csv", index=False)
    assert json.loads(call("evaluate", folder / "moderated.skops", tmp_path / "some.csv", "--json")[1])["rows"] == 110
    assert "left out: 10 rows without a label" in call("evaluate", folder / "moderated.skops", tmp_path / "some.csv")[1]


def test_cross_validated_radii_and_settings(folder, tmp_path):
    for options in (
        ["--cv"],
        ["--radius", "0.2", "--rule", "tuned", "--pooling", "0.5", "--priors", "equal"],
        ["--likelihood", "nonparametric", "--radius", "empirical"],
    ):
        arguments = ["-t", "label", "-o", tmp_path / "m", "-q", "--model", "optimistic", *options]
        assert call("fit", folder / "train.csv", *arguments)[0] == 0
    assert TableModel.load(str(tmp_path / "m")).pipeline[-1].get_params()["likelihood"] == "nonparametric"
    options = ["--covariance", "shared", "--priors", "yes=0.2,no=0.8"]
    assert call("fit", folder / "train.csv", "-t", "label", "-o", tmp_path / "m", "-q", *options)[0] == 0
    model = TableModel.load(str(tmp_path / "m"))
    assert (model.kind, model.classifier.covariance) == ("moderated", "shared")
    assert model.classifier.priors_.tolist() == [0.8, 0.2]


def test_the_default_model_is_the_best_of_those_that_were_tried(tmp_path):
    """A ring around a blob is for kernels; two Gaussian classes are for discriminant analysis."""
    rng = np.random.default_rng(0)
    angle, y = rng.uniform(0, 2 * np.pi, 240), np.arange(240) % 2
    radius = np.where(y, 3, 0.5) + 0.3 * rng.normal(size=240)
    ring = pd.DataFrame({"a": radius * np.cos(angle) * np.sign(np.sin(3 * angle)), "b": radius * np.sin(angle), "y": y})
    blobs = pd.DataFrame(rng.normal(size=(240, 2)) + y[:, None], columns=["a", "b"]).assign(y=y)
    for frame, kind in ((ring, "kernel"), (blobs, "moderated")):
        frame.to_csv(tmp_path / "t.csv", index=False)
        code, out, err = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--json")
        assert code == 0, err
        facts = json.loads(out)
        losses = {row["model"]: row["log loss"] for row in facts["compared"]}
        assert set(losses) == {"moderated", "kernel"}
        assert facts["model"] == min(losses, key=losses.get)
        assert facts["model"].startswith(kind)
        assert "its log loss is smaller" in facts["why"] or "it assumes less" in facts["why"]
        assert facts["holds training rows"] == (kind == "kernel")
        assert ("holds training rows" in " ".join(facts["remarks"])) == (kind == "kernel")
    ring.to_csv(tmp_path / "t.csv", index=False)
    code, out, _ = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--json", "--no-rows")
    assert json.loads(out)["model"].startswith("moderated")


def test_empty_cells_of_a_lone_column_are_rows(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i}.5,{'ab'[i > 9]}\n" for i in range(20)))
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


@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_plane_shows_groups_apart(n_groups):
    rng = np.random.default_rng(0)
    groups = rng.integers(n_groups, size=300)
    X = rng.normal(size=(300, 6)) * [1, 1, 1, 100, 1, 0]
    X[:, 4] += 8 * groups
    coordinates = discriminant_coordinates(X, groups)
    assert coordinates.shape == (300, 2)
    assert np.isfinite(coordinates).all()
    if n_groups > 1:
        assert abs(np.corrcoef(coordinates[:, 0], groups)[0, 1]) > 0.95


def test_example(tmp_path):
    code, out, _ = call("example", "-o", tmp_path)
    assert code == 0
    assert [Path(line).name for line in out.split()] == ["train.csv", "test.csv"]
    assert call("example", "-o", tmp_path, "--force", "--quiet")[1] == ""
    assert json.loads(call("example", "-o", tmp_path, "--force", "--json")[1]) == out.split()
    assert read_table(str(tmp_path / "train.csv")).num_rows == 426


def test_example_takes_no_file_away(tmp_path):
    own = tmp_path / "test.csv"
    own.write_text("mine")
    code, _, error = call("example", "-o", tmp_path)
    assert code == 1
    assert "test.csv' is there already" in error
    assert own.read_text() == "mine"
    assert not (tmp_path / "train.csv").exists()


def test_split(tmp_path):
    """Every row goes to one of two tables as it is, with the same fraction of every label."""
    n = 400
    frame = pd.DataFrame({"x": np.arange(n).astype(str), "y": np.repeat(["a", "b"], [n - 40, 40])})
    frame.loc[0, "x"] = "1,5"
    frame.to_csv(tmp_path / "table.csv", index=False, sep=";")
    code, out, _ = call("split", tmp_path / "table.csv", "-t", "y", "-o", tmp_path)
    assert code == 0
    train, test = (pd.read_csv(path, dtype=str) for path in out.split())
    assert [Path(path).name for path in out.split()] == ["table_train.csv", "table_test.csv"]
    assert sorted([*train["x"], *test["x"]]) == sorted(frame["x"])
    assert len(test) == n // 4
    assert 9 <= (test["y"] == "b").sum() <= 11
    assert 100 < np.median(test["x"][test["x"] != "1,5"].astype(float)) < 300
    assert call("split", tmp_path / "table.csv", "-t", "y", "-o", tmp_path)[0] == 1
    assert not list(tmp_path.glob(".*"))
    assert call("split", tmp_path / "table.csv", "-t", "z", "-o", tmp_path, "--force")[0] == 1
    assert call("split", tmp_path / "table.csv", "-t", "y", "-o", tmp_path, "--force", "--test-size", "2")[0] == 2


def test_split_leaves_rows_of_every_label_to_train_on(tmp_path):
    labels = ["a"] * 30 + ["b"] * 3 + ["c"] * 2 + ["d"]
    frame = pd.DataFrame({"x": np.arange(36), "y": labels})
    frame.to_csv(tmp_path / "2024.06.table.csv", index=False)
    code, out, error = call("split", tmp_path / "2024.06.table.csv", "-t", "y", "-o", tmp_path, "--test-size", "0.9")
    assert code == 0
    assert "labels of one row only, which cannot be trained on: 'd'" in error
    assert [Path(path).name for path in out.split()] == ["2024.06.table_train.csv", "2024.06.table_test.csv"]
    train = pd.read_csv(out.split()[0])
    assert train["y"].value_counts().to_dict() == {"a": 3, "b": 2, "c": 2, "d": 1}
    frame[33:].to_csv(tmp_path / "few.csv", index=False)
    code, _, error = call("split", tmp_path / "few.csv", "-t", "y", "-o", tmp_path)
    assert (code, "too few rows to be cut" in error) == (1, True)
    assert not list(tmp_path.glob("few_*"))
    frame.to_csv(tmp_path / "t.dat", index=False)
    assert "no known suffix" in call("split", tmp_path / "t.dat", "-t", "y", "-o", tmp_path)[2]


def test_training_rows_are_recognised(tmp_path):
    """In any order; other rows of the same table are not taken for them."""
    assert call("example", "-o", tmp_path, "--quiet")[0] == 0
    train = pd.read_csv(tmp_path / "train.csv")
    train.sample(frac=1, random_state=0).to_csv(tmp_path / "again.csv", index=False)
    model = tmp_path / "model.skops"
    assert call("fit", tmp_path / "train.csv", "-t", "diagnosis", "-o", model, "--model", "moderated", "-q")[0] == 0
    assert "No answer yet: these are the training rows." in call("evaluate", model, tmp_path / "again.csv")[1]
    assert "training rows." not in call("evaluate", model, tmp_path / "test.csv")[1]
    both = pd.concat([train, pd.read_csv(tmp_path / "test.csv")])
    both.to_csv(tmp_path / "both.csv", index=False)
    assert "No answer yet: 426 of 569 rows are training rows." in call("evaluate", model, tmp_path / "both.csv")[1]


def test_rows_that_look_like_training_rows():
    """Equally many other rows are none; copies within the training rows are no sign; a sample tells about all."""
    rng = np.random.default_rng(0)
    text = pd.DataFrame({"words": [f"row {i}" for i in range(600)]})
    assert SeenRows.from_frame(text[:300], 300).count(text[300:]) == 0
    assert SeenRows.from_frame(text[:300], 300).count(text[150:450]) == 150
    codes = pd.DataFrame(rng.integers(0, 4, size=(1000, 3)))
    assert SeenRows.from_frame(codes[:500], 500).count(codes[500:]) == 0
    numbers = pd.DataFrame(rng.normal(size=(20_000, 2)))
    seen = SeenRows.from_frame(numbers[:10_000].sample(1_000, random_state=0), 10_000)
    assert seen.count(numbers[:10_000]) == 10_000
    assert seen.count(numbers[10_000:]) == 0
    assert 4_000 < seen.count(numbers[5_000:15_000].iloc[::-1]) < 6_000
    assert seen.count(numbers[:0]) == 0


def test_hashes_that_were_lost_or_added_are_noticed():
    state = to_states(SeenRows.from_frame(pd.DataFrame({"a": range(5)}), 5))
    assert np.array_equal(from_states(state).hashes, state["hashes"])
    for hashes in (state["hashes"][:-1], state["hashes"][::-1], np.append(state["hashes"], state["hashes"][-1])):
        with pytest.raises(ValueError, match=r"must be 5 to go with|increasing order|must be 6|must be 4"):
            from_states({**state, "hashes": hashes})


@posix_only
def test_links_are_followed_and_pipes_written_to(folder, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "page.html").symlink_to(tmp_path / "real" / "page.html")
    arguments = ["report", folder / "moderated.skops", folder / "test.csv", "-q", "-o"]
    assert call(*arguments, tmp_path / "page.html")[0] == 0
    assert (tmp_path / "page.html").is_symlink()
    assert (tmp_path / "real" / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit((tmp_path / "pipe").read_bytes)
        assert call(*arguments, tmp_path / "pipe")[0] == 0
        assert read.result().startswith(b"<!doctype html>")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("command", ["fit", "report"])
def test_standard_output_is_no_file(folder, command):
    arguments = {"fit": ["fit", folder / "train.csv", "-t", "label"], "report": ["report", folder / "m", folder / "t"]}
    code, _, error = call(*arguments[command], "-o", "-")
    assert (code, "--out must name a file" in error) == (1, True)

"""Training on tables that memory shall not hold: the model of all rows, from two passes over blocks."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from command import call, mixed_frame, posix_only

from optiscore.table import survey, tables
from optiscore.table.table_model import TableModel


@pytest.fixture
def small_memory(monkeypatch):
    """Blocks of some rows, and hardly any memory."""
    monkeypatch.setattr(tables, "_BLOCK_ROWS", 200)
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 8 * 1024)
    monkeypatch.setattr(survey, "_IN_MEMORY_BYTES", 40_000)
    monkeypatch.setattr(survey, "_SAMPLE_ROWS", 100)


def numeric_frame(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 3)) * (1 + 0.3 * y)[:, None] + y[:, None]
    return pd.DataFrame(X, columns=list("abc")).assign(label=np.array(["ash", "birch", "cedar"])[y])


def fit(path, model, *options):
    return call("fit", path, "-t", "label", "-o", model, "--json", *options)


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_moments_are_those_of_all_rows(small_memory, tmp_path, suffix):
    frame, path = numeric_frame(), tmp_path / f"t.{suffix}"
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    code, out, err = fit(path, tmp_path / "m", "--model", "optimistic")
    assert code == 0, err
    facts = json.loads(out)
    assert facts["rows"] == 2000
    assert facts["rows of the sample for encodings and accuracy"] == 100
    assert {row["label"]: row["rows"] for row in facts["classes"]} == frame["label"].value_counts().to_dict()
    model = TableModel.load(str(tmp_path / "m")).pipeline[-1]
    for label, mean, prior in zip(model.classes_, model.means_, model.priors_, strict=True):
        rows = frame.loc[frame["label"] == label, list("abc")]
        np.testing.assert_allclose(mean, rows.mean(), rtol=1e-10)
        assert prior == pytest.approx(len(rows) / len(frame))


def test_the_same_model_as_from_memory_where_encodings_do_not_matter(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    numeric_frame().to_csv(path, index=False)
    assert fit(path, tmp_path / "whole", "--model", "optimistic")[0] == 0
    monkeypatch.setattr(tables, "_BLOCK_BYTES", 8 * 1024)
    monkeypatch.setattr(survey, "_IN_MEMORY_BYTES", 40_000)
    monkeypatch.setattr(survey, "_SAMPLE_ROWS", 100)
    assert fit(path, tmp_path / "blocks", "--model", "optimistic")[0] == 0
    whole, blocks = (TableModel.load(str(tmp_path / name)) for name in ("whole", "blocks"))
    assert whole.n_sampled is None
    assert blocks.n_sampled == 100
    for name in ("means_", "covariances_", "radii_", "priors_"):
        one, other = getattr(whole.classifier, name), getattr(blocks.classifier, name)
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def test_in_blocks_the_moderated_model_is_trained_behind_the_map_of_the_sample(small_memory, tmp_path):
    frame = numeric_frame()
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = fit(tmp_path / "t.csv", tmp_path / "m")
    assert code == 0, err
    assert json.loads(out)["model"] == "moderated"
    model = TableModel.load(str(tmp_path / "m")).classifier
    np.testing.assert_array_equal(model.class_count_, frame["label"].value_counts().sort_index())
    mapped = model.feature_map_.transform(frame[list("abc")].to_numpy())
    for label, mean in zip(model.classes_, model.means_, strict=True):
        np.testing.assert_allclose(mean, mapped[frame["label"] == label].mean(axis=0), rtol=1e-9, atol=1e-12)
    assert (model.predict(frame[list("abc")].to_numpy()) == frame["label"]).mean() > 0.6


def test_columns_of_every_kind_and_the_rest_of_the_command(small_memory, tmp_path):
    mixed_frame(3000).to_csv(tmp_path / "train.csv", index=False)
    mixed_frame(200, seed=1).to_csv(tmp_path / "test.csv", index=False)
    code, out, err = fit(tmp_path / "train.csv", tmp_path / "m")
    assert code == 0, err
    kinds = {column["name"]: column["kind"] for column in json.loads(out)["columns"]}
    assert kinds["street"] == "text"
    assert kinds["since"] == "date"
    assert kinds["same"] == "constant"
    for command in ("evaluate", "report"):
        where = ["-o", tmp_path / "page.html"] if command == "report" else ["--json"]
        assert call(command, tmp_path / "m", tmp_path / "test.csv", *where)[0] == 0
    code, out, _ = call("evaluate", tmp_path / "m", tmp_path / "test.csv", "--json")
    assert json.loads(out)["methods"]["optiscore"]["accuracy"][0] > 0.6
    assert "random rows, text without cross-fitting" in " ".join(call("inspect", tmp_path / "m")[1].split())


def test_a_column_is_what_it_is_in_all_rows(small_memory, tmp_path):
    """Numbers in all but the last row, and a label that only late rows have."""
    frame = numeric_frame().round(2).astype({"a": object})
    frame.loc[1999, "a"] = "none of these"
    frame.loc[1990:, "label"] = "yew"
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = fit(tmp_path / "t.csv", tmp_path / "m")
    assert code == 0, err
    facts = json.loads(out)
    assert {column["name"]: column["kind"] for column in facts["columns"]} == {
        "a": "text",
        "b": "number",
        "c": "number",
    }
    assert {row["label"]: row["rows"] for row in facts["classes"]}["yew"] == 10


def test_wide_rows_make_a_smaller_sample(monkeypatch, tmp_path):
    monkeypatch.setattr(tables, "_BLOCK_ROWS", 100)
    monkeypatch.setattr(survey, "_IN_MEMORY_BYTES", 400_000)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(2000, 100)), columns=[f"x{j}" for j in range(100)])
    frame.assign(label=rng.integers(2, size=2000)).to_parquet(tmp_path / "t.parquet")
    found = survey.survey_table(str(tmp_path / "t.parquet"), "label", may_sample=True, seed=0, advance=lambda _: None)
    assert not found.is_whole
    assert found.table.num_rows >= 40
    assert found.table.nbytes < 200_000


def test_labels_spelled_as_decimals_and_labels_that_are_not_numbers(small_memory, tmp_path):
    frame = numeric_frame()
    frame["label"] = (frame["label"] == "ash").astype(float)
    frame.loc[5, "label"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name, labels in (("t.csv", [0, 1]), ("t.parquet", [0, 1])):
        code, out, err = fit(tmp_path / name, tmp_path / "m")
        assert code == 0, err
        facts = json.loads(out)
        assert [row["label"] for row in facts["classes"]] == labels
        assert facts["rows without label"] == 1


def test_dates_that_no_sampled_row_has(small_memory, tmp_path):
    frame = numeric_frame().assign(since=None)
    frame.loc[1995:, "since"] = ["2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01", "2020-05-01"]
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, _, err = fit(tmp_path / "t.csv", tmp_path / "m")
    assert code == 0, err
    assert call("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.csv")[0] == 0


def test_what_only_later_blocks_show(small_memory, tmp_path):
    """A column that is constant in the first blocks, and cells that are missing in some."""
    frame = numeric_frame().assign(late=0.0)
    frame.loc[1000:, "late"] = np.arange(1000)
    frame.loc[[3, 900, 1900], "b"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, out, err = fit(tmp_path / "t.csv", tmp_path / "m")
    assert code == 0, err
    columns = {column["name"]: column for column in json.loads(out)["columns"]}
    assert columns["late"]["kind"] == "number"
    assert columns["b"]["missing"] == 3


@posix_only
def test_what_can_be_read_once_only_is_read_whole(small_memory, tmp_path):
    numeric_frame().to_csv(tmp_path / "t.csv", index=False)
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cp", str(tmp_path / "t.csv"), str(tmp_path / "pipe")]):
        code, out, err = fit(tmp_path / "pipe", tmp_path / "m", "--no-rows")
    assert code == 0, err
    assert json.loads(out)["rows"] == 2000
    assert json.loads(out)["rows of the sample for encodings and accuracy"] is None


def test_settings_are_checked_before_anything_is_read(tmp_path):
    code, _, err = fit(tmp_path / "no such table.csv", tmp_path / "m", "--model", "optimistic", "--likelihood", "best")
    assert code == 1
    assert "likelihood must be one of" in err


@pytest.mark.parametrize("options", [["--rule", "tuned"], ["--radius", "empirical"], ["--cv"]])
def test_settings_that_need_all_rows_read_all_rows(small_memory, tmp_path, options):
    numeric_frame(600).to_csv(tmp_path / "t.csv", index=False)
    code, out, err = fit(tmp_path / "t.csv", tmp_path / "m", "--model", "optimistic", *options)
    assert code == 0, err
    assert json.loads(out)["rows of the sample for encodings and accuracy"] is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.assign(label="one"), "at least two classes"),
        (lambda frame: frame.assign(label=[f"{i}" for i in range(len(frame))]), "looks continuous"),
        (lambda frame: frame.assign(label=[f"no {i}" for i in range(len(frame))]), "too many for classes"),
        (lambda frame: frame.assign(label=None), "no row with a label"),
        (
            lambda frame: frame.assign(label=np.where(np.arange(len(frame)) == 1500, "lone", frame["label"])),
            "one row only",
        ),
        (lambda frame: frame[["label"]], "has no column but"),
    ],
)
def test_bad_tables_are_explained_and_leave_nothing_behind(small_memory, tmp_path, change, words):
    change(numeric_frame()).to_csv(tmp_path / "t.csv", index=False)
    code, _, err = fit(tmp_path / "t.csv", tmp_path / "m")
    assert code == 1
    assert words in err
    assert not (tmp_path / "m").exists()


def test_the_sample_is_random_and_repeatable(small_memory, monkeypatch, tmp_path):
    monkeypatch.setattr(survey, "_FEWEST_OF_A_CLASS", 2)
    frame = numeric_frame().sort_values("a")
    frame.to_csv(tmp_path / "t.csv", index=False)

    def sample(seed):
        found = survey.survey_table(
            str(tmp_path / "t.csv"), "label", may_sample=True, seed=seed, advance=lambda _: None
        )
        return np.sort(np.array(found.table["a"].to_pylist(), dtype=float))

    assert (sample(0) == sample(0)).all()
    assert (sample(0) != sample(1)).any()
    assert abs(sample(0).mean() - frame["a"].mean()) < 4 * frame["a"].std() / np.sqrt(100)

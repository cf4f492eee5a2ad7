"""The command on bad input: one line that says what is wrong, no half-made file, and whatever a fuzzer finds."""

import gzip
import re

import pandas as pd
import pytest
from command import call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("a,label\n", "has no rows"),
        ("a,label\n1,x\n2,y\n3,x\n", "class 'y' of column 'label' has one row only"),
        ("a,label\n1,x\n2,x\n3,x\n", "at least two classes"),
        ("a,lable\n1,x\n2,y\n", "no column 'label'. Did you mean 'lable'"),
        ("a,label\n1\n2,y\n", "Expected 2 columns, got 1"),
        ("label\nx\ny\nx\ny\n", "no column but 'label'"),
        ("a,a,label\n1,2,x\n", "more than one column called 'a'"),
        ("a,label\n" + "1,x\n" * 5 + "1,y\n" * 5, "all are constant"),
        (
            "a,label\n" + "".join(f"{i},{i / 7}\n" for i in range(50)),
            "looks continuous (50 distinct numbers in 50 rows)",
        ),
        ("a,label\n" + "".join(f"{i},no {i}\n" for i in range(50)), "too many for classes"),
        ("a,label\n1e200,x\n2,x\n3,y\n4,y\n", "beyond 1e100"),
    ],
)
def test_bad_training_tables(tmp_path, content, message):
    (tmp_path / "t.csv").write_text(content)
    code, _, err = call("fit", tmp_path / "t.csv", "--target", "label", "-o", tmp_path / "m")
    assert code == 1
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_bad_tables_at_predict_time(folder, tmp_path):
    good = pd.read_csv(folder / "test.csv")
    for change, message in (
        (lambda f: f.rename(columns={"length": "lenght"}), "no column 'length'. Did you mean 'lenght'"),
        (
            lambda f: f.assign(count=["three", *f["count"][1:]]),
            "column 'count' was a number in training; the value 'three'",
        ),
        (lambda f: f.assign(since="soon"), "column 'since' was a date in training"),
    ):
        change(good).to_csv(tmp_path / "t.csv", index=False)
        code, _, err = call("predict", folder / "model.skops", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
        assert code == 1
        assert message in err
        assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
    good.assign(label="maybe").to_csv(tmp_path / "t.csv", index=False)
    assert (
        "the label 'maybe', which the model does not know"
        in call("evaluate", folder / "model.skops", tmp_path / "t.csv")[2]
    )
    good.assign(colour="green", street="new").to_csv(tmp_path / "t.csv", index=False)
    assert call("predict", folder / "model.skops", tmp_path / "t.csv", "-o", tmp_path / "p.csv")[0] == 0


def test_bad_files(folder, tmp_path):
    frame = pd.read_csv(folder / "test.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    (tmp_path / "t.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((folder / "test.csv").read_bytes())[:200])
    (tmp_path / "latin.csv").write_bytes("größe,label\n1,x\n".encode("latin-1"))
    for name in ("t.parquet", "t.csv.gz", "latin.csv", "absent.csv", "."):
        code, _, err = call("predict", folder / "model.skops", tmp_path / name, "-o", tmp_path / "p.csv")
        assert (code, err.count("\n")) == (1, 1), (name, err)
        assert not (tmp_path / "p.csv").exists()
    code, _, err = call("predict", folder / "test.csv", folder / "test.csv", "-o", tmp_path / "p.csv")
    assert "pickle files are never opened" in err
    assert (
        call(
            "fit",
            folder / "train.csv",
            "-t",
            "label",
            "-o",
            tmp_path / "m",
            "--model",
            "optimistic",
            "--likelihood",
            "gamma",
        )[0]
        == 1
    )
    assert call("fit", folder / "train.csv")[0] == 2


def test_outputs_that_cannot_be(folder, tmp_path):
    (tmp_path / "sub").mkdir()
    for out, message in ((tmp_path / "sub", "is a folder"), (tmp_path / "x.xlsx", "no known suffix")):
        code, _, err = call("predict", folder / "model.skops", folder / "test.csv", "-o", out)
        assert code == 1
        assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["sub"]
    assert call("predict", folder / "model.skops", folder / "test.csv", "-o", tmp_path / "sub" / "x.csv.gz")[0] == 0
    assert len(pd.read_csv(tmp_path / "sub" / "x.csv.gz")) == 120
    assert call("predict", folder / "model.skops", folder / "test.csv", "-o", "/dev/null")[0] == 0
    assert call("fit", folder / "train.csv", "-t", "label", "-o", tmp_path / "m", "--cv", "--radius", "3")[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "best"], "--model must be auto, moderated, kernel, optimistic"),
        (["--rule", "tuned"], "--rule goes with --model optimistic"),
        (["--model", "kernel", "--priors", "equal"], "--priors goes with --model moderated or --model optimistic"),
        (["--model", "kernel", "--no-rows"], "a kernel model keeps training rows"),
        (["--model", "optimistic", "--cv", "--radius", "3"], "--cv chooses the radii"),
        (["--covariance", "round"], "--covariance must be both, own or shared"),
        (["--priors", "yes=0.5"], "--priors must have a positive number for each of no, yes"),
        (["--priors", "yes=0.5,no=x"], "'no=x' is no probability of a class"),
        (["--priors", "yes,no"], "'yes,no' is no probability of a class"),
        (["--drop", "lenght"], "has no column 'lenght'. Did you mean 'length'"),
        (["--drop", "label"], "is the target"),
        (["--drop", "count", "--id", "count"], "two options that exclude each other"),
        (["--priors", "yes=0.5,yes=0.5,no=0.5"], "is no probability of a class"),
    ],
)
def test_settings_that_do_not_go_together(folder, tmp_path, options, message):
    code, _, err = call("fit", folder / "train.csv", "-t", "label", "-o", tmp_path / "m", *options)
    assert (code, err.count("\n")) == (1, 1), err
    assert message in err
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--abstain-below", "x"], "give a number"),
        (["--abstain-below", "nan"], "give a number"),
        (["--abstain-below", "80"], "give a number from 0 to 1"),
        (["--abstain-below", "typicality=-1"], "give a number from 0 to 1"),
        (["--abstain-below", "factor=1"], "this model has probability, stability, typicality"),
        (["--abstain-below", "=1"], "this model has"),
        (["--keep", "street name"], "has no column 'street name'. Did you mean 'street'"),
    ],
)
def test_wishes_that_predictions_cannot_fulfil(folder, tmp_path, options, message):
    code, _, err = call("predict", folder / "moderated.skops", folder / "test.csv", "-o", tmp_path / "p.csv", *options)
    assert (code, err.count("\n")) == (1, 1), err
    assert message in err
    assert not (tmp_path / "p.csv").exists()
    assert call("predict", folder / "moderated.skops", folder / "test.csv", "--interval", "2")[0] == 2
    assert call("evaluate", folder / "moderated.skops", folder / "test.csv", "--required-accuracy", "0")[0] == 2


CELLS = st.sampled_from(
    [
        "1",
        "-2.5",
        "x",
        "",
        '"',
        "\x00",
        "1e999",
        "nan",
        "inf",
        "a,b",
        '"q"',
        "é",
        "2020-01-01",
        "true",
        "-",
        " ",
        "\t",
        ";",
    ]
)
ROWS = st.lists(st.lists(CELLS, min_size=0, max_size=5), min_size=0, max_size=12)


@given(
    header=st.lists(st.sampled_from(["a", "b", "label", "", "a", '"', "é"]), min_size=0, max_size=5),
    rows=ROWS,
    separator=st.sampled_from([",", ";", "\t"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
    ending=st.sampled_from(["\n", "\r\n", "\r"]),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fuzzed_tables_never_end_in_a_traceback(folder, tmp_path, header, rows, separator, encoding, ending):
    text = ending.join(separator.join(row) for row in [header, *rows])
    source, model, out = tmp_path / "t.csv", tmp_path / "m", tmp_path / "p.csv"
    source.write_bytes(text.encode(encoding))
    for path, arguments in (
        (model, ["fit", source, "--target", "label", "-o", model, "--no-rows"]),
        (out, ["predict", folder / "model.skops", source, "-o", out]),
    ):
        path.unlink(missing_ok=True)
        code, _, err = call(*arguments)
        assert code in (0, 1)
        assert path.exists() == (code == 0)
        assert code == 0 or re.fullmatch(r"optiscore: .+\n", err), err
    assert {p.name for p in tmp_path.iterdir()} <= {"t.csv", "m", "p.csv"}

"""Columns: row numbers and ids, codes and decimal commas, values that are new; and models that are bare."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from command import call

from optiscore import load
from optiscore.table import training
from optiscore.table.evaluation import read_rows
from optiscore.table.table_model import TableModel


def plain_frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(2, size=n))
    return pd.DataFrame({"a": rng.normal(size=n) + y, "b": rng.normal(size=n)}).assign(y=np.array(["no", "yes"])[y])


def fit(frame, tmp_path, *options, **csv):
    frame.to_csv(tmp_path / "t.csv", **{"index": False, **csv})
    kind = () if "--model" in options else ("--model", "moderated")
    code, out, err = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--json", *options, *kind)
    assert code == 0, err
    return json.loads(out)


def kinds(facts):
    return {column["name"]: column["kind"] for column in facts["columns"]}


def test_row_numbers_are_left_out(tmp_path):
    """Rows sorted by their label: their number is the label."""
    frame = plain_frame()
    facts = fit(frame, tmp_path, index=True)
    assert kinds(facts) == {"": "row number", "a": "number", "b": "number"}
    assert facts["accuracy"][0] < 0.85
    frame.index.name = "__index_level_0__"
    assert kinds(fit(frame.reset_index(), tmp_path))["__index_level_0__"] == "row number"
    taken = fit(frame.reset_index(), tmp_path, "--use", "__index_level_0__")
    assert kinds(taken)["__index_level_0__"] == "number"
    assert taken["accuracy"][0] > 0.95


def test_columns_that_are_unique_per_row_are_left_out(tmp_path):
    frame = plain_frame().assign(
        code=[f"patient {i}" for i in range(200)],
        number=np.random.default_rng(0).permutation(200) * 7919,
        when=pd.date_range("2020-01-01", periods=200).strftime("%Y/%m/%d"),
    )
    found = kinds(fit(frame, tmp_path))
    assert found == {"a": "number", "b": "number", "code": "unique", "number": "unique", "when": "date"}
    assert "every row has a value of its own" in call("inspect", tmp_path / "m")[1]


def test_what_the_user_says_of_columns(tmp_path):
    rng = np.random.default_rng(0)
    frame = plain_frame().assign(ward=rng.integers(5, size=200), name=[f"row {i}" for i in range(200)])
    facts = fit(frame, tmp_path, "--drop", "b", "--categorical", "ward", "--id", "name")
    assert kinds(facts) == {"a": "number", "ward": "category", "name": "id", "b": "dropped"}
    assert facts["features"] == 6
    new = frame.drop(columns=["b", "y"]).rename(columns={"a": "a"})
    new.to_csv(tmp_path / "new.csv", index=False)
    assert call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--keep", "ward")[0] == 0
    table = pd.read_csv(tmp_path / "p.csv")
    assert table.columns[:3].tolist() == ["name", "ward", "predicted"]
    assert table["name"].tolist() == frame["name"].tolist()
    new.drop(columns="name").to_csv(tmp_path / "new.csv", index=False)
    code, _, err = call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert code == 1
    assert "has no column 'name'" in err


def test_integers_that_may_be_codes_get_a_hint(tmp_path):
    rng = np.random.default_rng(0)
    frame = plain_frame().assign(ward=rng.integers(5, size=200), flag=rng.integers(2, size=200))
    remarks = " ".join(fit(frame, tmp_path)["remarks"])
    assert "--categorical 'ward'" in remarks
    assert "'flag'" not in remarks


def test_one_level_of_two_is_dropped_and_of_more_none(tmp_path):
    rng = np.random.default_rng(0)
    frame = plain_frame().assign(two=rng.choice(["x", "y"], size=200), three=rng.choice(["x", "y", "z"], size=200))
    assert fit(frame, tmp_path)["features"] == 2 + 1 + 3


def test_values_that_were_not_in_training_are_counted_and_told(tmp_path):
    rng = np.random.default_rng(0)
    frame = plain_frame().assign(colour=rng.choice(["red", "blue", "green"], size=200))
    fit(frame, tmp_path)
    frame.loc[:6, "colour"] = "violet"
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, _, err = call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")
    assert code == 0
    told = "column 'colour': 7 rows with values that were not in training"
    assert told in err
    assert told in call("evaluate", tmp_path / "m", tmp_path / "new.csv")[1]
    assert json.loads(call("evaluate", tmp_path / "m", tmp_path / "new.csv", "--json")[1])["unseen values"] == {
        "colour": 7
    }
    call("report", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "r.html")
    assert "7 rows with values that were not in training" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_decimal_commas(tmp_path):
    frame = plain_frame()
    facts = fit(frame.round(3), tmp_path)
    commas = fit(frame.round(3).assign(a=frame["a"] * 1000), tmp_path, "--decimal", ",", sep=";", decimal=",")
    assert kinds(commas) == kinds(facts) == {"a": "number", "b": "number"}
    assert commas["accuracy"] == facts["accuracy"]
    frame.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    assert "decimal commas need --decimal" in call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m")[2]
    text = pd.DataFrame({"a": ["1.234,5", "-1 000,25", ",5", "2", "3,5e2", None] * 10, "y": ["no", "yes"] * 30})
    text.to_csv(tmp_path / "t.csv", index=False, sep=";")
    assert kinds(fit(text, tmp_path, "--decimal", ",", sep=";")) == {"a": "number"}
    code, _, err = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m", "--decimal", ";")
    assert code == 2
    assert "a point or a comma" in err


def test_what_is_printed_is_what_was_done(tmp_path):
    frame = plain_frame()
    frame.loc[:11, "a"] = np.nan
    done = {column["name"]: column["done"] for column in fit(frame, tmp_path)["columns"]}
    assert done == {
        "a": "power transform, standardised; median for 12 missing",
        "b": "power transform, standardised",
    }


def test_bare_models_speak_up(tmp_path):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame({"a": rng.normal(size=150), "b": rng.normal(size=150)}).assign(
        y=rng.choice(["often", "rare"], size=150, p=[0.9, 0.1])
    )
    remarks = " ".join(fit(noise, tmp_path)["remarks"])
    assert "no better than always answering 'often'" in remarks
    assert "It never predicts 'rare'" in remarks
    printed = call("inspect", tmp_path / "m")[1]
    assert "It never predicts 'rare'" in printed
    pd.concat([noise] * 2).assign(a=lambda rows: rows["a"] + 1e-3).to_csv(tmp_path / "t.csv", index=False)
    results = json.loads(call("evaluate", tmp_path / "m", tmp_path / "t.csv", "--json")[1])
    assert results["never predicted"] == ["rare"]
    assert results["recall"]["rare"]["right"] == 0
    assert results["verdict"]["answer"] == "no"
    assert "never predicted" in call("evaluate", tmp_path / "m", tmp_path / "t.csv")[1]
    wide = pd.DataFrame(rng.normal(size=(60, 12))).assign(y=rng.choice(["no", "yes"], size=60))
    assert "no decision is sure" in " ".join(fit(wide, tmp_path, "--model", "optimistic")["remarks"])


def test_methods_that_cannot_be_trained_are_listed_with_the_reason(tmp_path, monkeypatch):
    """Which data QDA refuses depends on the version of scikit-learn; that it is told must not."""

    class Refusing:
        def fit(self, X, y):
            raise np.linalg.LinAlgError("The covariance of class yes is not full rank. More words.")

    monkeypatch.setattr(training, "quadratic_discriminant", Refusing)
    remarks = fit(plain_frame(), tmp_path)["remarks"]
    told = "The covariance of class yes is not full rank"
    assert f"QDA could not be trained for comparison: {told}." in remarks
    assert f"QDA could not be trained: {told}." in call("evaluate", tmp_path / "m", tmp_path / "t.csv")[1]
    evaluation = json.loads(call("evaluate", tmp_path / "m", tmp_path / "t.csv", "--json")[1])
    assert evaluation["failed methods"] == {"QDA": f"{told}."}
    call("report", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "r.html")
    assert f"QDA could not be trained: {told}." in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "target",
    [np.linspace(0, 1, 200), np.arange(200), np.repeat(np.arange(100), 2) * 10],
    ids=["decimals", "integers", "pairs of integers"],
)
def test_a_continuous_target_is_recognised(tmp_path, target):
    plain_frame().assign(y=target).to_csv(tmp_path / "t.csv", index=False)
    code, _, err = call("fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m")
    assert code == 1
    assert "looks continuous" in err


def test_a_new_value_in_a_column_of_two_is_neither(tmp_path):
    rng = np.random.default_rng(0)
    frame = plain_frame().assign(c=np.where(rng.random(200) < 0.2 + 0.6 * (plain_frame()["y"] == "yes"), "x", "z"))
    fit(frame, tmp_path)
    new = pd.DataFrame({"a": [0.5] * 4, "b": [0.0] * 4, "c": ["x", "z", None, "new"]})
    new.to_csv(tmp_path / "new.csv", index=False)
    call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv", "--all-probabilities")
    first, second, missing, unseen = pd.read_csv(tmp_path / "p.csv")["probability yes"]
    assert missing == unseen
    assert min(first, second) < missing < max(first, second)


def test_columns_that_go_missing_are_named(tmp_path):
    frame = plain_frame(400)
    fit(frame, tmp_path)
    later = plain_frame(150, seed=5)
    later.loc[::3, "b"] = np.nan
    later.to_csv(tmp_path / "new.csv", index=False)
    moved = json.loads(call("evaluate", tmp_path / "m", tmp_path / "new.csv", "--json")[1])["drift"]["columns"]
    assert ("b", "missing more often") in {(each["column"], each["words"]) for each in moved}


def test_tables_of_text_alone(tmp_path):
    """Nothing but missing cells is watched there."""
    rng = np.random.default_rng(0)
    words = np.array([f"word {i}" for i in range(60)])
    frame = pd.DataFrame({"t": words[rng.integers(60, size=300)], "y": rng.choice(["no", "yes"], size=300)})
    fit(frame, tmp_path)
    frame.drop(columns="y").assign(t=None).to_csv(tmp_path / "new.csv", index=False)
    results = json.loads(call("evaluate", tmp_path / "m", tmp_path / "new.csv", "--json")[1])
    assert results["verdict"]["answer"] == "no"
    assert results["drift"]["columns"][0]["words"] == "more often '(missing)'"


def test_blank_lines_are_no_rows(tmp_path):
    frame = plain_frame()
    fit(frame, tmp_path)
    (tmp_path / "new.csv").write_text("a,b\n1.5,2\n\n0.5,1\n\n\n")
    assert call("predict", tmp_path / "m", tmp_path / "new.csv", "-o", tmp_path / "p.csv")[0] == 0
    assert len(pd.read_csv(tmp_path / "p.csv")) == 2


def test_labels_and_codes_are_the_same_however_they_are_spelled(tmp_path):
    rng = np.random.default_rng(0)
    frame = plain_frame().assign(code=rng.integers(4, size=200), y=lambda f: (f["y"] == "yes").astype(float))
    facts = fit(frame, tmp_path, "--categorical", "code")
    assert [row["label"] for row in facts["classes"]] == [0, 1]
    for other in (frame.astype({"y": int}), frame.astype({"code": float})):
        other.to_csv(tmp_path / "new.csv", index=False)
        results = json.loads(call("evaluate", tmp_path / "m", tmp_path / "new.csv", "--json")[1])
        assert results["unseen values"] == {}
    text = plain_frame().assign(y=lambda f: f["y"] + np.where(np.arange(200) % 2, " ", ""))
    assert [row["label"] for row in fit(text, tmp_path)["classes"]] == ["no", "yes"]


def test_decimal_commas_leave_ids_and_labels_alone(tmp_path):
    frame = plain_frame().assign(pid=[f"1.{100 + i}" for i in range(200)])
    frame["y"] = frame["y"].map({"no": "1,5", "yes": "2,5"})
    facts = fit(frame, tmp_path, "--decimal", ",", "--id", "pid", sep=";", decimal=",")
    assert [row["label"] for row in facts["classes"]] == ["1,5", "2,5"]
    call("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert pd.read_csv(tmp_path / "p.csv", dtype=str)["pid"].tolist() == frame["pid"].tolist()


def test_copies_and_dates_are_remarked_on(tmp_path):
    frame = plain_frame().assign(day=pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d"))
    remarks = " ".join(fit(pd.concat([frame] * 2), tmp_path)["remarks"])
    assert "200 rows are exact copies of others" in remarks
    assert "'day' is a date" in remarks


def test_a_search_over_radii_needs_rows_and_an_id_a_name(tmp_path):
    frame = plain_frame().assign(predicted="x")
    frame.loc[:2, "y"] = "rare"
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = ["fit", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m"]
    assert "class 'rare' has 3 rows, and --cv needs 7" in call(*arguments, "--model", "optimistic", "--cv")[2]
    assert "cannot be an id" in call(*arguments, "--id", "predicted")[2]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (lambda values: [f"{value:.3f}".replace(".", ",") for value in values], "--decimal , reads them"),
        (lambda values: ["unknown", *(f"{value:.3f}" for value in values[1:])], "numbers, but for some cells?"),
        (lambda values: ["unknown", *(f"{value + 100:.3f}" for value in values[1:])], "numbers, but for some cells?"),
        (lambda values: [f"{value:.1f}".replace(".", ",").replace(",0", "") for value in values], "--decimal , reads"),
    ],
)
def test_text_that_should_be_numbers_gets_a_hint(tmp_path, cells, words):
    frame = plain_frame()
    assert words not in call_fit(frame, tmp_path)
    frame["amount"] = cells(np.random.default_rng(1).normal(size=len(frame)))
    assert words in call_fit(frame, tmp_path)


def call_fit(frame, tmp_path):
    """What `fit` prints."""
    frame.to_csv(tmp_path / "hint.csv", index=False)
    code, out, error = call("fit", tmp_path / "hint.csv", "-t", "y", "-o", tmp_path / "hint.skops", "--no-rows")
    assert code == 0, error
    return " ".join(out.split())


def test_days_before_months_are_dates(tmp_path):
    frame = plain_frame().assign(day=pd.date_range("2020-01-01", periods=200).strftime("%d.%m.%Y"))
    assert kinds(fit(frame, tmp_path))["day"] == "date"


def test_a_column_that_is_the_label_is_named(tmp_path):
    frame = plain_frame()
    code = (frame["y"] == "yes").astype(int)
    rng = np.random.default_rng(0)
    for column in (code, code.map({0: "n", 1: "j"}), 10 * code + rng.normal(size=len(frame))):
        remarks = " ".join(fit(frame.assign(code=column), tmp_path)["remarks"])
        assert "Column 'code': tells the label of every row by itself" in remarks
    nearly = frame.assign(code=code.where(frame.index > 0, 1 - code))
    remarks = " ".join(fit(nearly, tmp_path)["remarks"])
    assert "by itself" not in remarks


def test_all_columns_that_are_not_there_are_named(tmp_path):
    frame = plain_frame()
    fit(frame, tmp_path)
    frame.assign(c=1)[["c", "y"]].to_csv(tmp_path / "t.csv", index=False)
    assert (
        "lacks 2 columns that the model was trained on: 'a', 'b'."
        in call("evaluate", tmp_path / "m", tmp_path / "t.csv")[2]
    )


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary<values=string, indices=int32, ordered=0>"])
def test_text_of_every_type_is_text(tmp_path, kind):
    """Large strings and dictionaries are what pandas writes: dates and decimal commas are found in them, too."""
    rng = np.random.default_rng(1)
    frame = plain_frame().assign(
        day=pd.Series(pd.date_range("2020-01-01", periods=200)[rng.permutation(200)]).dt.strftime("%Y/%m/%d"),
        price=[f"{value:.2f}".replace(".", ",") for value in rng.uniform(1, 99, 200)],
    )
    table = pa.Table.from_pandas(frame, preserve_index=False)
    types = {"string": pa.string(), "large_string": pa.large_string()}
    asked = types.get(kind, pa.dictionary(pa.int32(), pa.string()))
    for i, name in enumerate(table.column_names):
        if name in ("y", "day", "price"):
            column = table[name].cast(pa.string())
            column = column.dictionary_encode() if pa.types.is_dictionary(asked) else column.cast(asked)
            table = table.set_column(i, name, column)
    assert str(table.schema.field("day").type) == kind
    pa.parquet.write_table(table, tmp_path / "t.parquet", store_schema=True)
    options = ("-t", "y", "-o", tmp_path / "m", "--json", "--model", "moderated", "--decimal", ",")
    code, out, err = call("fit", tmp_path / "t.parquet", *options)
    assert code == 0, err
    assert kinds(json.loads(out)) == {"a": "number", "b": "number", "day": "date", "price": "number"}
    code, out, err = call("fit", tmp_path / "t.parquet", *options[:-2])
    assert "numbers with decimal commas? --decimal , reads them" in out
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert call("evaluate", tmp_path / "m", tmp_path / "t.csv", "-q") == (0, "", "")


def test_infinity_among_codes_is_a_value_like_others(tmp_path):
    frame = plain_frame().assign(ward=np.where(np.arange(200) % 5 == 0, np.inf, np.arange(200) % 3))
    facts = fit(frame, tmp_path, "--categorical", "ward")
    assert kinds(facts)["ward"] == "category"
    assert call("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.csv", "-q") == (0, "", "")


def test_priors_of_labels_with_commas(tmp_path):
    frame = plain_frame()
    frame["y"] = frame["y"].map({"no": "a, or 1,b", "yes": "c"})
    facts = fit(frame, tmp_path, "--priors", "a, or 1,b=0.2,c=0.8")
    assert [row["label"] for row in facts["classes"]] == ["a, or 1,b", "c"]
    assert [round(row["prior"], 6) for row in facts["classes"]] == [0.2, 0.8]


def test_rows_are_numbered_as_in_the_file(tmp_path):
    """Those without a label are left out, and counted."""
    frame = plain_frame()
    fit(frame, tmp_path)
    frame.loc[:9, "y"] = None
    frame.to_csv(tmp_path / "some.csv", index=False)
    rows = read_rows(TableModel.load(str(tmp_path / "m")), str(tmp_path / "some.csv"), None, lambda n: None)
    assert (rows.n_unlabelled, rows.names[0], rows.names[-1]) == (10, "11", "200")


def test_the_pipeline_in_python_answers_as_the_command_does(tmp_path):
    """Of frames as pandas reads them: missing cells of text, booleans and codes are the same to both."""
    rng = np.random.default_rng(0)
    frame = plain_frame(300).assign(
        ward=rng.integers(4, size=300),
        member=rng.random(300) < 0.5,
        street=[f"s {i}" for i in rng.integers(40, size=300)],
    )
    colour = np.where(rng.random(300) < 0.3 + 0.4 * (frame["y"] == "yes"), "red", "blue").astype(object)
    colour[(rng.random(300) < 0.6) & (frame["y"] == "no")] = None
    frame["colour"] = colour
    fit(frame, tmp_path, "--categorical", "ward")
    assert call("predict", tmp_path / "m", tmp_path / "t.csv", "-o", tmp_path / "p.csv", "-q")[0] == 0
    said = pd.read_csv(tmp_path / "p.csv")
    pipeline = load(tmp_path / "m").pipeline
    read = pd.read_csv(tmp_path / "t.csv")
    assert read["colour"].isna().any()
    for rows in (read, read.convert_dtypes(), read.fillna({"colour": ""})):
        np.testing.assert_allclose(pipeline.predict_proba(rows).max(axis=1), said["probability"], rtol=1e-12)
        assert pipeline.predict(rows).tolist() == said["predicted"].tolist()


@pytest.mark.parametrize(
    ("spelled", "hint"),
    [
        (lambda i: f"{1 + i % 12:02d}/{1 + i % 28:02d}/2021", "dates? Written as 2020-01-31"),
        (lambda i: f"{1 + i % 28}.{1 + i % 12}.21", "dates? Written as 2020-01-31"),
        (lambda i: f"{1000 + 7.25 * i:,.2f}", "numbers with commas between thousands?"),
        (lambda i: f"{0.37 * i:.1f} %", "percentages?"),
        (lambda i: f"{0.37 * i:.1f}".replace(".", ","), "decimal commas? --decimal ,"),
        (lambda i: f"{0.37 * i:.1f}" if i % 10 else "none", "numbers, but for some cells?"),
        (lambda i: f"row {i}", None),
    ],
)
def test_columns_that_resemble_something_else_get_a_hint(tmp_path, spelled, hint):
    facts = fit(plain_frame().assign(c=[spelled(i) for i in range(200)]), tmp_path)
    said = [remark for remark in facts["remarks"] if remark.startswith("Column 'c'")]
    assert [hint in remark for remark in said] == ([True] if hint else [])


def test_given_priors_are_no_reason_to_call_a_model_useless(tmp_path):
    """Of a rare class that is found, at the price of the accuracy on rows as they are."""
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], [380, 20])
    frame = pd.DataFrame(rng.normal(size=(400, 3)) + 0.9 * (y == "yes")[:, None], columns=list("abc")).assign(y=y)
    facts = fit(frame, tmp_path, "--priors", "equal")
    assert facts["accuracy"][0] < facts["majority"]["accuracy"]
    assert not any("no better than" in remark for remark in facts["remarks"])

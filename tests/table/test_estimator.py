"""TableClassifier: frames of every library in, the same library out; answers, report and files as of the command."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from command import call
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score

from optiscore import TableClassifier


def visits(n=240, seed=0):
    """Numbers, categories, codes, dates, truth values and missing cells."""
    rng = np.random.default_rng(seed)
    age, ward = rng.normal(50, 15, n), rng.choice(["north", "south", "east"], n)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, age.round(1)),
            "ward": pd.Categorical(ward),
            "code": pd.Categorical(rng.integers(0, 4, n) * 10),
            "smoker": rng.random(n) < 0.3,
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D"),
            "always": "the same",
        },
        index=np.arange(1000, 1000 + n),
    )
    score = (age - 50) / 15 + (ward == "north") + 1.5 * frame["smoker"] + rng.normal(size=n)
    return frame.assign(outcome=np.where(score > 0.8, "late", "on time"))


def to_polars(frame):
    """The same in polars, which has no categories of numbers."""
    return pl.from_pandas(frame.assign(code=frame["code"].astype(int)))


@pytest.fixture(scope="module")
def fitted():
    return TableClassifier().fit(visits(), "outcome")


def test_columns_are_what_they_are(fitted):
    kinds = fitted.columns_.set_index("column")["kind"].to_dict()
    assert kinds == {
        "age": "number",
        "ward": "category",
        "code": "category",
        "smoker": "category",
        "seen": "date",
        "always": "constant",
    }
    assert fitted.columns_.set_index("column").loc["age", "missing"] > 0
    assert set(fitted.tried_["model"]) == {"moderated", "kernel"}
    assert fitted.classes_.tolist() == ["late", "on time"]
    new = visits(400, 1)
    assert log_loss(new["outcome"], fitted.predict_proba(new)) < 0.6


def test_frames_of_all_libraries_and_files_give_the_same_answers(fitted, tmp_path):
    frame, new = visits(), visits(50, 1)
    expected = fitted.predict_proba(new)
    columns = {name: frame[name].to_numpy() if name != "code" else frame[name] for name in frame}
    inputs = {
        "polars": to_polars(frame),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
        "dict": {**columns, "ward": frame["ward"]},
    }
    for name, table in inputs.items():
        other = TableClassifier(categorical=["code"]).fit(table, "outcome")
        np.testing.assert_array_equal(other.predict_proba(new), expected, err_msg=name)
        np.testing.assert_array_equal(fitted.predict_proba(table)[:5], fitted.predict_proba(frame)[:5], err_msg=name)
    separate = TableClassifier().fit(frame.drop(columns="outcome"), frame["outcome"])
    np.testing.assert_array_equal(separate.predict_proba(new), expected)
    frame.to_parquet(tmp_path / "train.parquet", index=False)
    call("fit", tmp_path / "train.parquet", "-t", "outcome", "-o", tmp_path / "m.skops", "-q", "--categorical", "code")
    np.testing.assert_array_equal(TableClassifier.load(tmp_path / "m.skops").predict_proba(new), expected)


def test_answers_are_a_frame_of_the_library_that_came_in(fitted):
    new = visits(30, 1)
    answers = fitted.answers(new)
    assert answers.columns.tolist() == [
        "label",
        "probability",
        "low",
        "high",
        "stability",
        "set",
        "typicality",
        "abstain",
        "why",
    ]
    assert (answers.index == new.index).all()
    assert (answers["label"].to_numpy() == fitted.predict(new)).all()
    assert isinstance(answers["set"].iloc[0], tuple)
    other = fitted.answers(to_polars(new))
    assert isinstance(other, pl.DataFrame)
    assert other["label"].to_list() == answers["label"].tolist()
    assert isinstance(fitted.answers(pa.Table.from_pandas(new)), pa.Table)


@pytest.mark.parametrize("labels", [[False, True], [3, 7], ["no", "yes"], [0.0, 1.0]])
def test_labels_come_back_as_they_were_given(labels):
    frame = visits()
    y = np.array(labels)[(frame.pop("outcome") == "late").astype(int)]
    model = TableClassifier("moderated").fit(frame, y)
    assert model.classes_.tolist() == labels
    assert model.predict(frame).dtype == y.dtype
    assert model.score(frame, y) > 0.7
    assert set(model.answers(frame)["label"]) <= set(labels)
    equal = TableClassifier("moderated", priors=dict.fromkeys(labels, 0.5)).fit(frame, y)
    np.testing.assert_allclose(equal.predict_proba(frame), model.with_priors("equal").predict_proba(frame))
    assert model.estimate_priors(frame).priors.sum() == pytest.approx(1)


def test_the_questions_are_those_of_the_classifier_behind_it(fitted):
    new = visits(20, 1)
    assert fitted.predict_set(new, 0.95).sum() >= fitted.predict_set(new, 0.5).sum()
    lower, upper = fitted.predict_proba_interval(new)
    low, _ = fitted.predict_proba_interval(new, classes="predicted")
    proba = fitted.predict_proba(new)
    assert ((lower <= proba) & (proba <= upper)).all()
    assert low.shape == fitted.stability(new).shape == fitted.typicality(new).shape == (20,)


def test_the_report_is_that_of_the_command(fitted, tmp_path):
    new = visits(300, 1)
    report = fitted.report(new)
    assert report.verdict.answer in ("yes", "only", "no")
    assert "probability" in repr(report) or "%" in repr(report)
    measures = report.evaluation.set_index(["method", "measure"])["value"]
    assert measures["optiscore", "accuracy"] == pytest.approx(fitted.score(new, new["outcome"]))
    assert "<h4>" in report._repr_html_()
    report.save(tmp_path / "page.html")
    assert "the table" in (tmp_path / "page.html").read_text(encoding="utf-8")
    unlabelled = fitted.report(new.drop(columns="outcome"))
    assert unlabelled.evaluation.empty
    separate = fitted.report(new.drop(columns="outcome"), new["outcome"])
    assert separate.verdict == report.verdict
    assert fitted.report(new.rename(columns={"outcome": "late"}), "late").verdict == report.verdict
    older = fitted.report(new.assign(age=new["age"] + 60))
    assert "age" in older.drift["column"].tolist()
    assert fitted.report(visits()).verdict.answer == "unknown"


def test_importances_are_what_columns_are_worth(fitted):
    new = visits(400, 1)
    found = fitted.importances(new).set_index("column")
    assert found.index[:3].tolist() == sorted(found.index[:3], key=lambda c: -found.loc[c, "importance"])
    assert set(found.index[:3]) == {"age", "smoker", "ward"}
    assert found.loc["age", "importance"] > 4 * found.loc["age", "error"]
    assert abs(found.loc["seen", "importance"]) < 0.03
    same = fitted.importances(new.drop(columns="outcome"), new["outcome"])
    assert same.set_index("column").loc["age", "importance"] == found.loc["age", "importance"]
    with pytest.raises(ValueError, match="has no labels"):
        fitted.importances(new.drop(columns="outcome"))


def test_other_models_and_mixtures(tmp_path):
    frame = visits()
    line = TableClassifier(LogisticRegression(max_iter=1000)).fit(frame, "outcome")
    assert line.tried_["model"].tolist() == ["LogisticRegression"]
    assert line.answers(frame)["stability"].between(0.5, 1).all()
    both = TableClassifier(["moderated", "mixture"]).fit(visits(1000), "outcome")
    assert both.tried_["model"].tolist() == ["moderated", "mixture"]
    line.save(tmp_path / "m.skops")
    assert (TableClassifier.load(tmp_path / "m.skops").predict_proba(frame) == line.predict_proba(frame)).all()
    with pytest.raises(ValueError, match="model must be 'auto'"):
        TableClassifier("forest").fit(frame, "outcome")


def test_it_is_an_estimator_of_scikit_learn():
    frame = visits()
    y = frame.pop("outcome")
    assert cross_val_score(TableClassifier("moderated"), frame, y, cv=3).mean() > 0.7
    search = GridSearchCV(TableClassifier(), {"model": ["moderated", "kernel"]}, cv=2).fit(frame, y)
    assert search.best_params_["model"] in ("moderated", "kernel")
    assert clone(TableClassifier("kernel", drop=["age"])).drop == ["age"]
    model = TableClassifier("moderated", drop=["seen"], use=["always"]).fit(frame, y)
    assert model.columns_.set_index("column").loc["seen", "kind"] == "dropped"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f[["outcome"]], "has no column but 'outcome'"),
        (lambda f: f.assign(always=[[1, 2]] * len(f)), "values, which cannot be used"),
        (lambda f: f[:0], "has no rows"),
        (lambda f: f[:1], "must hold at least two classes"),
        (lambda f: f.assign(outcome=None), "has no row with a label"),
        (lambda f: f.assign(outcome=np.arange(len(f)) + 0.5), "looks continuous"),
        (lambda f: f.drop(columns="outcome"), "has no column 'outcome'"),
        (lambda f: np.zeros(3), "array of two dimensions"),
        (lambda f: f.assign(mixed=[1, "a"] * (len(f) // 2)), "cannot be read"),
    ],
)
def test_odd_tables_are_refused_in_a_sentence(change, words):
    with pytest.raises(ValueError, match=words):
        TableClassifier("moderated").fit(change(visits()), "outcome")


@pytest.mark.parametrize(
    "change",
    [
        lambda f: f.assign(empty=None),
        lambda f: f.assign(gone=np.nan),
        lambda f: f.rename(columns={"age": 7}),
        lambda f: f.assign(born=[datetime.date(1990, 1, 1 + i % 28) for i in range(len(f))]),
        lambda f: f.assign(waited=pd.to_timedelta(np.arange(len(f)), unit="min")),
        lambda f: pd.concat([f, pd.DataFrame(np.random.default_rng(0).normal(size=(len(f), 300)), f.index)], axis=1),
        lambda f: f[["age", "outcome"]],
        lambda f: f.assign(outcome=f["outcome"].where(np.arange(len(f)) % 5 > 0)),
    ],
)
def test_odd_tables_are_answered(change):
    frame = change(visits())
    model = TableClassifier("moderated").fit(frame, "outcome")
    assert np.isfinite(model.predict_proba(frame)).all()
    assert len(model.answers(frame)) == len(frame)


def test_arrays_have_columns_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    model = TableClassifier("moderated").fit(X + y[:, None], y)
    assert model.columns_["column"].tolist() == ["x0", "x1", "x2"]
    assert model.predict(X).shape == (100,)
    with pytest.raises(ValueError, match="lacks"):
        model.predict(X[:, :1])

"""The table of all answers: each column is what its method says, and limits come from rows that were left out."""

import numpy as np
import pytest
from kinds import blobs

from optiscore import KernelDiscriminantClassifier, ModeratedDiscriminantAnalysis, OptimisticScoreClassifier, load, save
from optiscore.trust.limits import least_probability, lower_quantile

MAKERS = [lambda: KernelDiscriminantClassifier("short"), ModeratedDiscriminantAnalysis]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_columns_are_what_the_methods_say(make, n_classes, tmp_path):
    X, y = blobs(n_classes, n=240, d=3)
    labels = np.array(["ant", "bee", "cat", "dog"])[y]
    model = make().fit(X[:160], labels[:160])
    Q = np.vstack([X[160:], [[1e3, -1e3, 1e3]]])
    answers = model.answers(Q, confidence_level=0.8)
    assert list(answers) == [
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
    places = np.arange(len(Q)), model.predict_proba(Q).argmax(axis=1)
    assert (answers["label"] == model.predict(Q)).all()
    assert (answers["probability"] == model.predict_proba(Q)[places]).all()
    low, high = model.predict_proba_interval(Q, 0.8)
    np.testing.assert_allclose(answers["low"], low[places], atol=1e-12)
    np.testing.assert_allclose(answers["high"], high[places], atol=1e-12)
    assert (answers["stability"] == model.stability(Q)).all()
    assert answers["set"][0] == tuple(model.classes_[model.predict_set(Q[:1], 0.8)[0]])
    assert answers["why"][-1] == "unlike the training rows" or answers["why"][-1] == "too uncertain"
    assert answers["abstain"].tolist() == [why != "" for why in answers["why"]]
    frame = answers.to_pandas(index=np.arange(5, 5 + len(Q)))
    assert frame.index[0] == 5
    assert frame["label"].tolist() == answers.to_polars()["label"].to_list()
    assert "more" in repr(answers)
    assert answers._repr_html_().count("<tr>") == 11
    save(model, tmp_path / "m.skops")
    assert repr(load(tmp_path / "m.skops").answers(Q)) == repr(model.answers(Q))


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_decided_is_right_as_often_as_asked(make):
    """On average over training samples; a limit from 300 rows is off by some points for a single one."""
    X, y = blobs(2, n=3300, d=2)
    X[:, 0] += 3 * y
    beyond = []
    for start in range(0, 1800, 300):
        train = slice(start, start + 300)
        model, Q, q = make().fit(X[train], y[train]), np.delete(X, train, axis=0), np.delete(y, train)
        target = 0.6 * model.score(Q, q) + 0.4
        answers = model.answers(Q, target_accuracy=target)
        decided = ~answers["abstain"]
        assert 0.1 < decided.mean() < 1
        beyond.append((answers["label"] == q)[decided].mean() - target)
    assert np.mean(beyond) == pytest.approx(0, abs=0.02)
    assert (answers["why"] == "unlike the training rows").mean() < 0.03
    assert model.answers(Q, target_accuracy=None)["abstain"].mean() < 0.03
    with pytest.raises(ValueError, match="target_accuracy must lie strictly between 0 and 1"):
        model.answers(X, target_accuracy=2)


def test_no_limit_may_be_enough():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    answers = ModeratedDiscriminantAnalysis().fit(X, y).answers(X[:5], target_accuracy=0.999)
    assert answers["abstain"].all()
    assert "No limit reaches 99.9 %" in answers.remark


def test_the_papers_classifier_answers_with_bounds():
    X, y = blobs(3, n=90, d=2)
    model = OptimisticScoreClassifier(radius=0.05, decision_rule="minimax").fit(X, y)
    answers, lower = model.answers(X), model.predict_proba_bounds(X)[0]
    assert (answers["low"] == lower[np.arange(90), np.searchsorted(model.classes_, answers["label"])]).all()
    assert (answers["abstain"] == (model.certified_factor(X) < 1)).all()
    assert [len(each) > 1 for each in answers["set"]] == answers["abstain"].tolist()


def test_limits():
    right, confidence = np.array([True, True, False, True]), np.array([0.9, 0.8, 0.7, 0.6])
    assert least_probability(confidence, ~right, np.ones(4), 0.5) == float("inf")
    # Ties are decided together, and one row is no evidence for nine of ten.
    ties = np.array([0.9] * 10 + [0.8] * 4), np.repeat([True, False, True], [10, 2, 2])
    assert least_probability(*ties, np.ones(14), 0.9) == 0.9
    assert least_probability(*ties, np.ones(14), 0.95) == float("inf")
    assert lower_quantile(np.array([0.3, 0.1, 0.2]), np.ones(3), 0.01) == 0.1
    assert lower_quantile(np.arange(1000.0), np.ones(1000), 0.01) == 10

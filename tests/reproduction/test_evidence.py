"""The experiments on certainty: cells that say what they should, on shipped data, and their summaries."""

from importlib.util import find_spec

import numpy as np
import pytest

from reproduction import EXPERIMENTS, GROUPS, coverage
from reproduction.datasets import fetch_benchmark
from reproduction.experiment import Result
from reproduction.judging import complete_sets, mean_over_splits
from reproduction.methods import OURS as OURS_METHODS
from reproduction.methods import PEERS
from reproduction.ranking import compare_with, rank_methods
from reproduction.sampling import METHODS, OURS, SIZES, split


@pytest.mark.parametrize("size", SIZES)
def test_training_rows_are_as_many_as_they_should_be(size):
    _, y = fetch_benchmark("heart", return_X_y=True)
    train, test = split(y, 13, size, 0)
    assert len(np.intersect1d(train, test)) == 0
    assert len(train) + len(test) == len(y)
    counts = np.bincount((y[train] > 0).astype(int))
    if size in ("8 d in all", "three quarters"):
        assert len(train) == pytest.approx(8 * 13 if size == "8 d in all" else 0.75 * 270, abs=1)
        np.testing.assert_allclose(counts / len(train), np.bincount((y > 0).astype(int)) / len(y), atol=0.01)
    else:
        per_class = np.bincount((y > 0).astype(int))
        np.testing.assert_array_equal(counts, np.minimum(int(size[0]) * 13, 3 * per_class // 4))


def check_questions(summary, asked):
    """Each question has an answer, and the tables and figures that it names."""
    assert [question.asked for question in summary.questions] == asked
    for question in summary.questions:
        assert question.answer
        assert all(question.answer)
        assert set(question.tables) <= set(summary.tables)
        assert set(question.figures) <= set(summary.figures)


def small_run(name):
    """Two data sets, one split; results by cell, and the summary."""
    experiment = EXPERIMENTS[name]
    cells = [c for c in experiment.cells(quick=True) if c["dataset"] in ("heart", "haberman") and c["repeat"] == 0]
    results = [Result(cell, experiment.compute(cell), 0.0) for cell in cells]
    assert all(values.keys() == METHODS.keys() for _, values, _ in results)
    summary = experiment.summarise(results)
    check_questions(summary, ["How sure may I be?"])
    return results, summary


def test_abstention():
    results, summary = small_run("abstention")
    assert all(np.isfinite(values[method]["log loss"]) for _, values, _ in results for method in METHODS)
    rows = summary.tables["abstention_area"].rows
    assert {row["size"] for row in rows} == set(SIZES)
    assert all(0 < row[OURS] < 70 for row in rows)


def test_calibration():
    results, summary = small_run("calibration")
    for _, values, _ in results:
        assert len({sum(values[method]["rows"]) for method in METHODS}) == 1
        assert all(np.less_equal(values[method]["right"], values[method]["rows"]).all() for method in METHODS)
    rows = summary.tables["calibration_sure"].rows
    assert {(row["size"], row["method"]) for row in rows} == {(size, method) for size in SIZES for method in METHODS}
    assert all(90 <= row["stated"] <= 100 for row in rows if row["of all predictions"])


def test_accuracy_of_ours_and_of_others():
    experiment = EXPERIMENTS["accuracy"]
    slow = {"GQDA-CV", "NPQDA-CV", "KQDA", "RQDA", "SQDA"}
    cells = [
        c
        for c in experiment.cells(quick=True)
        if c["dataset"] in ("haberman", "heart", "iris", "teaching_assistants") and c["method"] not in slow
    ]
    results = [Result(cell, experiment.compute(cell), 0.1) for cell in cells]
    assert {cell["method"] for cell, _, _ in results if cell["dataset"] == "iris"} == {*OURS_METHODS, *PEERS}
    for _, values, _ in results:
        assert 0.3 < values["accuracy"] <= 1
        assert values["area"] < 0.7
        assert values["log loss"] > 0
    summary = experiment.summarise(results)
    for name in ("eleven_accuracy", "eleven_area", "eleven_log_loss", "further_accuracy", "further_log_loss"):
        assert summary.tables[name].rows[-1]["dataset"] == "mean"
        ranked = summary.tables[f"{name}_ranks"].rows
        ranks = [row["mean rank"] for row in ranked]
        assert ranks == sorted(ranks)
        against = [row for row in ranked if row["method"] != "kernel"]
        assert all(row["wins"] + row["ties"] + row["losses"] == 2 for row in against)
    check_questions(summary, ["Which model for which data?", "What does it cost?", "Where does it lose?"])
    place = summary.tables["places"].rows[0]
    first = summary.tables["eleven_accuracy_ranks"].rows
    assert place["place"].split()[0] == str([row["method"] for row in first].index("kernel") + 1)
    assert place["of"] == len(first)
    together = summary.tables["all_accuracy_ranks"].rows
    assert {row["method"] for row in together} == {*OURS_METHODS, *PEERS}
    assert all(row["wins"] + row["ties"] + row["losses"] == 4 for row in together if row["method"] != "kernel")
    assert place["mean rank"] == next(row["mean rank"] for row in first if row["method"] == "kernel")


def test_sets_of_ours_and_of_others():
    experiment = EXPERIMENTS["sets"]
    chosen = ("heart", "iris", "teaching_assistants", "haberman")
    cells = [c for c in experiment.cells(quick=True) if c["dataset"] in chosen]
    results = [Result(cell, experiment.compute(cell), 0.0) for cell in cells]
    for _, values, _ in results:
        for measured in values.values():
            assert measured["u65"] <= measured["u80"] + 1e-9 <= measured["coverage"] + 2e-9
            assert measured["coverage"] <= 1
            assert measured["size"] > 0.5
    summary = experiment.summarise(results)
    has_conformal = find_spec("crepes") is not None
    named = [any(row["method"].startswith("split conformal") for row in summary.tables["sets"].rows)]
    named.append(not any("left out" in sentence for sentence in summary.questions[0].answer))
    assert named == [has_conformal, has_conformal]
    # With two classes, all labels of probability 0.2 or more are the u80 sets: they do not count twice.
    assert all(row["of"] == 6 + has_conformal for row in summary.tables["sets_places"].rows)
    assert set(summary.tables) == {"sets", "sets_further", "sets_places"}
    check_questions(summary, ["How sure may I be?"])


def test_ranks_are_those_of_the_textbook():
    """Demsar 2006, Table 6: four methods on 14 data sets, with their mean ranks and the critical difference."""
    auc = np.array(
        [
            [0.763, 0.768, 0.771, 0.798],
            [0.599, 0.591, 0.590, 0.569],
            [0.954, 0.971, 0.968, 0.967],
            [0.628, 0.661, 0.654, 0.657],
            [0.882, 0.888, 0.886, 0.898],
            [0.936, 0.931, 0.916, 0.931],
            [0.661, 0.668, 0.609, 0.685],
            [0.583, 0.583, 0.563, 0.625],
            [0.775, 0.838, 0.866, 0.875],
            [1.000, 1.000, 1.000, 1.000],
            [0.940, 0.962, 0.965, 0.962],
            [0.619, 0.666, 0.614, 0.669],
            [0.972, 0.981, 0.9751, 0.975],
            [0.957, 0.978, 0.946, 0.970],
        ]
    )
    ranking = rank_methods(auc, ["C4.5", "m", "cf", "m+cf"], more_is_better=True)
    np.testing.assert_allclose(ranking.ranks, [3.143, 2.000, 2.893, 1.964], atol=1e-3)
    assert ranking.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), rel=1e-3)
    # SciPy takes ties into account, for which the textbook's 0.026 becomes smaller.
    assert 0.01 < ranking.p_value < 0.026
    assert [ranking.place(method) for method in ranking.methods] == ["4", "2", "3", "1"]
    # Not by Nemenyi's test; by Wilcoxon's, p = 0.0107 before Holm's step, in the textbook for C4.5 and m+cf alone.
    assert ranking.better_than("C4.5") == ["m", "m+cf"]
    assert ranking.better_than("m+cf") == []


def test_wins_ties_and_losses():
    values = np.array([[0.9, 0.8, 0.9], [0.7, 0.6, 0.8], [0.8, 0.7, 0.81], [0.6, 0.5, 0.7]])
    methods = ["a", "b", "c"]
    first, second = compare_with(rank_methods(values, methods, more_is_better=True), "a", 0.02)
    assert (first["wins"], first["ties"], first["losses"]) == (4, 0, 0)
    assert (second["wins"], second["ties"], second["losses"]) == (0, 2, 2)
    assert 0.05 < first["p (Wilcoxon, Holm)"] < 0.3
    reverse = compare_with(rank_methods(-values, methods, more_is_better=False), "a", 0.02)
    assert reverse == [first, second]


def test_one_large_gain_does_not_turn_the_test_around():
    """Thirteen small losses and one large win, so that the mean is ours: significantly worse all the same."""
    ours = np.r_[np.full(13, 0.5), 0.9]
    others = np.r_[0.5 + 0.001 * np.arange(1, 14), 0.1]
    assert ours.mean() > others.mean()
    ranking = rank_methods(np.stack([ours, others], axis=1), ["ours", "other"], more_is_better=True)
    assert ranking.better_than("ours") == ["other"]
    assert ranking.worse_than("ours") == []
    assert ranking.worse_than("other") == ["ours"]


def test_a_place_may_be_shared():
    values = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])
    ranking = rank_methods(values, ["a", "b", "c"], more_is_better=False)
    assert [ranking.place(method) for method in ranking.methods] == ["1 (shared)", "1 (shared)", "3"]


def test_differences_by_rounding_are_ties():
    """Means of the same accuracies in another order."""
    values = np.array([[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.9], [0.5, 0.5, 0.7]])
    assert values[0, 0] != values[0, 1]
    ranking = rank_methods(100 * values, ["a", "b", "c"], more_is_better=True)
    np.testing.assert_array_equal(ranking.ranks, [2.5, 2.5, 1])
    assert not ranking.gains_over("a")["b"].any()


def test_data_sets_that_lack_a_method_do_not_count():
    """A method without results on a set would otherwise have a log loss of 0 there."""
    found = [("x", "a", {"loss": 1.0}), ("x", "a", {"loss": 3.0}), ("x", "b", {"loss": 4.0}), ("y", "a", {"loss": 5.0})]
    names, splits = complete_sets(found, ["a", "b"])
    assert names == ["x"]
    assert mean_over_splits(splits, names, ["a", "b"], "loss").tolist() == [[2.0, 4.0]]


def test_coverage_of_gaussian_classes_and_data_sets(monkeypatch):
    monkeypatch.setattr(coverage, "_REFITS", 20)
    gaussian = {"model": "shared", "d": 2, "times d": 10, "ratio": 1, "repeat": 0}
    real = {"dataset": "heart", "model": "own", "times d": 4, "repeat": 0}
    results = [Result(cell, coverage.compute(cell), 0.0) for cell in (gaussian, real)]
    half, most, nearly_all = results[0].values["coverage"]
    assert 0.3 < half < 0.7
    assert half < most <= nearly_all
    assert most > 0.75
    ours = results[1].values["ours"]
    assert 0.6 < ours["coverage"] <= 1
    assert ours["score"] >= ours["width"] > 0
    summary = coverage.summarise(results)
    assert set(summary.tables) == {"coverage_gaussian", "coverage_data", "coverage_sets"}
    assert summary.tables["coverage_sets"].rows[0]["ours"] == pytest.approx(100 * ours["coverage"])
    check_questions(summary, ["How sure may I be?"])
    assert f"in {100 * ours['coverage']:.0f} to {100 * ours['coverage']:.0f} %" in summary.questions[0].answer[0]


def test_predictions_that_sound_sure():
    """Of predictions of 90 % and more: what is stated on average, and how many are right."""
    part = {
        "log loss": 0.5,
        "rows": [0] * 8 + [10, 30],
        "right": [0] * 8 + [8, 27],
        "probability": [0] * 8 + [9.2, 29.3],
    }
    cell = {"dataset": "heart", "size": SIZES[0], "repeat": 0}
    summary = EXPERIMENTS["calibration"].summarise([Result(cell, dict.fromkeys(METHODS, part), 0.0)])
    row = summary.tables["calibration_sure"].rows[0]
    assert (row["method"], row["stated"], row["right"]) == (OURS, pytest.approx(96.25), pytest.approx(87.5))
    assert "moderated 87.5 % (stated 96.2 %)" in summary.questions[0].answer[0]


def test_the_truth_of_a_population_is_what_many_samples_give():
    """The posterior of the same model at the population's moments: that of a fit on the population itself."""
    X, y = coverage._population("heart")
    from optiscore import ModeratedDiscriminantAnalysis

    for kind in ("own", "shared"):
        model = ModeratedDiscriminantAnalysis(kind, feature_map=None, priors=[0.5, 0.5], calibration=None)
        weight = np.where(y == 1, 0.5 / (y == 1).mean(), 0.5 / (y == 0).mean())
        model.fit(X, y, weight)
        truth = coverage._truth(model, kind, X, y, X)
        np.testing.assert_allclose(truth, model.nominal_proba(X)[:, 1], atol=1e-8)


def test_groups_name_every_experiment_once():
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(EXPERIMENTS)

"""The experiments on certainty: cells that say what they should, on shipped data, and their summaries."""

import numpy as np
import pytest

from optiscore.datasets import fetch_benchmark
from optiscore.experiments import EXPERIMENTS, GROUPS, coverage
from optiscore.experiments.experiment import Result
from optiscore.experiments.sampling import METHODS, OURS, SIZES, split


@pytest.mark.parametrize("size", SIZES)
def test_training_rows_are_as_many_as_they_should_be(size):
    _, y = fetch_benchmark("heart", return_X_y=True)
    train, test = split(y, 13, size, 0)
    assert len(np.intersect1d(train, test)) == 0
    assert len(train) + len(test) == len(y)
    counts = np.bincount((y[train] > 0).astype(int))
    if size == "8 d in all":
        assert len(train) == pytest.approx(8 * 13, abs=1)
        np.testing.assert_allclose(counts / len(train), np.bincount((y > 0).astype(int)) / len(y), atol=0.01)
    else:
        per_class = np.bincount((y > 0).astype(int))
        np.testing.assert_array_equal(counts, np.minimum(int(size[0]) * 13, 3 * per_class // 4))


@pytest.mark.parametrize("name", ["abstention", "calibration"])
def test_small_runs(name):
    experiment = EXPERIMENTS[name]
    cells = [c for c in experiment.cells(quick=True) if c["dataset"] in ("heart", "haberman") and c["repeat"] == 0]
    results = [Result(cell, experiment.compute(cell), 0.0) for cell in cells]
    for _, values, _ in results:
        assert values.keys() == METHODS.keys()
        assert all(np.isfinite(values[method]["log loss"]) for method in METHODS)
    summary = experiment.summarise(results)
    (table,) = summary.tables.values()
    assert {row["size"] for row in table.rows} == set(SIZES)
    assert all(np.isfinite(row[OURS]) for row in table.rows)
    assert summary.notes


def test_accuracy_of_ours_and_of_others():
    experiment = EXPERIMENTS["accuracy"]
    methods = (
        "kernel",
        "kernel, one map",
        "moderated",
        "LDA",
        "logistic",
        "forest",
        "boosting",
        "SVC, grid",
        "GQDA-CLT",
    )
    cells = [
        c for c in experiment.cells(quick=True) if c["dataset"] in ("haberman", "heart") and c["method"] in methods
    ]
    results = [Result(cell, experiment.compute(cell), 0.1) for cell in cells]
    assert len(results) == 2 * len(methods)
    for _, values, _ in results:
        assert 0.5 < values["accuracy"] <= 1
        assert values["area"] < 0.5
        assert values["log loss"] > 0
    summary = experiment.summarise(results)
    assert set(summary.tables) == {"accuracy_accuracy", "accuracy_area", "accuracy_log_loss"}
    assert summary.tables["accuracy_accuracy"].rows[-1]["dataset"] == "mean"
    assert "better than LDA" in summary.notes[0]


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
    assert set(summary.tables) == {"coverage_gaussian", "coverage_data"}


def test_the_truth_of_a_population_is_what_many_samples_give():
    """The posterior of the same model at the population's moments: that of a fit on the population itself."""
    X, y = coverage._population("heart")
    from optiscore import ModeratedDiscriminantAnalysis

    for kind in ("own", "shared"):
        model = ModeratedDiscriminantAnalysis(kind, feature_map=None, priors=[0.5, 0.5])
        weight = np.where(y == 1, 0.5 / (y == 1).mean(), 0.5 / (y == 0).mean())
        model.fit(X, y, weight)
        truth = coverage._truth(model, kind, X, y, X)
        np.testing.assert_allclose(truth, model.nominal_proba(X)[:, 1], atol=1e-8)


def test_groups_name_every_experiment_once():
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(EXPERIMENTS)

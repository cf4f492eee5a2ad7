"""The paper's printed numbers, by the experiments that `make reproduce` runs, and where minimax stands."""

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split

from optiscore import OptimisticScoreClassifier
from reproduction import EXPERIMENTS, figure1, table1
from reproduction.datasets import fetch_benchmark
from reproduction.expected import EXPECTED
from reproduction.experiment import Result
from reproduction.methods import PAPER_METHODS

pytestmark = pytest.mark.slow


def run(name, cells):
    """Results of some cells of an experiment."""
    compute = EXPERIMENTS[name].compute
    values = Parallel(n_jobs=-1)(delayed(compute)(cell) for cell in cells)
    return [Result(cell, result, 0.0) for cell, result in zip(cells, values, strict=True)]


def test_printed_table(published):
    """Mean absolute differences in points: all 77 cells; the CLT columns; the columns of our cross-validation."""
    cells = [cell for cell in table1.cells(quick=False) if cell["method"] in PAPER_METHODS]
    ours, printed = table1.accuracies(run("table1", cells)), table1.expected("printed")
    assert ours.keys() == printed.keys()
    assert len(ours) == 77

    def difference(*methods):
        keys = [key for key in ours if key[1] in methods and key not in table1.EXCHANGED]
        return table1.mean_difference(ours, printed, keys)

    may_be = EXPECTED["tolerances"]
    assert difference(*PAPER_METHODS) <= may_be["all_cells"]
    assert difference("GQDA-CLT", "NPQDA-CLT") <= may_be["clt"]
    assert difference("GQDA-CV", "NPQDA-CV", "KQDA") <= may_be["cross_validated"]
    here = table1.expected("here")
    assert {key: value for key, value in ours.items() if abs(value - here[key]) > may_be["here"]} == {}


def test_divergence_approaches_its_limit_law():
    results = run("figure1", figure1.cells(quick=False))
    law = figure1.limit_law()
    distances = [
        figure1.kolmogorov_distance(
            np.concatenate([values["values"] for cell, values, _ in results if cell["n"] == n]), law
        )
        for n in (30, 100, 300, 1000)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 0.03


def accuracy(name, **parameters):
    """Mean test accuracy in percent over the ten published splits."""
    X, y = fetch_benchmark(name, return_X_y=True)
    scores = []
    for trial in range(10):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=1000 + trial)
        scores.append(OptimisticScoreClassifier(**parameters).fit(X_train, y_train).score(X_test, y_test))
    return 100 * float(np.mean(scores))


@pytest.mark.parametrize("name", ["climate_model", "housing"])
def test_minimax_stands_where_prior_collapses(name, published):
    assert accuracy(name, decision_rule="minimax") >= 90
    with pytest.warns(UserWarning, match="gives all training samples"):
        assert accuracy(name, decision_rule="prior") < 20

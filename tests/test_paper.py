"""The paper's protocol on its data sets: its printed numbers, and where minimax stands without tuning."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split

from optiscore import OptimisticScoreClassifier, OptimisticScoreClassifierCV

pytestmark = pytest.mark.slow


# Radii of the paper's cross-validation, in units of sqrt(d).
GRID = np.array([0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.16, 0.2, 0.5])


def accuracy(name, make_model):
    """Mean test accuracy in percent over the ten published splits; the model is made for a number of features."""
    folder = os.environ.get("OPTISCORE_DATA")
    if not folder:
        pytest.skip("OPTISCORE_DATA does not name the folder with the paper's data sets")
    X, y = load_svmlight_file(str(Path(folder) / f"{name}.txt"))
    scores = []
    for trial in range(10):
        parts = train_test_split(X.toarray(), y, test_size=0.25, random_state=1000 + trial)
        X_train, X_test, y_train, y_test = parts
        scores.append(make_model(X.shape[1]).fit(X_train, y_train).score(X_test, y_test))
    return 100 * float(np.mean(scores))


def printed(reference):
    with open(reference / "table1.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 11
    return rows


def test_printed_clt_columns(reference):
    """Mean absolute difference over the 20 cells other than banknote's, which look exchanged in print."""
    differences = [
        abs(accuracy(row["dataset"], lambda d, score=score: OptimisticScoreClassifier(score)) - float(row[column]))
        for row in printed(reference)
        if row["dataset"] != "banknote_authentication"
        for score, column in (("gaussian", "GQDA-CLT"), ("nonparametric", "NPQDA-CLT"))
    ]
    assert len(differences) == 20
    assert np.mean(differences) <= 0.3


CROSS_VALIDATED = {"GQDA-CV": "gaussian", "NPQDA-CV": "nonparametric", "KQDA": "fixed-mean"}


def test_printed_cross_validated_columns(reference):
    def search(score):
        return lambda d: OptimisticScoreClassifierCV(score, radii=GRID * np.sqrt(d))

    differences = [
        abs(accuracy(row["dataset"], search(score)) - float(row[column]))
        for row in printed(reference)
        for column, score in CROSS_VALIDATED.items()
    ]
    assert len(differences) == 33
    assert np.mean(differences) <= 0.6


@pytest.mark.parametrize("name", ["climate_model", "housing"])
def test_minimax_stands_where_prior_collapses(name):
    assert accuracy(name, lambda d: OptimisticScoreClassifier(threshold="minimax")) >= 90
    assert accuracy(name, lambda d: OptimisticScoreClassifier(threshold="prior")) < 20

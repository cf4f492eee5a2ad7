"""Model files of every kind, with their answers: `python tests/stored_models.py` writes what is not there yet.

Files that are there are kept for ever: later versions must open them. A new kind, or a new format, adds to them.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from command import call
from kinds import blobs
from mutations import KINDS_OF_FILES
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from optiscore import (
    CrossFitClassifier,
    KernelDiscriminantClassifier,
    ModeratedDiscriminantAnalysis,
    OptimisticScoreClassifier,
    PowerMap,
    RidgeCovariance,
    load,
    save,
)

FOLDER = Path(__file__).parent / "data" / "models"
TABLES = ("moderated", "kernel", "optimistic")


def samples(kind):
    """Training samples and labels, which are texts for some kinds."""
    X, y = blobs(3, n=45)
    return X, np.array(["a", "b", "c"])[y] if kind in ("own covariances", "pipeline") else y


MODELS = {
    **KINDS_OF_FILES,
    "nonparametric": lambda X, y: OptimisticScoreClassifier(
        "nonparametric", decision_rule="minimax", covariance_estimator=RidgeCovariance()
    ).fit(X, y),
    "own covariances": lambda X, y: ModeratedDiscriminantAnalysis("own", feature_map=PowerMap()).fit(X, y),
    "single precision": lambda X, y: KernelDiscriminantClassifier("short").fit(X.astype(np.float32), y),
    "landmarks": lambda X, y: KernelDiscriminantClassifier("short", max_landmarks=20, random_state=0).fit(X, y),
    "weighted columns": lambda X, y: KernelDiscriminantClassifier("short", relevance=True).fit(
        np.tile(X, (2, 1)), np.tile(y, 2)
    ),
    "power map": lambda X, y: PowerMap().fit(X),
    "weighed models": lambda X, y: ModeratedDiscriminantAnalysis().fit((X > 0).astype(float), y),
    "weighted rows": lambda X, y: KernelDiscriminantClassifier("short").fit(X, y, np.arange(1.0, 46)),
    "cross-fitted": lambda X, y: CrossFitClassifier(
        [
            ("both", ModeratedDiscriminantAnalysis()),
            ("shared", ModeratedDiscriminantAnalysis("shared", feature_map=None)),
        ],
        cv=3,
        random_state=0,
    ).fit(X, y),
    "pipeline": lambda X, y: make_pipeline(StandardScaler(), ModeratedDiscriminantAnalysis()).fit(X, y),
}


def table(n=60):
    """A table with columns of every kind, and missing cells."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "size": (rng.normal(size=n) + y).round(3),
            "weight": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)),
            "colour": np.where(rng.random(n) < 0.3 + 0.4 * y, "red", "blue"),
            "ward": [f"w{i}" for i in rng.integers(5, size=n)],
            "street": [f"s{i}" for i in rng.integers(32, size=n)],
            "day": pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d"),
            "label": np.where(y == 1, "yes", "no"),
        }
    )
    frame.loc[::9, "colour"] = None
    return frame


def question_to(model, kind):
    """Samples, and what a model answers to them."""
    if hasattr(model, "pipeline"):
        rows = model.frame(pa.Table.from_pandas(table(), preserve_index=False), "the table")
        return model.classifier.predict_proba(model.features(rows))
    X = samples(kind)[0][:12]
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.transform(X)


def write():
    """Write the files that are not there yet, and all answers."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    found = {}
    for kind, make in MODELS.items():
        path = FOLDER / f"{kind}.skops"
        if not path.exists():
            save(make(*samples(kind)), path)
        found[kind] = question_to(load(path), kind)
    for kind in TABLES:
        path = FOLDER / f"{kind} table.skops"
        if not path.exists():
            rows = FOLDER / "table.csv"
            table().to_csv(rows, index=False)
            assert call("fit", rows, "-t", "label", "-o", path, "--model", kind, "-q")[0] == 0
            rows.unlink()
        found[f"{kind} table"] = question_to(load(path), kind)
    np.savez(FOLDER / "answers.npz", **found)


if __name__ == "__main__":
    sys.exit(write())

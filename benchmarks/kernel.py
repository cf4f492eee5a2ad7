"""The kernel classifier beside what people have: time of fit and of predictions against rows, on one thread.

CatBoost and LightGBM are measured where they are installed. CPU seconds, contenders alternating.
"""

import os

# Before any library asks: the package's own threads, and those of BLAS.
os.environ["OMP_NUM_THREADS"] = "1"

import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from timing import main, peak_bytes

from optiscore import KernelDiscriminantClassifier

GRID = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]}
N_NEW, MOST_OF_GRID = 3000, 4000
COLOURS = {"forest": "C0", "boosting": "C1", "CatBoost": "C2", "LightGBM": "0.45", "SVC grid": "C4"}
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "kernel_speed.png"

# Rows, features, classes and kinds of features; each varied around 1,500 x 20 with two classes.
BY_ROWS = [(n, 20, 2, "continuous") for n in (200, 500, 1_500, 4_000, 10_000, 20_000, 100_000)]
BY_SHAPE = [
    (1_500, 5, 2, "continuous"),
    (1_500, 100, 2, "continuous"),
    (1_500, 20, 10, "continuous"),
    (1_500, 20, 26, "continuous"),
    (1_500, 20, 2, "mixed"),
    (1_500, 100, 2, "one-hot"),
]


def _catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(verbose=0, thread_count=1, random_seed=0, allow_writing_files=False)


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def contenders(n: int) -> dict[str, Callable[[], Any]]:
    """What is there, and can be waited for."""
    found = {
        "kernel": lambda: KernelDiscriminantClassifier(relevance=False),
        "forest": lambda: RandomForestClassifier(300, random_state=0),
        "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    if find_spec("catboost"):
        found["CatBoost"] = _catboost
    if find_spec("lightgbm"):
        found["LightGBM"] = _lightgbm
    if n <= MOST_OF_GRID:
        found["SVC grid"] = lambda: GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=5)
    return found


def make_data(n: int, d: int, n_classes: int, separation: float, kind: str = "continuous") -> tuple:
    """Clusters on the corners of a cube, with features that say nothing; some or all cut into few values."""
    n_informative = min(8, d)
    X, y = make_classification(
        n,
        d,
        n_informative=n_informative,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1 if 2**n_informative < 2 * n_classes else 2,
        flip_y=0.05,
        class_sep=separation,
        random_state=0,
    )
    if kind == "mixed":
        X[:, ::3] = X[:, ::3] > 0
        X[:, 1::3] = np.round(X[:, 1::3]).clip(-3, 3)
    elif kind == "one-hot":
        X = (X > 0).astype(float)
    return X, y


def cpu_seconds(run: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    run()
    return time.process_time() - start


def measure(n: int, d: int, n_classes: int, kind: str, rounds: int) -> dict[str, dict[str, float]]:
    """Best of several rounds, of each contender: fit, one row, 3,000 rows; accuracy."""
    X, y = make_data(n + N_NEW, d, n_classes, 1.0, kind)
    X, y, X_new, y_new = X[:n], y[:n], X[n:], y[n:]
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds if n <= 20_000 else 1):
        for name, make in contenders(n).items():
            model = make()
            fit = cpu_seconds(lambda model=model: model.fit(X, y))
            found = {
                "fit": fit,
                "one row": min(cpu_seconds(lambda model=model: model.predict(X_new[:1])) for _ in range(5)),
                "predict": cpu_seconds(lambda model=model: model.predict(X_new)),
                "accuracy": model.score(X_new, y_new),
            }
            known = best.setdefault(name, found)
            best[name] = {key: min(value, known[key]) for key, value in found.items()}
    return best


def _table(title: str, shapes: list[tuple[int, int, int, str]], rounds: int) -> Table:
    table = Table(title=title)
    for heading in ("rows", "d", "classes", "features", "model", "fit, s", "3,000 rows, s", "one row, ms", "accuracy"):
        table.add_column(heading, justify="right")
    for n, d, n_classes, kind in shapes:
        for name, found in measure(n, d, n_classes, kind, rounds).items():
            times = f"{found['fit']:.3f}", f"{found['predict']:.3f}", f"{1e3 * found['one row']:.2f}"
            table.add_row(str(n), str(d), str(n_classes), kind, name, *times, f"{found['accuracy']:.3f}")
    return table


def rows_table(rounds: int) -> Table:
    """Against rows; drawn, too."""
    table = _table("by rows, 20 features, two classes", BY_ROWS, rounds)
    names, columns = [column.header for column in table.columns], [list(column.cells) for column in table.columns]
    draw([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)])
    return table


def shapes_table(rounds: int) -> Table:
    """Against features, classes and kinds."""
    return _table("1,500 rows of other shapes", BY_SHAPE, rounds)


def memory_table(rounds: int) -> Table:
    """Memory of fit."""
    table = Table("rows", "d", "peak, GB", title="memory of fit beyond the data's")
    for n, d in ((1_500, 20), (20_000, 20), (100_000, 50)):
        X, y = make_data(n, d, 2, 1.0)
        peak = peak_bytes(lambda X=X, y=y: KernelDiscriminantClassifier().fit(X, y))
        table.add_row(str(n), str(d), f"{peak / 1e9:.2f}")
    return table


def draw(rows: list[dict[str, Any]]) -> None:
    """Time against rows, fit on the left and predictions on the right."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, column, title in zip(panels, ("fit, s", "3,000 rows, s"), ("fit", "predict 3,000 rows"), strict=True):
        for name in dict.fromkeys(row["model"] for row in rows):
            points = [(int(row["rows"]), float(row[column])) for row in rows if row["model"] == name]
            is_ours = name == "kernel"
            style = {"linewidth": 2.6 if is_ours else 1.3, "color": COLOURS.get(name, "#c0392b"), "zorder": 2 + is_ours}
            axes.plot(*zip(*points, strict=True), marker="o", markersize=3.5, label=name, **style)
        axes.set(xscale="log", yscale="log", xlabel="training rows", ylabel="CPU seconds, one thread", title=title)
        axes.grid(alpha=0.25)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    figure.savefig(PICTURE, dpi=130)


if __name__ == "__main__":
    main(__doc__, rows_table, shapes_table, memory_table, rounds=2)

"""The kernel classifier: fit against an SVC's grid search and histogram boosting, predict against an SVC."""

import numpy as np
from rich.table import Table
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from timing import best_seconds, main

from optiscore import KernelDiscriminantClassifier

GRID = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1, 1]}
LANDMARKS = 800


def make_data(n: int, d: int, n_classes: int, separation: float) -> tuple[np.ndarray, np.ndarray]:
    """Clusters on the corners of a cube, with features that say nothing."""
    return make_classification(
        n,
        d,
        n_informative=min(8, d),
        n_redundant=0,
        n_classes=n_classes,
        flip_y=0.05,
        class_sep=separation,
        random_state=0,
    )


def fit_table(rounds: int) -> Table:
    """Seconds of the search over 16 SVCs in five folds, and of ours relative to it."""
    table = Table(title="fit, one job: time relative to an SVC's grid search")
    for heading in ("rows", "d", "classes", "SVC grid, s", "kernel", "kernel, short list"):
        table.add_column(heading, justify="right")
    for n in (200, 700, 1500):
        for d, n_classes, separation in ((20, 2, 0.7), (5, 2, 1.5), (20, 5, 0.7)):
            X, y = make_data(n, d, n_classes, separation)
            search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), GRID, cv=5)
            contenders = {
                "grid": lambda s=search, X=X, y=y: s.fit(X, y),
                "kernel": lambda X=X, y=y: KernelDiscriminantClassifier().fit(X, y),
                "short": lambda X=X, y=y: KernelDiscriminantClassifier("short").fit(X, y),
            }
            seconds = best_seconds(contenders, rounds)
            ratios = (f"{seconds[name] / seconds['grid']:.2f}" for name in ("kernel", "short"))
            table.add_row(str(n), str(d), str(n_classes), f"{seconds['grid']:.2f}", *ratios)
    return table


def landmark_table(rounds: int) -> Table:
    """20,000 rows with landmarks against histogram boosting; predictions of 100,000 rows against an SVC."""
    table = Table(title=f"20,000 x 20 with {LANDMARKS} landmarks; predict of 100,000 rows")
    for heading in ("boosting fit, s", "kernel / boosting", "support vectors", "SVC predict, s", "kernel / SVC"):
        table.add_column(heading, justify="right")
    for separation in (0.7, 1.5):
        X, y = make_data(120_000, 20, 2, separation)
        test, X, y = X[20_000:], X[:20_000], y[:20_000]
        model = KernelDiscriminantClassifier(max_landmarks=LANDMARKS, random_state=0)
        fits = {
            "boosting": lambda X=X, y=y: HistGradientBoostingClassifier(random_state=0).fit(X, y),
            "kernel": lambda m=model, X=X, y=y: m.fit(X, y),
        }
        seconds = best_seconds(fits, rounds)
        machine = next(
            svc for n in range(800, 20_000, 200) if (svc := SVC().fit(X[:n], y[:n])).n_support_.sum() >= LANDMARKS
        )
        predictions = {
            "svc": lambda m=machine, P=test: m.predict(P),
            "kernel": lambda m=model, P=test: m.predict(P),
        }
        times = best_seconds(predictions, 1)
        table.add_row(
            f"{seconds['boosting']:.2f}",
            f"{seconds['kernel'] / seconds['boosting']:.1f}",
            str(machine.n_support_.sum()),
            f"{times['svc']:.2f}",
            f"{times['kernel'] / times['svc']:.1f}",
        )
    return table


if __name__ == "__main__":
    main(__doc__, fit_table, landmark_table, rounds=2)

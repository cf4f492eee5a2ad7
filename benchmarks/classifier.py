"""Time and memory of fit and predict against scikit-learn's QDA, as ratios within one run."""

import warnings

import numpy as np
from rich.table import Table
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from timing import best_seconds, main, peak_bytes

from optiscore import OptimisticScoreClassifier

DIMENSIONS = (2, 5, 10, 20, 50, 100, 200)
PREDICT_SIZE, FIT_SIZE = 20_000_000, 2_000_000


def make_data(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian classes of unequal spread."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d))
    X *= (1 + 0.1 * y)[:, None]
    X += y[:, None] / np.sqrt(d)
    return X, y


def predict_table(rounds: int, class_counts: tuple[int, ...] = (2, 10)) -> Table:
    """predict: seconds of QDA, ratios of ours to it, and extra memory beyond the labels in units of X."""
    table = Table(title=f"predict, n d = {PREDICT_SIZE:,}: time relative to QDA, extra memory relative to X")
    for heading in (
        "classes",
        "d",
        "QDA, s",
        "tuned",
        "prior",
        "minimax",
        "memory, tuned",
        "memory, minimax",
        "memory, QDA",
    ):
        table.add_column(heading, justify="right")
    for n_classes in class_counts:
        for d in DIMENSIONS:
            X, y = make_data(PREDICT_SIZE // d, d, n_classes)
            head = slice(0, 20_000 + 200 * d)
            models = {"QDA": QuadraticDiscriminantAnalysis().fit(X[head], y[head])}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # "prior" gives most rows to one class here; it is timed
                for rule in ("tuned", "prior", "minimax"):
                    models[rule] = OptimisticScoreClassifier(decision_rule=rule).fit(X[head], y[head])
            seconds = best_seconds({name: lambda m=m, X=X: m.predict(X) for name, m in models.items()}, rounds)
            # QDA's memory is proportional to X and slow to trace: a tenth of the rows tells it.
            part = {"tuned": X, "minimax": X, "QDA": X[: len(X) // 10]}
            memory = {
                name: (peak_bytes(lambda m=models[name], P=P: m.predict(P)) - 8 * len(P)) / P.nbytes
                for name, P in part.items()
            }
            ratios = [f"{seconds[name] / seconds['QDA']:.2f}" for name in ("tuned", "prior", "minimax")]
            table.add_row(
                str(n_classes), str(d), f"{seconds['QDA']:.3f}", *ratios, *(f"{m:.2f}" for m in memory.values())
            )
    return table


def fit_table(rounds: int) -> Table:
    """Fit with the defaults (Ledoit-Wolf, clt, tuned): seconds of QDA, ratio of ours to it, and the growth with n."""
    table = Table(title=f"fit, n d = {FIT_SIZE:,}, two classes: time relative to QDA")
    for heading in ("d", "QDA, s", "ours / QDA", "ours, 4 n / n"):
        table.add_column(heading, justify="right")
    for d in DIMENSIONS:
        X, y = make_data(FIT_SIZE // d, d, 2)
        long_X, long_y = np.tile(X, (4, 1)), np.tile(y, 4)
        ours, qda = OptimisticScoreClassifier(), QuadraticDiscriminantAnalysis()
        seconds = best_seconds(
            {
                "qda": lambda m=qda, X=X, y=y: m.fit(X, y),
                "ours": lambda m=ours, X=X, y=y: m.fit(X, y),
                "long": lambda m=ours, X=long_X, y=long_y: m.fit(X, y),
            },
            rounds,
        )
        ratios = f"{seconds['ours'] / seconds['qda']:.2f}", f"{seconds['long'] / seconds['ours']:.1f}"
        table.add_row(str(d), f"{seconds['qda']:.3f}", *ratios)
    return table


if __name__ == "__main__":
    main(__doc__, fit_table, predict_table, rounds=2)

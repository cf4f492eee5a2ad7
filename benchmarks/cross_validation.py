"""Time of the cross-validated classifier against scikit-learn's GridSearchCV and against a single fit, in one run."""

from itertools import product

import numpy as np
from classifier import make_data
from rich.table import Table
from sklearn.model_selection import GridSearchCV
from timing import best_seconds, main, peak_bytes

from optiscore import OptimisticScoreClassifier, OptimisticScoreClassifierCV
from optiscore.robust.scores.base import _table
from reproduction.methods import GRID

N, D = 20_000, 20
RADII = GRID * np.sqrt(D)


def cold(run):
    """The same work with all tables of scores to be made anew, as in a new process."""

    def run_cold() -> None:
        _table.cache_clear()
        run()

    return run_cold


def search_table(rounds: int) -> Table:
    """Seconds of both searches and of a fit, and their ratios, with and without the tables of an earlier call."""
    X, y = make_data(N, D, 2)
    ours = OptimisticScoreClassifierCV(radii=RADII)
    grid = GridSearchCV(OptimisticScoreClassifier(), {"radius": list(product(RADII, RADII))})
    fit = OptimisticScoreClassifier()
    seconds = best_seconds(
        {
            "grid": lambda: grid.fit(X, y),
            "cold": cold(lambda: ours.fit(X, y)),
            "warm": lambda: ours.fit(X, y),
            "fit cold": cold(lambda: fit.fit(X, y)),
            "fit warm": lambda: fit.fit(X, y),
        },
        rounds,
    )
    difference = np.abs(ours.cv_results_["mean_test_score"] - grid.cv_results_["mean_test_score"]).max()
    memory = peak_bytes(lambda: ours.fit(X, y)) / X.nbytes
    table = Table(title=f"{N:,} x {D}, 10 x 10 radii, 5 folds, 1 job; scores differ by {difference:.1g}")
    for heading in ("tables", "search, s", "GridSearchCV, s", "times faster", "fit, s", "search / fit", "memory / X"):
        table.add_column(heading, justify="right")
    for state in ("cold", "warm"):
        search, single = seconds[state], seconds[f"fit {state}"]
        ratios = f"{seconds['grid'] / search:.0f}", f"{single:.4f}", f"{search / single:.0f}"
        table.add_row(state, f"{search:.3f}", f"{seconds['grid']:.1f}", *ratios, f"{memory:.1f}")
    return table


if __name__ == "__main__":
    main(__doc__, search_table, rounds=3)

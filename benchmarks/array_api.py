"""predict on PyTorch's tensors against NumPy's arrays of the same type, as ratios within one run (needs torch)."""

import os

# Before SciPy is imported: scikit-learn's dispatch asks for it.
os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import torch
from classifier import make_data
from rich.table import Table
from sklearn import config_context
from timing import best_seconds, main

from optiscore import OptimisticScoreClassifier

SIZES = ((1_000_000, 20), (4_000_000, 5), (200_000, 100))


def predict_table(rounds: int) -> Table:
    """Seconds of predict on both, float32 and float64, two classes."""
    table = Table(title=f"predict, two classes, PyTorch {torch.__version__} on the CPU")
    for heading in ("samples", "d", "type", "rule", "NumPy, s", "PyTorch, s", "ratio"):
        table.add_column(heading, justify="right")
    for n, d in SIZES:
        for dtype in (np.float32, np.float64):
            X, y = make_data(n, d, 2)
            X = X.astype(dtype)
            tensor = torch.asarray(X)
            head = slice(0, 20_000)
            for rule in ("tuned", "minimax"):
                ours = OptimisticScoreClassifier(decision_rule=rule).fit(X[head], y[head])
                with config_context(array_api_dispatch=True):
                    there = OptimisticScoreClassifier(decision_rule=rule).fit(tensor[head], torch.asarray(y[head]))
                    both = {
                        "NumPy": lambda m=ours, X=X: m.predict(X),
                        "PyTorch": lambda m=there, X=tensor: m.predict(X),
                    }
                    seconds = best_seconds(both, rounds)
                ratio = f"{seconds['PyTorch'] / seconds['NumPy']:.2f}"
                table.add_row(f"{n:,}", str(d), dtype.__name__, rule, *(f"{s:.4f}" for s in seconds.values()), ratio)
    return table


if __name__ == "__main__":
    main(__doc__, predict_table, rounds=7)

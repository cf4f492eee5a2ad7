"""Rows per second of `optiscore predict` on numbers, against pyarrow reading and writing the same table."""

import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv
from classifier import make_data
from rich.table import Table
from timing import best_seconds, main

from optiscore import OptimisticScoreClassifier
from optiscore.cli.prediction import predict_file
from optiscore.cli.table_model import TableModel
from optiscore.cli.training import train
from optiscore.io.progress import progress_bar

N, D, N_TRAINING = 300_000, 10, 2_000


def command_table(rounds: int) -> Table:
    """Seconds of a copy by pyarrow, of a prediction, and of training on a small table."""
    table = Table(title=f"optiscore predict, {N:,} rows of {D} numbers as CSV; fit on {N_TRAINING:,} rows")
    for heading in ("pyarrow, rows/s", "predict, rows/s", "predict / pyarrow", "fit, s"):
        table.add_column(heading, justify="right")
    X, y = make_data(N, D, 2)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(D)]).assign(label=np.where(y == 1, "sick", "well"))
    with tempfile.TemporaryDirectory() as folder:
        rows, training, out = (str(Path(folder) / name) for name in ("rows.csv", "training.csv", "out.csv"))
        frame.to_csv(rows, index=False)
        frame[:N_TRAINING].to_csv(training, index=False)
        start = time.perf_counter()
        model = _train(training)
        training_time = time.perf_counter() - start
        contenders = {
            "pyarrow": lambda: pyarrow.csv.write_csv(pyarrow.csv.read_csv(rows), out),
            "predict": lambda: predict_file(model, rows, out, 1.0, lambda done: None),
        }
        rates = {name: N / seconds for name, seconds in best_seconds(contenders, rounds).items()}
    cells = (f"{rate:,.0f}" for rate in rates.values())
    table.add_row(*cells, f"{rates['predict'] / rates['pyarrow']:.2f}", f"{training_time:.2f}")
    return table


def _train(path: str) -> TableModel:
    classifier = OptimisticScoreClassifier(decision_rule="minimax")
    return train(path, "label", classifier, 0, lambda doing: progress_bar(doing, None, visible=False))


if __name__ == "__main__":
    main(__doc__, command_table, rounds=3)

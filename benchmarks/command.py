"""Rows per second of `optiscore predict` on numbers, against pyarrow reading and writing the same table."""

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.csv
from classifier import make_data
from rich.table import Table
from timing import best_seconds, main

from optiscore.estimators.progress import progress_bar
from optiscore.table.answers import thresholds_for
from optiscore.table.prediction import OutputOptions, predict_file
from optiscore.table.selection import ModelOptions, candidates
from optiscore.table.table_model import TableModel
from optiscore.table.training import Plan, train

N, D, N_TRAINING = 300_000, 10, 2_000


def command_table(rounds: int) -> Table:
    """Rows per second of a copy by pyarrow and of predictions by each model, and seconds of training."""
    table = Table(title=f"optiscore predict, {N:,} rows of {D} numbers as CSV; fit on {N_TRAINING:,} rows")
    for heading in ("model", "pyarrow, rows/s", "predict, rows/s", "predict / pyarrow", "fit, s"):
        table.add_column(heading, justify="right")
    X, y = make_data(N, D, 2)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(D)]).assign(label=np.where(y == 1, "sick", "well"))
    with tempfile.TemporaryDirectory() as folder:
        rows, training, out = (str(Path(folder) / name) for name in ("rows.csv", "training.csv", "out.csv"))
        frame.to_csv(rows, index=False)
        frame[:N_TRAINING].to_csv(training, index=False)
        for name in ("moderated", "optimistic", "kernel"):
            start = time.perf_counter()
            model = _train(training, name)
            seconds = time.perf_counter() - start
            wanted = OutputOptions(thresholds_for(model.classifier, model.least_typical, []))
            contenders = {
                "pyarrow": lambda: pyarrow.csv.write_csv(pyarrow.csv.read_csv(rows), out),
                "predict": partial(predict_file, model, rows, out, wanted, lambda done: None),
            }
            found = best_seconds(contenders, 1 if name == "kernel" else rounds)
            rates = {contender: N / taken for contender, taken in found.items()}
            cells = (f"{rate:,.0f}" for rate in rates.values())
            table.add_row(name, *cells, f"{rates['predict'] / rates['pyarrow']:.2f}", f"{seconds:.2f}")
    return table


def _train(path: str, name: str) -> TableModel:
    plan = Plan(path, "label", candidates(name, ModelOptions(), no_rows=False, seed=0))
    return train(plan, None, lambda doing, total: progress_bar(doing, total, visible=False))


if __name__ == "__main__":
    main(__doc__, command_table, rounds=3)

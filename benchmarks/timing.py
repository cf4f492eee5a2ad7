"""Measure contenders fairly: alternating in one run, best of several, with peak memory; show and store what it is."""

import argparse
import csv
import os
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table

Contender = Callable[[], object]


def best_seconds(contenders: Mapping[str, Contender], rounds: int = 7) -> dict[str, float]:
    """Shortest time of each contender over several rounds in which they take turns; one warm-up round."""
    best = dict.fromkeys(contenders, float("inf"))
    for round_number in range(rounds + 1):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            if round_number:
                best[name] = min(best[name], time.perf_counter() - start)
    return best


def peak_bytes(run: Contender) -> int:
    """Largest memory that a call allocates on top of what there was, NumPy's arrays included."""
    run()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        run()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def main(description: str, *tables: Callable[[int], Table], rounds: int) -> None:
    """Print tables, each made for a number of rounds that the command line may change, and store them where it says."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds in which the contenders take turns")
    parser.add_argument("--store", type=Path, help="folder for the tables as CSV, beside those of other benchmarks")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, numpy {np.__version__}; best of {arguments.rounds}, contenders alternating.")
    for make in tables:
        publish(make.__name__.removesuffix("_table"), make(arguments.rounds), arguments.store)


def publish(name: str, table: Table, store: Path | None) -> None:
    """Print a table, and store it under the name of this program and its own."""
    Console(width=None if sys.stdout.isatty() else 130).print(table)
    if store is not None:
        store.mkdir(parents=True, exist_ok=True)
        program = Path(sys.argv[0]).stem
        _write(store / f"{program}_{name}.csv", [[column.header for column in table.columns], *_rows(table)])
        facts = {
            "cores": os.cpu_count(),
            "Python": platform.python_version(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "date": time.strftime("%Y-%m-%d"),
        }
        _write(store / "about.csv", [list(facts), list(facts.values())])


def _rows(table: Table) -> list[tuple[object, ...]]:
    return list(zip(*(column.cells for column in table.columns), strict=True))


def _write(path: Path, rows: list) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)

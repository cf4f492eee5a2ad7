"""Measure contenders fairly: alternating in one run, best of several, with peak memory; and print what was found."""

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable, Mapping

import numpy as np
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
    """Print tables, each made for a number of rounds that the command line may change."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds, help="rounds in which the contenders take turns")
    rounds = parser.parse_args().rounds
    console = Console(width=None if Console().is_terminal else 130)
    console.print(f"{os.cpu_count()} cores, numpy {np.__version__}; best of {rounds}, contenders alternating.")
    for make in tables:
        console.print(make(rounds))

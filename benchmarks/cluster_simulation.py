"""fit on a cluster as a simulation: block times, messages and the scheduler are measured here, and then extrapolated.

The simulated cluster has one scheduler, which handles one task after the other, and workers that ask it for work. A
block takes as long as a measured one; a merge fetches its parts over the network first. Nothing else is modelled:
disks, stragglers and a network that is shared are not.
"""

import argparse
import heapq
import pickle
import time
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
from dask.distributed import Client, LocalCluster
from dask_fit import N_BLOCKS, N_FEATURES, N_ROWS, fit, make_data, make_labels, make_samples
from rich.table import Table
from timing import publish

from optiscore.dask import estimator
from optiscore.dask.blocks import _BRANCHES as BRANCHES

# Assumed, since one machine cannot tell: 10 Gbit/s and half a millisecond from worker to worker.
BYTES_PER_SECOND, LATENCY = 1.25e9, 5e-4


@dataclass(frozen=True)
class Costs:
    """Seconds and bytes of the parts of a fit."""

    block: np.ndarray
    merge: float
    task: float
    start: float
    message: int

    def scaled(self, factor: float) -> "Costs":
        """Blocks of so many times the rows."""
        return replace(self, block=self.block * factor)


def measure(client: Client, repeats: int = 40) -> Costs:
    """Costs on this machine: blocks on a worker, the rest as the client sees it."""

    def block(i: int) -> tuple[float, estimator.LabelledSums]:
        start = time.perf_counter()
        info = {None: {"chunk-location": (i, 0), "chunk-shape": (N_ROWS // N_BLOCKS, N_FEATURES)}}
        sums = estimator.sums_of_block(make_samples(info), make_labels(info))
        return time.perf_counter() - start, sums

    results = client.gather([client.submit(block, i, pure=False) for i in range(repeats)])
    parts = [sums for _, sums in results]
    start = time.perf_counter()
    reduce(lambda a, b: estimator.merge_sums([a, b]), parts)
    merge = (time.perf_counter() - start) / (len(parts) - 1)
    return Costs(
        np.array([seconds for seconds, _ in results]),
        merge,
        _seconds_per_task(client),
        _seconds_to_start(client),
        len(pickle.dumps(parts[0])),
    )


def _seconds_per_task(client: Client, n: int = 4000) -> float:
    """What client and scheduler spend on a task that does nothing."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        client.gather(client.map(int, range(n), pure=False))
        best = min(best, time.perf_counter() - start)
    return best / n


def _seconds_to_start(client: Client) -> float:
    best = np.inf
    for _ in range(10):
        start = time.perf_counter()
        client.submit(int, 0, pure=False).result()
        best = min(best, time.perf_counter() - start)
    return best


def simulate(costs: Costs, n_blocks: int, n_workers: int, seed: int = 0) -> float:
    """Seconds until the sums of all blocks are merged into one."""
    rng = np.random.default_rng(seed)
    fetch = costs.message / BYTES_PER_SECOND + LATENCY
    scheduler = costs.start
    workers = [(0.0, w) for w in range(n_workers)]
    heapq.heapify(workers)

    def run(ready: float, seconds: float) -> float:
        """When a task that is ready ends: the scheduler has to see it first, then a worker has to be free."""
        nonlocal scheduler
        scheduler = max(scheduler, ready) + costs.task
        free, worker = heapq.heappop(workers)
        end = max(free, scheduler) + seconds
        heapq.heappush(workers, (end, worker))
        return end

    ends = [run(0.0, seconds) for seconds in rng.choice(costs.block, n_blocks)]
    while True:
        groups = [ends[i : i + BRANCHES] for i in range(0, len(ends), BRANCHES)]
        work = sorted((max(group), len(group)) for group in groups)
        ends = [run(ready, size * (fetch + costs.merge)) for ready, size in work]
        if len(ends) == 1:
            return ends[0] + fetch


def costs_table(costs: Costs) -> Table:
    """What was measured."""
    table = Table(title=f"parts of a fit, blocks of {N_ROWS // N_BLOCKS:,} x {N_FEATURES}")
    milliseconds = {"block": costs.block.mean(), "merge": costs.merge, "task": costs.task, "start": costs.start}
    for name in milliseconds:
        table.add_column(f"{name}, ms", justify="right")
    table.add_column("message, bytes", justify="right")
    table.add_row(*(f"{1e3 * seconds:.2f}" for seconds in milliseconds.values()), f"{costs.message:,}")
    return table


def calibration_table(costs: Costs, measured: dict[int, float]) -> Table:
    """The simulation against what was measured."""
    table = Table(title=f"{N_ROWS:,} rows in {N_BLOCKS} blocks: simulated against measured")
    for heading in ("workers", "measured, s", "simulated, s"):
        table.add_column(heading, justify="right")
    for workers, seconds in measured.items():
        table.add_row(str(workers), f"{seconds:.1f}", f"{simulate(costs, N_BLOCKS, workers):.1f}")
    return table


def extrapolation_table(costs: Costs) -> Table:
    """Seconds for more rows on more workers, with blocks of several sizes, and what they wait for."""
    table = Table(title="simulated: seconds, and the fraction of them that the workers compute")
    for heading in ("rows", "workers", "rows per block", "blocks", "seconds", "workers busy", "scheduler busy"):
        table.add_column(heading, justify="right")
    per_block = N_ROWS // N_BLOCKS
    for rows, workers, size in CASES:
        scaled, n_blocks = costs.scaled(size / per_block), int(rows // size)
        seconds = simulate(scaled, n_blocks, workers)
        n_tasks = n_blocks * BRANCHES / (BRANCHES - 1)
        busy = n_blocks * scaled.block.mean() / workers / seconds
        table.add_row(
            f"{rows:.0e}",
            str(workers),
            f"{size:.0e}",
            f"{n_blocks:.0e}",
            f"{seconds:,.0f}",
            f"{busy:.0%}",
            f"{n_tasks * costs.task / seconds:.0%}",
        )
    return table


CASES = [
    (1e9, 1, 1e5),
    (1e9, 10, 1e5),
    (1e9, 100, 1e5),
    (1e9, 1000, 1e5),
    (1e12, 100, 1e6),
    (1e12, 1000, 1e6),
    (1e12, 1000, 3e6),
    (1e12, 1000, 1e7),
]


def draw(costs: Costs, path: Path) -> None:
    """Speed-up over the number of workers for 1e10 rows, by size of the blocks."""
    from matplotlib import pyplot as plt

    workers = np.unique(np.logspace(0, 3, 13).astype(int))
    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for size in (1e5, 1e6, 1e7):
        scaled = costs.scaled(size / (N_ROWS // N_BLOCKS))
        alone = 1e10 / size * scaled.block.mean()
        ax.plot(workers, [alone / simulate(scaled, int(1e10 // size), w) for w in workers], label=f"{size:,.0f}")
    ax.plot(workers, workers, color="0.7", linestyle=":", zorder=0)
    ax.set(xscale="log", yscale="log", xlabel="workers", ylabel="times as fast as one worker alone")
    ax.set_title("fit of ten billion rows, simulated")
    ax.legend(title="rows per block")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure, simulate, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, help="where to save the picture of the speed-up")
    parser.add_argument("--store", type=Path, help="folder for the tables as CSV")
    arguments = parser.parse_args()
    X, y = make_data()
    measured = {}
    for workers in (1, 2):
        options = {"threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(n_workers=workers, **options) as cluster, Client(cluster) as client:
            if workers == 1:
                costs = measure(client)
            fit(X, y, client)
            start = time.perf_counter()
            fit(X, y, client)
            measured[workers] = time.perf_counter() - start
    publish("costs", costs_table(costs), arguments.store)
    publish("calibration", calibration_table(costs, measured), arguments.store)
    publish("extrapolation", extrapolation_table(costs), arguments.store)
    if arguments.picture is not None:
        draw(costs, arguments.picture)


if __name__ == "__main__":
    main()

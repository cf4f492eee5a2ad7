"""fit on Dask against generating the blocks plus the matrix products, with one and two workers, and its memory."""

import resource
import time

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from rich.table import Table
from timing import best_seconds, main

from optiscore import OptimisticScoreClassifier as InMemory
from optiscore.dask import OptimisticScoreClassifier
from optiscore.dask.blocks import map_labelled

N_ROWS, N_BLOCKS, N_FEATURES = 20_000_000, 200, 20
SUBSET = 500_000


def make_data() -> tuple[da.Array, da.Array]:
    """Two overlapping Gaussian classes, generated lazily and block by block."""
    rows = N_ROWS // N_BLOCKS
    chunks = ((rows,) * N_BLOCKS, (N_FEATURES,))
    X = da.map_blocks(make_samples, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))
    y = da.map_blocks(make_labels, chunks=chunks[:1], dtype=np.int64, meta=np.empty(0, dtype=np.int64))
    return X, y


def make_labels(block_info: dict | None = None) -> np.ndarray:
    """The labels of one block, always the same."""
    (block, *_), (rows, *_) = block_info[None]["chunk-location"], block_info[None]["chunk-shape"]
    return np.random.default_rng([0, block]).integers(2, size=rows)


def make_samples(block_info: dict | None = None) -> np.ndarray:
    """The samples of one block."""
    y = make_labels(block_info)
    rng = np.random.default_rng([1, block_info[None]["chunk-location"][0]])
    return rng.normal(0.3 * y[:, None], 1.0, size=(len(y), N_FEATURES))


def products(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The matrix products that a block of samples needs, with operands in cache: the least that fit can do."""
    width, rows = 1 + 2 * X.shape[1], 3276
    powers, total = np.ones((width, rows)), np.zeros((width, width))
    for _ in range(len(X) // rows):
        total += powers @ powers.T
    return total


def floor_of(X: da.Array, y: da.Array, client: Client) -> None:
    """Make all blocks and do the products, nothing else; one task per block, as in fit."""
    with client.as_current():
        client.gather(client.compute(map_labelled(products, X, y)))


def fit(X: da.Array, y: da.Array, client: Client, rule: str = "minimax") -> None:
    """Fit on a cluster."""
    with client.as_current():
        OptimisticScoreClassifier(decision_rule=rule).fit(X, y)


def same_model(X: da.Array, y: da.Array, client: Client) -> float:
    """Largest relative difference between the models on Dask and in memory, on a part of the data."""
    X, y = X[:SUBSET], y[:SUBSET]
    with client.as_current():
        one = OptimisticScoreClassifier(decision_rule="minimax").fit(X, y)
        other = InMemory(decision_rule="minimax").fit(X.compute(), y.compute())
    names = ("priors_", "means_", "covariances_", "radii_", "offsets_")
    return max(
        float(np.abs(getattr(one, n) - getattr(other, n)).max() / np.abs(getattr(other, n)).max()) for n in names
    )


def peak_gigabytes() -> float:
    """Peak memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def fit_table(rounds: int) -> Table:
    """Seconds of fit and of its floor, with one and with two workers; memory; and whether the model is right."""
    X, y = make_data()
    table = Table(title=f"fit on Dask, {N_ROWS:,} x {N_FEATURES} in {N_BLOCKS} blocks, one thread per worker")
    for heading in (
        "workers",
        "blocks + products, s",
        "fit, s",
        "ratio",
        "tuned once, s",
        "peak GB per worker",
        "speed-up",
    ):
        table.add_column(heading, justify="right")
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "4GB"}
    with LocalCluster(n_workers=1, **options) as single, LocalCluster(n_workers=2, **options) as pair:
        clients = {1: Client(single), 2: Client(pair)}
        jobs = {(name, n): lambda job=job, c=c: job(X, y, c) for n, c in clients.items() for name, job in JOBS.items()}
        seconds = best_seconds(jobs, rounds)
        for n, client in clients.items():
            start = time.perf_counter()
            fit(X, y, client, "tuned")
            tuned = time.perf_counter() - start
            memory = max(client.run(peak_gigabytes).values())
            table.add_row(
                str(n),
                f"{seconds['floor', n]:.2f}",
                f"{seconds['fit', n]:.2f}",
                f"{seconds['fit', n] / seconds['floor', n]:.2f}",
                f"{tuned:.2f}",
                f"{memory:.2f}",
                f"{seconds['fit', 1] / seconds['fit', n]:.2f}",
            )
        table.caption = (
            f"largest relative difference to the model in memory, {SUBSET:,} rows: {same_model(X, y, clients[2]):.1e}"
        )
    return table


JOBS = {"floor": floor_of, "fit": fit}

if __name__ == "__main__":
    main(__doc__, fit_table, rounds=3)

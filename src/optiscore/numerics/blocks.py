"""A function of the rows of a large array, block by block, on threads; and work on threads, which a fork waits for."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from numbers import Integral
from threading import Condition, Lock, local
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

from .arrays import Array

Item = TypeVar("Item")
Result = TypeVar("Result")
#: One array, or several; the samples run along the last axis of each.
Parts = TypeVar("Parts")

# Numbers per sample that a function works with, times samples: threads meet at the interpreter's lock after every array
# operation, so that small blocks would make them wait for each other. In between, some six arrays of a block's size in
# each thread are a tenth of the samples.
_SMALLEST_BLOCK, _LARGEST_BLOCK, _PART_OF_SAMPLES, _MAX_ROWS = 65_536, 131_072, 60, 65_536

# Rows on a device: enough to keep an accelerator busy.
_DEVICE_ROWS = 1_048_576

# Below this many numbers a second thread costs more than it brings.
_SERIAL_SIZE = 1_000_000

# Seconds that a fork waits for other threads.
_PATIENCE = 30.0


def map_blocks(function: Callable[[Array], Parts], X: Array, *, width: int = 1, operations: int = 0) -> Parts:
    """Return ``function(block)`` of blocks of rows of X, joined as if it had been called once.

    The function takes rows of X, which may be of any library, and returns an array of NumPy's, or a tuple of these,
    whose last axis runs over the rows. It may be called from several threads at once. ``width`` says how many numbers
    per row it works with: the wider, the fewer rows there are in a block. ``operations`` per row, where they are more
    than it has numbers, say whether threads are worth it.

    Examples
    --------
    >>> import numpy as np
    >>> from optiscore.numerics.blocks import map_blocks
    >>> map_blocks(lambda block: (block.sum(axis=1), block.max(axis=1)), np.eye(3))
    (array([1., 1., 1.]), array([1., 1., 1.]))
    """
    n, threads, step = X.shape[0], 1, _DEVICE_ROWS
    if isinstance(X, np.ndarray):
        threads = n_threads(max(X.size, n * operations))
        size = min(max(X.size // (_PART_OF_SAMPLES * threads), _SMALLEST_BLOCK), _LARGEST_BLOCK)
        largest = max(1, min(size // width, _MAX_ROWS))
        # As many blocks for each thread as for the others.
        step = -(-n // (threads * -(-n // (threads * largest)))) if n else 1
    if step >= n:
        with _at_work:
            return function(X)
    joined = _Joined(n)

    def work(start: int) -> None:
        rows = slice(start, min(start + step, n))
        joined.put(rows, function(X[rows, :]))

    map_threads(work, range(0, n, step), threads)
    return joined.parts


class _Joined:
    """Arrays for all samples, made to the measure of the first result that arrives."""

    def __init__(self, n: int) -> None:
        self._n, self._lock = n, Lock()
        self.parts: Any = None

    def put(self, rows: slice, result: Any) -> None:
        with self._lock:
            if self.parts is None:
                self.parts = tuple(map(self._empty, result)) if isinstance(result, tuple) else self._empty(result)
        pairs = zip(self.parts, result, strict=True) if isinstance(result, tuple) else ((self.parts, result),)
        for whole, part in pairs:
            whole[..., rows] = part

    def _empty(self, part: np.ndarray) -> np.ndarray:
        return np.empty((*part.shape[:-1], self._n), dtype=part.dtype)


def n_threads(size: int) -> int:
    """Return how many threads shall work on so many numbers; OMP_NUM_THREADS caps it, as joblib's workers expect."""
    if size <= _SERIAL_SIZE or getattr(_thread, "is_pooled", False):
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = getattr(_thread, "most", None) or _n_cores()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


@contextmanager
def threads_at_most(n_jobs: int | None) -> Iterator[None]:
    """Context in which work that starts in this thread takes so many threads at most, -1 all cores; None: no limit."""
    if n_jobs is None:
        yield
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or not n_jobs:
        raise ValueError(f"n_jobs must be an integer other than 0, or None, got {n_jobs!r}.")
    before, most = getattr(_thread, "most", None), joblib.effective_n_jobs(n_jobs)
    _thread.most = most
    try:
        with _thread_pools().limit(limits=most, user_api="blas"):
            yield
    finally:
        _thread.most = before


def map_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Return results of the work on all items, in order; with several threads, BLAS has one in each of them."""
    with _at_work:
        if threads == 1:
            return [work(item) for item in items]
        with _single_threaded_blas:
            return list(_pool(threads).map(work, items))


_thread = local()


def _mark() -> None:
    """Work in a pool's thread must not wait for that pool: it asks for no threads of its own."""
    _thread.is_pooled = True


# Starting threads takes longer than a prediction of a thousand samples.
@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="optiscore", initializer=_mark)


# Asking the system takes as long as a small prediction.
_n_cores = cache(joblib.cpu_count)


class _SingleThreadedBlas:
    """Context in which BLAS runs on one thread; the first to enter sets it, the last to leave sets it back.

    The setting belongs to the process: callers from several threads must not each save and restore it.
    """

    def __init__(self, libraries: Callable[[], ThreadpoolController]) -> None:
        self._limiter: Any = None
        self._libraries = libraries
        self.reset()

    def reset(self) -> None:
        self._lock, self._users = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limiter = self._libraries().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limiter.restore_original_limits()


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _of_numpy_alone() -> ThreadpoolController:
    """Return NumPy's BLAS where SciPy has one of its own, as in wheels; otherwise none."""
    paths = [library.filepath for library in _thread_pools().lib_controllers if library.user_api == "blas"]
    of_numpy = [path for path in paths if f"{os.sep}numpy" in path]
    return _thread_pools().select(filepath=of_numpy if len(of_numpy) < len(paths) else [])


_single_threaded_blas = _SingleThreadedBlas(_thread_pools)

#: Context of work in SciPy's LAPACK: threads of another BLAS, which wait for work by turning, would take its cores.
lapack_alone = _SingleThreadedBlas(_of_numpy_alone)


class _AtWork:
    """Context of work with arrays, which a fork of the process waits for.

    OpenBLAS stops its threads before a fork. A product that another thread is in at that moment waits for them for
    ever, in the parent or in the child.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._condition, self._n, self._is_closed = Condition(), 0, False

    def __enter__(self) -> None:
        _thread.depth = getattr(_thread, "depth", 0) + 1
        if _thread.depth == 1:
            with self._condition:
                while self._is_closed:
                    self._condition.wait()
                self._n += 1

    def __exit__(self, *_: object) -> None:
        _thread.depth -= 1
        if _thread.depth == 0:
            with self._condition:
                self._n -= 1
                self._condition.notify_all()

    def close(self) -> None:
        """Let nobody in, and wait until all others are out."""
        own = int(getattr(_thread, "depth", 0) > 0)
        with self._condition:
            self._is_closed = True
            self._condition.wait_for(lambda: self._n <= own, _PATIENCE)

    def open(self) -> None:
        with self._condition:
            self._is_closed = False
            self._condition.notify_all()


_at_work = _AtWork()


def _start_anew() -> None:
    """Forget what a forked process has of its parent's threads: the objects are there, the threads are not."""
    _pool.cache_clear()
    _single_threaded_blas.reset()
    lapack_alone.reset()
    _at_work.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_at_work.close, after_in_parent=_at_work.open, after_in_child=_start_anew)

"""Threads for large arrays: how many there may be, and BLAS on one thread in each of them."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Below this many numbers a second thread costs more than it brings.
_SERIAL_SIZE = 1_000_000


def n_threads(size: int) -> int:
    """How many threads shall work on so many numbers; OMP_NUM_THREADS caps it, as joblib's workers expect."""
    if size <= _SERIAL_SIZE:
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = joblib.cpu_count()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def map_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Results of the work on all items, in order; with several threads, BLAS has one in each of them."""
    if threads == 1:
        return [work(item) for item in items]
    with single_threaded_blas, ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


class _SingleThreadedBlas:
    """Context in which BLAS runs on one thread; the first to enter sets it, the last to leave sets it back.

    The setting belongs to the process: callers from several threads must not each save and restore it.
    """

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._limiter = _thread_pools().limit(limits=1, user_api="blas")

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limiter.restore_original_limits()


single_threaded_blas = _SingleThreadedBlas()


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()

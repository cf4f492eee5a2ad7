"""Threads for large arrays: how many there may be, and BLAS on one thread in each of them."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

# Below this many numbers a second thread costs more than it brings.
_SERIAL_SIZE = 1_000_000


def n_threads(size: int) -> int:
    """How many threads shall work on so many numbers; OMP_NUM_THREADS caps it, as joblib's workers expect."""
    if size <= _SERIAL_SIZE or getattr(_inside, "pool", False):
        return 1
    limit = os.environ.get("OMP_NUM_THREADS", "")
    cores = _n_cores()
    return max(1, min(cores, int(limit))) if limit.isdigit() else cores


def map_threads(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Results of the work on all items, in order; with several threads, BLAS has one in each of them."""
    if threads == 1:
        return [work(item) for item in items]
    with single_threaded_blas:
        return list(_pool(threads).map(work, items))


def _mark() -> None:
    """Work in a pool's thread must not wait for that pool: it asks for no threads of its own."""
    _inside.pool = True


_inside = local()


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

    def __init__(self) -> None:
        self._limiter: Any = None
        self.reset()

    def reset(self) -> None:
        """Nobody is inside."""
        self._lock, self._users = Lock(), 0

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


def _forget_threads() -> None:
    """A forked process has the objects, but not the threads that use them."""
    _pool.cache_clear()
    single_threaded_blas.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)

"""Threads of our own, and a Ctrl-C that ends them at the next piece of work.

Python delivers Ctrl-C to the main thread between any two steps, also while it hands work to a pool and
holds one of its locks; that lock is then never given back, and the pool waits for ever. So while a pool is
at work the signal is only noted. What is left to do is skipped, and ``KeyboardInterrupt`` is raised where no
lock is held.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from amiss.arrays import Rows

CONTAINER = Path("/sys/fs/cgroup")  # where Linux says what a container may use
LARGE_BLOCK = 1 << 16  # rows
BLOCK_ROWS = 1024  # of arrays that stay in the cache while several things are done to them

Item = TypeVar("Item")
Result = TypeVar("Result")
Array = npt.NDArray[Any]


class Workers:
    """A pool of threads that an interrupt ends."""

    def __init__(self, pool: ThreadPoolExecutor, interrupted: threading.Event) -> None:
        self._pool, self._interrupted = pool, interrupted

    def each(self, work: Callable[[Item], None], items: Iterable[Item]) -> None:
        """Do ``work`` for every item, on all threads."""

        def unless_interrupted(item: Item) -> None:
            if not self._interrupted.is_set():
                work(item)

        for _ in self._pool.map(unless_interrupted, items):
            pass
        self.check()

    def check(self) -> None:
        """Raise what was noted."""
        if self._interrupted.is_set():
            self._interrupted.clear()
            raise KeyboardInterrupt


@contextmanager
def workers(n_threads: int) -> Iterator[Workers]:
    """Threads for a while."""
    with _noted_interrupts() as interrupted:
        with ThreadPoolExecutor(n_threads) as pool:
            ours = Workers(pool, interrupted)
            yield ours
        ours.check()


@contextmanager
def _noted_interrupts() -> Iterator[threading.Event]:
    """Note Ctrl-C instead of raising it, where raising it is what would happen."""
    noted = threading.Event()
    usual = signal.default_int_handler
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not usual:
        yield noted
        return

    def note(*_: Any) -> None:
        noted.set()

    signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, usual)


def in_order(work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None) -> Iterator[Result]:
    """What ``work`` makes of every item, in their order; threads are never more than a few items ahead."""
    n_threads, waiting = thread_count(n_jobs), deque[Future[Result]]()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for rest in waiting:
                rest.cancel()


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS on one thread for a while, where we have threads of our own."""
    return _blas_libraries(len(sys.modules)).limit(limits=1, user_api="blas")


def one_openmp_thread() -> AbstractContextManager[Any]:
    """OpenMP on one thread for a while, for what the calling thread starts."""
    return _blas_libraries(len(sys.modules)).limit(limits=1, user_api="openmp")


@lru_cache(maxsize=1)
def _blas_libraries(n_modules: int) -> ThreadpoolController:
    """Those that are loaded. Looking for them takes milliseconds, and a new one comes with a new module."""
    return ThreadpoolController()


def thread_count(n_jobs: int | None) -> int:
    """scikit-learn's habit: None is one, -1 all cores that this process may use, -2 all but one."""
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    return max(1, usable_cores() + 1 + n_jobs)


def usable_cores() -> int:
    """Cores that this process may use: joblib counts them alike, but takes a tenth of a second to be imported."""
    may_use = getattr(os, "sched_getaffinity", None)  # not everywhere
    n_cores = os.cpu_count() or 1 if may_use is None else len(may_use(0))
    return max(1, min(n_cores, _granted_to_container(n_cores)))


def _granted_to_container(n_cores: int) -> int:
    """How many cores the quota of a container comes to, if there is one; rounded up."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((CONTAINER / name).read_text() for name in names).split()
        except (OSError, ValueError):
            continue
        return n_cores if quota in ("max", "-1") else math.ceil(int(quota) / int(period))
    return n_cores


def in_blocks(n_rows: int, work: Callable[[slice], None], n_jobs: int | None) -> None:
    """``work`` on blocks of rows that stay in the cache, on all threads; a single block without any."""
    blocks = [slice(a, min(a + BLOCK_ROWS, n_rows)) for a in range(0, n_rows, BLOCK_ROWS)]
    if len(blocks) < 2:
        for block in blocks:
            work(block)
        return
    with workers(thread_count(n_jobs)) as ours:
        ours.each(work, blocks)


def in_large_blocks(n_rows: int, work: Callable[[slice], Result], n_jobs: int | None) -> list[Result]:
    """What ``work`` makes of blocks of very many rows, in their order, on all threads; a single block of fewer."""
    blocks = [slice(a, min(a + LARGE_BLOCK, n_rows)) for a in range(0, max(n_rows, 1), LARGE_BLOCK)]
    return list(in_order(work, blocks, n_jobs)) if len(blocks) > 1 else [work(blocks[0])]


def summed(parts: Sequence[tuple[Array, ...]]) -> tuple[Array, ...]:
    """All parts added up, entry by entry, from the first to the last."""
    return tuple(sum(entries[1:], start=entries[0]) for entries in zip(*parts, strict=True))


def taken(values: Array, rows: Rows, n_jobs: int | None) -> Array:
    """``values[rows]``, copied on all threads."""
    result = np.empty((len(rows), *values.shape[1:]), dtype=values.dtype)

    def work(some: slice) -> None:
        np.take(values, rows[some], axis=0, out=result[some], mode="clip")

    in_large_blocks(len(rows), work, n_jobs)
    return result

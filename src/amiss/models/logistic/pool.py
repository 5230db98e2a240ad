"""The threads of a fit, and arrays worked on piece by piece.

Pieces and the order in which their sums are added depend only on the shapes of the arrays, never on
the number of threads, so that number does not change a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats
from amiss.threads import Workers, one_blas_thread, thread_count, workers

CACHED = 1 << 17  # numbers that stay in a core's cache while several things are done to them

Sums = tuple[Floats, ...]
Indices = npt.NDArray[np.intp]


class Pool:
    """Threads that live as long as :meth:`at_work`; outside it, work is done in the calling thread."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.threads = thread_count(n_jobs)
        self._workers: Workers | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Start the threads. Those inside BLAS would be in their way and are switched off."""
        if self._workers is not None:
            yield
            return
        with one_blas_thread(), workers(self.threads) as ours:
            self._workers = ours
            try:
                yield
            finally:
                self._workers = None

    def each(self, work: Callable[[int], None], count: int, size: int = CACHED) -> None:
        """Do ``work`` for 0, 1, … count - 1, on all threads; in this one if it is about few numbers in all."""
        if self._workers is not None and count > 1 and size >= CACHED:
            self._workers.each(work, range(count))
            return
        for item in range(count):
            work(item)
        if self._workers is not None:
            self._workers.check()

    def over(self, pieces: Sequence[slice], size: int, work: Callable[[slice], Sums]) -> Sums:
        """Do ``work`` on every piece of arrays of that size; the sums of what it returns, in their order."""
        sums: list[Sums] = [()] * len(pieces)

        def one(piece: int) -> None:
            sums[piece] = work(pieces[piece])

        self.each(one, len(pieces), size)
        return total(sums)

    def sweep(self, length: int, width: int, work: Callable[[slice], Sums]) -> Sums:
        """:meth:`over` pieces, short enough for the cache, of arrays of that length and width."""
        step = max(16, CACHED // max(width, 1))
        pieces = [slice(a, min(a + step, length)) for a in range(0, max(length, 1), step)]
        return self.over(pieces, length * width, work)

    def take(self, array: npt.NDArray[Any], columns: Indices) -> npt.NDArray[Any]:
        """Some columns of an array, copied on all threads."""
        result = np.empty((len(array), len(columns)), dtype=array.dtype)

        def work(some: slice) -> Sums:
            np.take(array[some], columns, axis=1, out=result[some], mode="clip")
            return ()

        self.sweep(len(array), array.shape[1], work)
        return result


def added(sums: Sums, more: Sums) -> Sums:
    """Both, entry by entry; ``()`` is the sum of nothing."""
    return tuple(a + b for a, b in zip(sums, more, strict=True)) if sums else more


def total(parts: Sequence[Sums]) -> Sums:
    """All parts, added from the first to the last."""
    result = parts[0] if parts else ()
    for part in parts[1:]:
        result = added(result, part)
    return result

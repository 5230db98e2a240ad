"""Z in blocks of rows, and the threads that work on them.

Every result is a *sum* over blocks, always added in the same order, so the number of threads does
not change it, and a block could as well be computed elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse
from threadpoolctl import threadpool_limits

from amiss import loss
from amiss.table import Floats, Matrix

DENSE_BLOCK = 1024  # rows; with a hundred problems the temporaries of a block stay in the cache
SPARSE_BLOCKS = 8  # a sparse product wants long blocks: every one of them writes a whole result
MOST_SHARDS = 8


class SharedRows:
    """The matrix all problems share, in the precision the work is done in."""

    def __init__(self, Z: Matrix, n_jobs: int | None = None, dtype: Any = np.float64) -> None:
        self.Z = Z.astype(dtype, copy=False)
        self.dtype = np.dtype(dtype)
        self.n_rows, self.n_columns = int(Z.shape[0]), int(Z.shape[1])
        self.centre = np.asarray(Z.mean(axis=0)).ravel().astype(dtype)
        self.is_sparse = bool(sparse.issparse(Z))
        self.threads = thread_count(n_jobs)
        self._shards = self._dealt()
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Threads of our own over blocks of rows; the ones inside BLAS would be in their way."""
        if self._pool is not None:
            yield
            return
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(self.threads) as pool:
            self._pool = pool
            try:
                yield
            finally:
                self._pool = None

    def total(self, work: Callable[[slice, Matrix], tuple[Floats, ...]]) -> tuple[Floats, ...]:
        """The sums over all blocks of what ``work`` returns."""
        assert self._pool is not None, "use within at_work()"

        def shard_total(shard: list[tuple[slice, Matrix]]) -> tuple[Floats, ...]:
            result = work(*shard[0])
            for block in shard[1:]:
                for into, part in zip(result, work(*block), strict=True):
                    into += part
            return result

        parts = self._pool.map(shard_total, self._shards)
        result = next(parts)
        for part in parts:
            for into, more in zip(result, part, strict=True):
                into += more
        return result

    def each(self, work: Callable[[int], None], count: int) -> None:
        """Do ``work`` for 0, 1, … count - 1, on all threads."""
        assert self._pool is not None, "use within at_work()"
        for _ in self._pool.map(work, range(count)):
            pass

    def margins(self, coef: Floats, intercept: Floats) -> Floats:
        """Log-odds of every row for every problem."""
        result = np.empty((self.n_rows, coef.shape[1]), dtype=self.dtype)
        coef, offset = coef.astype(self.dtype, copy=False), intercept.astype(self.dtype)

        def work(rows: slice, Z: Matrix) -> tuple[Floats, ...]:
            result[rows] = loss.margins(Z, coef, offset)
            return ()

        with self.at_work():
            self.total(work)
        return result

    def offset(self, parameters: Floats) -> Floats:
        """a - z̄·b for parameters (b, a)."""
        return np.asarray(parameters[-1] - self.centre @ parameters[:-1])

    def pulled_back(self, work: Callable[[slice, Matrix], tuple[Floats, ...]]) -> Floats:
        """Σ_n r_n (z_n - z̄, 1) from a ``work`` that gives Σ r_n z_n and Σ r_n for a block."""
        product, total = self.total(work)
        result = np.empty((self.n_columns + 1, len(total)), dtype=self.dtype)
        np.subtract(product, np.multiply.outer(self.centre, total), out=result[:-1])
        result[-1] = total
        return result

    @cached_property
    def squares(self) -> Floats:
        """Σ_n (z_nj - z̄_j)² for each column."""
        second = self.Z.multiply(self.Z).sum(axis=0) if self.is_sparse else np.einsum("ij,ij->j", self.Z, self.Z)
        return np.maximum(np.asarray(second).ravel() - self.n_rows * self.centre**2, 0.0)

    @cached_property
    def eigen(self) -> tuple[Floats, Floats]:
        """Eigenvalues and eigenvectors of the centred Z'Z."""
        product = self.Z.T @ self.Z
        gram = np.asarray(product.toarray() if self.is_sparse else product, dtype=np.float64)
        values, vectors = linalg.eigh(gram - self.n_rows * np.outer(self.centre, self.centre))
        return np.maximum(values, 0.0).astype(self.dtype), np.ascontiguousarray(vectors.astype(self.dtype))

    def _dealt(self) -> list[list[tuple[slice, Matrix]]]:
        """Blocks of rows dealt into a few shards; their number does not depend on the machine."""
        length = max(512, -(-self.n_rows // SPARSE_BLOCKS)) if self.is_sparse else DENSE_BLOCK
        ranges = [slice(a, min(a + length, self.n_rows)) for a in range(0, self.n_rows, length)]
        blocks = [(rows, self.Z[rows]) for rows in ranges]
        per_shard = -(-len(blocks) // MOST_SHARDS)
        return [blocks[first : first + per_shard] for first in range(0, len(blocks), per_shard)]


def thread_count(n_jobs: int | None) -> int:
    """scikit-learn's habit: None is one, -1 all, -2 all but one."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)

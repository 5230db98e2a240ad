"""Z in blocks of rows, and the threads that work on them.

Everything the solver asks of Z is one of two walks over its rows: *there*, margins for a block of
rows; and *there and back*, margins, something done to them, and their product with the same rows
again. What a block gives is *summed*, always in the same order, so the number of threads does not
change a result, and a block could as well be computed elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from amiss.arrays import Floats, Matrix
from amiss.models.logistic.compiled import Multiply, multiplier, worthwhile
from amiss.threads import Workers, thread_count, workers

CACHED = 1 << 17  # numbers that stay in a core's cache while several things are done to them
SHORTEST, LONGEST = 128, 1024  # rows of a dense block
SHARDS = 8
WORTH_A_SHARD = 1 << 22  # multiplications
SPARSE_BLOCK = 1 << 16  # rows; every block of a sparse matrix writes a whole result

Sums = tuple[Floats, ...]
Between = Callable[[slice, Floats], Sums]
"""Works on the margins of some rows in place, and returns what is to be summed over all rows."""
After = Callable[[slice, Floats], Sums]
"""Works on the product for some columns of Z in place, and returns what is to be summed over all columns."""


class SharedRows:
    """The matrix all problems share, in the precision the work is done in."""

    def __init__(self, Z: Matrix, n_jobs: int | None = None, dtype: Any = np.float64) -> None:
        self.Z = Z.astype(dtype, copy=False)
        self.dtype = np.dtype(dtype)
        self.n_rows, self.n_columns = int(Z.shape[0]), int(Z.shape[1])
        self.centre = np.asarray(Z.mean(axis=0)).ravel().astype(dtype)
        self.is_sparse = bool(sparse.issparse(Z))
        self.threads = thread_count(n_jobs)
        self.compiled = worthwhile(self.Z.nnz if self.is_sparse else self.Z.size, self.is_sparse)
        self._walk: _DenseWalk | _SparseWalk
        self._walk = _SparseWalk(self.Z, multiplier(self.compiled)) if self.is_sparse else _DenseWalk(self.Z)
        self._workers: Workers | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Threads of our own over blocks of rows; the ones inside BLAS would be in their way."""
        if self._workers is not None:
            yield
            return
        with threadpool_limits(1, user_api="blas"), workers(self.threads) as ours:
            self._workers = ours
            try:
                yield
            finally:
                self._workers = None

    def each(self, work: Callable[[int], None], count: int) -> None:
        """Do ``work`` for 0, 1, … count - 1, on all threads."""
        if self._workers is None:
            assert count == 1, "use within at_work()"
            work(0)
        elif count == 1:
            work(0)
            self._workers.check()
        else:
            self._workers.each(work, range(count))

    def sweep(self, length: int, width: int, work: Callable[[slice], Sums]) -> Sums:
        """``work`` on pieces of arrays of that length and width; the sums of what it returns."""
        step = max(16, CACHED // max(width, 1))
        pieces = [slice(a, min(a + step, length)) for a in range(0, length, step)]
        sums: list[Sums] = [()] * len(pieces)

        def one(piece: int) -> None:
            sums[piece] = work(pieces[piece])

        self.each(one, len(pieces))
        return _total(sums)

    def taken(self, array: npt.NDArray[Any], columns: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Some columns of an array, copied on all threads."""
        result = np.empty((len(array), len(columns)), dtype=array.dtype)

        def work(some: slice) -> Sums:
            np.take(array[some], columns, axis=1, out=result[some], mode="clip")
            return ()

        self.sweep(len(array), array.shape[1], work)
        return result

    def there(self, parameters: Floats, between: Between) -> Sums:
        """Margins for parameters (b, a), given to ``between`` block by block; the sums of what it returns."""
        coef, offset = np.ascontiguousarray(parameters[:-1]), self.offset(parameters)
        return self._walk.there(self.each, coef, offset, between)

    def there_and_back(
        self, parameters: Floats, between: Between, after: After, result: Floats
    ) -> tuple[Sums, Sums]:
        """Σ_n r_n (z_n - z̄, 1) into ``result``, where ``between`` turns margins into r; and both sums.

        ``after`` gets the columns of Z, not the intercept, which is the last row of the result.
        """
        coef, offset = np.ascontiguousarray(parameters[:-1]), self.offset(parameters)

        def centred(columns: slice, product: Floats) -> Sums:
            product -= self.centre[columns, None] * result[-1]
            return after(columns, product)

        return self._walk.there_and_back(self.each, coef, offset, between, centred, result)

    def margins(self, coef: Floats, intercept: Floats) -> Floats:
        """Log-odds of every row for every problem."""
        result = np.empty((self.n_rows, coef.shape[1]), dtype=self.dtype)
        coef, offset = np.ascontiguousarray(coef, dtype=self.dtype), intercept.astype(self.dtype)

        def keep(rows: slice, f: Floats) -> Sums:
            result[rows] = f
            return ()

        with self.at_work():
            self._walk.there(self.each, coef, offset, keep)
        return result

    def offset(self, parameters: Floats) -> Floats:
        """a - z̄·b for parameters (b, a)."""
        return np.asarray(parameters[-1] - self.centre @ parameters[:-1])

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Σ_n w_n z_nj and Σ_n w_n z_nj² for every column j and problem."""
        return self._walk.moments(self.each, weights)


Each = Callable[[Callable[[int], None], int], None]


class _DenseWalk:
    """Blocks of rows short enough that their margins stay in the cache, dealt into a few shards."""

    def __init__(self, Z: Floats) -> None:
        self.Z = np.ascontiguousarray(Z)
        self.scratch: list[Floats] = [np.empty(0, dtype=self.Z.dtype) for _ in range(SHARDS)]

    def there(self, each: Each, coef: Floats, offset: Floats, between: Between) -> Sums:
        shards = self._shards(coef.shape[1])
        sums: list[Sums] = [()] * len(shards)

        def work(shard: int) -> None:
            for rows in self._blocks(shards[shard], coef.shape[1]):
                sums[shard] = _added(sums[shard], between(rows, self._margins(shard, rows, coef, offset)))

        each(work, len(shards))
        return _total(sums)

    def there_and_back(
        self, each: Each, coef: Floats, offset: Floats, between: Between, after: After, result: Floats
    ) -> tuple[Sums, Sums]:
        shards = self._shards(coef.shape[1])
        sums: list[Sums] = [()] * len(shards)
        products: list[Floats] = [result, *(np.empty_like(result) for _ in shards[1:])]

        def work(shard: int) -> None:
            product = products[shard]
            for rows in self._blocks(shards[shard], coef.shape[1]):
                f = self._margins(shard, rows, coef, offset)
                sums[shard] = _added(sums[shard], between(rows, f))
                if rows.start == shards[shard].start:
                    np.matmul(self.Z[rows].T, f, out=product[:-1])
                    f.sum(axis=0, out=product[-1])
                else:
                    product[:-1] += self.Z[rows].T @ f
                    product[-1] += f.sum(axis=0)

        each(work, len(shards))
        for product in products[1:]:
            result += product
        return _total(sums), after(slice(0, len(coef)), result[:-1])

    def moments(self, each: Each, weights: Floats) -> tuple[Floats, Floats]:
        shards = self._shards(weights.shape[1])
        parts: list[Sums] = [()] * len(shards)

        def work(shard: int) -> None:
            for rows in self._blocks(shards[shard], self.Z.shape[1]):
                Z = self.Z[rows].T
                parts[shard] = _added(parts[shard], (Z @ weights[rows], (Z * Z) @ weights[rows]))

        each(work, len(shards))
        first, second = _total(parts)
        return first, second

    def _shards(self, n_problems: int) -> list[slice]:
        """As many as there is work for; their number must not depend on that of the threads."""
        n_rows, n_columns = self.Z.shape
        count = max(1, min(SHARDS, n_rows * n_columns * n_problems // WORTH_A_SHARD, n_rows // SHORTEST))
        return [slice(i * n_rows // count, (i + 1) * n_rows // count) for i in range(count)]

    def _blocks(self, shard: slice, n_problems: int) -> Iterator[slice]:
        length = min(LONGEST, max(SHORTEST, CACHED // max(n_problems, 1)))
        for start in range(shard.start, shard.stop, length):
            yield slice(start, min(start + length, shard.stop))

    def _margins(self, shard: int, rows: slice, coef: Floats, offset: Floats) -> Floats:
        shape = (rows.stop - rows.start, coef.shape[1])
        if self.scratch[shard].size < shape[0] * shape[1]:
            self.scratch[shard] = np.empty(shape[0] * shape[1], dtype=self.Z.dtype)
        f = self.scratch[shard][: shape[0] * shape[1]].reshape(shape)
        np.matmul(self.Z[rows], coef, out=f)
        f += offset
        return f


class _SparseWalk:
    """Long blocks; within one, threads share the rows on the way there and the columns on the way back.

    A row of a sparse product costs as much as it has entries, so the shares have equally many.
    """

    def __init__(self, Z: sparse.csr_array, multiply: Multiply) -> None:
        starts = range(0, Z.shape[0], SPARSE_BLOCK)
        self.blocks = [_SparseBlock(Z[a : a + SPARSE_BLOCK], a, multiply) for a in starts]

    def there(self, each: Each, coef: Floats, offset: Floats, between: Between) -> Sums:
        return _total([block.there(each, coef, offset, between)[0] for block in self.blocks])

    def there_and_back(
        self, each: Each, coef: Floats, offset: Floats, between: Between, after: After, result: Floats
    ) -> tuple[Sums, Sums]:
        sums: Sums = ()
        result[-1] = 0
        for block in self.blocks[:-1]:
            more, r = block.there(each, coef, offset, between)
            sums = _added(sums, more)
            block.back(each, r, result, lambda columns, product: ())
        more, r = self.blocks[-1].there(each, coef, offset, between)
        return _added(sums, more), self.blocks[-1].back(each, r, result, after)

    def moments(self, each: Each, weights: Floats) -> tuple[Floats, Floats]:
        first, second = _total([block.moments(each, weights) for block in self.blocks])
        return first, second


class _SparseBlock:
    """Some of the rows, by row and by column."""

    def __init__(self, Z: sparse.csr_array, first: int, multiply: Multiply) -> None:
        turned = Z.T.tocsr()
        self.first, self.n_rows, self.multiply = first, Z.shape[0], multiply
        self.scratch: Floats = np.empty(0, dtype=Z.dtype)
        self.rows = [(slice(a, b), Z[a:b]) for a, b in _even_shares(Z.indptr)]
        self.columns = [(slice(a, b), turned[a:b]) for a, b in _even_shares(turned.indptr)]

    def there(self, each: Each, coef: Floats, offset: Floats, between: Between) -> tuple[Sums, Floats]:
        sums: list[Sums] = [()] * len(self.rows)
        size = self.n_rows * coef.shape[1]
        if self.scratch.size < size:
            self.scratch = np.empty(size, dtype=coef.dtype)
        r = self.scratch[:size].reshape(self.n_rows, -1)

        def work(share: int) -> None:
            here, Z = self.rows[share]
            self.multiply(Z, coef, r[here])
            r[here] += offset
            sums[share] = between(slice(self.first + here.start, self.first + here.stop), r[here])

        each(work, len(self.rows))
        return _total(sums), r

    def back(self, each: Each, r: Floats, result: Floats, after: After) -> Sums:
        sums: list[Sums] = [()] * len(self.columns)
        result[-1] += r.sum(axis=0)

        def work(share: int) -> None:
            columns, turned = self.columns[share]
            if self.first:
                product = np.empty_like(result[columns])
                self.multiply(turned, r, product)
                result[columns] += product
            else:
                self.multiply(turned, r, result[columns])
            sums[share] = after(columns, result[columns])

        each(work, len(self.columns))
        return _total(sums)

    def moments(self, each: Each, weights: Floats) -> Sums:
        first = np.empty((self.columns[-1][0].stop, weights.shape[1]), dtype=weights.dtype)
        second = np.empty_like(first)
        here = np.ascontiguousarray(weights[self.first : self.first + self.n_rows])

        def work(share: int) -> None:
            columns, turned = self.columns[share]
            self.multiply(turned, here, first[columns])
            self.multiply(turned.power(2), here, second[columns])

        each(work, len(self.columns))
        return first, second


def _even_shares(indptr: Any) -> list[tuple[int, int]]:
    """Ranges of about equally many entries."""
    n = len(indptr) - 1
    cuts = np.unique(np.searchsorted(indptr, np.linspace(0, indptr[-1], SHARDS + 1)[1:-1]))
    edges = [0, *(int(c) for c in cuts if 0 < c < n), n]
    return list(pairwise(edges))


def _added(sums: Sums, more: Sums) -> Sums:
    return tuple(a + b for a, b in zip(sums, more, strict=True)) if sums else more


def _total(parts: list[Sums]) -> Sums:
    total = parts[0]
    for part in parts[1:]:
        total = _added(total, part)
    return total

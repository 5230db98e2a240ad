"""Z in blocks of rows.

Everything the solver asks of Z is one of two walks over its rows: margins, block by block; and
margins, something done to them, and their product with the same rows again. The margins of a block
stay in the cache.

How the rows are cut follows from the shape of the whole matrix and the number of problems (:class:`Layout`),
and sums run over blocks in a fixed order. So neither the number of threads nor who holds which blocks
changes a result. Rows are cut at two levels:

- *dense*: a few shards, each of many short blocks. A shard adds up its blocks from the first to the last;
  the shards are added up at the end.
- *sparse*: one shard of long blocks, because every block of a sparse matrix writes a whole product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, is_single
from amiss.models.logistic.compiled import Multiply, multiplier, worthwhile
from amiss.models.logistic.pool import CACHED, Pool, Sums, added, total

SHORTEST, LONGEST = 128, 1024  # rows of a dense block
SHARDS = 8
WORTH_A_SHARD = 1 << 22  # multiplications
SPARSE_BLOCK = 1 << 16  # rows

Use = Callable[[slice, Floats], None]
"""Reads the margins of some rows."""
Turn = Callable[[slice, Floats], Sums]
"""Turns the margins of some rows into residuals, in place, and returns what is to be summed over all rows."""


@dataclass(frozen=True)
class Layout:
    """How the rows of a whole matrix are cut, known to everyone who holds some of its rows."""

    n_rows: int
    n_columns: int
    is_sparse: bool
    compiled: bool
    sparse_block: int
    is_turned: bool = False  # whether Z is only there by its parts (:mod:`amiss.models.logistic.turned`)

    @classmethod
    def of(cls, Z: Matrix) -> Layout:
        is_sparse = bool(sparse.issparse(Z))
        compiled = worthwhile(Z.nnz if is_sparse else Z.size, is_sparse)
        is_turned = not is_sparse and not isinstance(Z, np.ndarray)
        return cls(int(Z.shape[0]), int(Z.shape[1]), is_sparse, compiled, SPARSE_BLOCK, is_turned)

    def shards(self, n_problems: int) -> list[slice]:
        """As many as there is work for; their number must not depend on that of the threads."""
        if self.is_sparse:
            return [slice(0, self.n_rows)]
        work = self.n_rows * self.n_columns * n_problems
        count = max(1, min(SHARDS, work // WORTH_A_SHARD, self.n_rows // SHORTEST))
        return [slice(i * self.n_rows // count, (i + 1) * self.n_rows // count) for i in range(count)]

    def blocks(self, shard: slice, width: int) -> Iterator[slice]:
        """The blocks of a shard, for arrays of that width."""
        length = min(LONGEST, max(SHORTEST, CACHED // max(width, 1)))
        if self.is_sparse:
            length = self.sparse_block
        for start in range(shard.start, shard.stop, length):
            yield slice(start, min(start + length, shard.stop))


@dataclass
class Running:
    """Sums over the blocks so far, one entry per shard.

    ``sums`` holds what :data:`Turn` returned, ``()`` before the first block; ``products`` Σ_n r_n (z_n, 1),
    ``(n_columns + 1, n_problems)`` each, without meaning before the first block.
    """

    sums: list[Sums]
    products: list[Floats]

    @classmethod
    def into(cls, result: Floats, n_shards: int) -> Running:
        """Sums of no blocks yet; in the end ``result`` holds the total of the products."""
        return cls([()] * n_shards, [result, *(np.empty_like(result) for _ in range(n_shards - 1))])

    def finish(self) -> Sums:
        """Add up the shards: the products into the first of them, and the sums that are returned."""
        for product in self.products[1:]:
            self.products[0] += product
        return total(self.sums)


class Blocks(Protocol):
    """Rows ``first``, ``first + 1``, … of a matrix in one precision. Slices of rows count from ``first``."""

    def margins(self, coef: Floats, offset: Floats, use: Use) -> None:
        """f_n = z_n·b + offset, handed to ``use`` block by block."""

    def products(self, coef: Floats, offset: Floats, turn: Turn, running: Running) -> None:
        """Add Σ_n r_n (z_n, 1) to ``running``, where ``turn`` makes r of the margins, and what it returns."""

    def moments(self, weights: Floats, running: list[Sums]) -> None:
        """Add Σ_n w_n z_nj and Σ_n w_n z_nj² for every column j and problem to ``running``, by shards."""


def blocks_of(Z: Matrix, layout: Layout, first: int, pool: Pool, dtype: Any) -> Blocks:
    """Some rows of the matrix that ``layout`` describes, of which the first is its row ``first``, in a precision.

    A dense matrix in single precision is made double block by block, all others as a whole.
    """
    if layout.is_sparse:
        return SparseBlocks(Z.astype(dtype, copy=False), layout, first, pool)
    kept = Z if is_single(Z) else Z.astype(dtype, copy=False)
    return DenseBlocks(kept, layout, first, pool, np.dtype(dtype))


def column_slices(Z: Matrix, layout: Layout) -> list[slice]:
    """Slices of the columns for different threads to work on; ``Z`` holds at least the last block of rows.

    Of a dense matrix all columns are one slice. Of a sparse one, each has equally many entries in the last block.
    """
    if not layout.is_sparse:
        return [slice(0, layout.n_columns)]
    *_, last = layout.blocks(slice(0, layout.n_rows), 1)
    entries = np.bincount(Z[last.start - last.stop :].indices, minlength=layout.n_columns)
    return [slice(a, b) for a, b in _even_shares(np.concatenate([[0], np.cumsum(entries)]))]


class DenseBlocks:
    """Blocks of rows short enough that their margins stay in the cache; threads share the shards."""

    def __init__(self, Z: Floats, layout: Layout, first: int, pool: Pool, dtype: np.dtype[Any]) -> None:
        self.Z: Any = np.ascontiguousarray(Z)
        self.layout, self.first, self.pool = layout, first, pool
        self.dtype = dtype
        self.scratch: list[Floats] = [np.empty(0, dtype=dtype) for _ in range(SHARDS)]

    def margins(self, coef: Floats, offset: Floats, use: Use) -> None:
        n_problems = coef.shape[1]

        def work(shard: int, rows: slice, begins: bool) -> None:
            use(rows, self._margins(shard, self._parts(rows), coef, offset))

        self._walk(n_problems, n_problems, work)

    def products(self, coef: Floats, offset: Floats, turn: Turn, running: Running) -> None:
        def work(shard: int, rows: slice, begins: bool) -> None:
            product, parts = running.products[shard], self._parts(rows)
            f = self._margins(shard, parts, coef, offset)
            running.sums[shard] = added(running.sums[shard], turn(rows, f))
            if begins:
                for columns, Z in parts:
                    np.matmul(Z.T, f, out=product[columns])
                f.sum(axis=0, out=product[-1])
            else:
                for columns, Z in parts:
                    product[columns] += Z.T @ f
                product[-1] += f.sum(axis=0)

        self._walk(coef.shape[1], coef.shape[1], work)

    def moments(self, weights: Floats, running: list[Sums]) -> None:
        def work(shard: int, rows: slice, begins: bool) -> None:
            ((_, block),) = self._parts(rows)
            Z = block.T
            running[shard] = added(running[shard], (Z @ weights[rows], (Z * Z) @ weights[rows]))

        self._walk(weights.shape[1], self.Z.shape[1], work)

    def _walk(self, n_problems: int, width: int, work: Callable[[int, slice, bool], None]) -> None:
        """``work`` with the number of the shard, a block of our rows, and whether the shard begins with it."""
        shards, last = self.layout.shards(n_problems), self.first + len(self.Z)
        ours = [i for i, shard in enumerate(shards) if shard.start < last and self.first < shard.stop]

        def walk(i: int) -> None:
            shard = shards[ours[i]]
            for block in self.layout.blocks(shard, width):
                if block.start < last and self.first < block.stop:
                    assert self.first <= block.start and block.stop <= last, "rows are cut within a block"
                    rows = slice(block.start - self.first, block.stop - self.first)
                    work(ours[i], rows, block.start == shard.start)

        self.pool.each(walk, len(ours))

    def _parts(self, rows: slice) -> list[tuple[slice, Floats]]:
        """Rows in this precision, as matrices of neighbouring columns: here one of all."""
        return [(slice(0, self.layout.n_columns), self.Z[rows].astype(self.dtype, copy=False))]

    def _margins(self, shard: int, parts: list[tuple[slice, Floats]], coef: Floats, offset: Floats) -> Floats:
        (columns, Z), *others = parts
        shape = (len(Z), coef.shape[1])
        if self.scratch[shard].size < shape[0] * shape[1]:
            self.scratch[shard] = np.empty(shape[0] * shape[1], dtype=self.dtype)
        f = self.scratch[shard][: shape[0] * shape[1]].reshape(shape)
        np.matmul(Z, coef[columns], out=f)
        for columns, Z in others:
            f += Z @ coef[columns]
        f += offset
        return f


class SparseBlocks:
    """Long blocks; within one, threads share the rows on the way there and the columns on the way back.

    A row of a sparse product costs as much as it has entries, so the shares have equally many.
    """

    def __init__(self, Z: sparse.csr_array, layout: Layout, first: int, pool: Pool) -> None:
        length, multiply = layout.sparse_block, multiplier(layout.compiled)
        assert first % length == 0, "rows are cut within a block"
        starts = range(0, Z.shape[0], length)
        self.blocks = [_SparseBlock(Z[a : a + length], a, first + a == 0, multiply, pool) for a in starts]

    def margins(self, coef: Floats, offset: Floats, use: Use) -> None:
        def turn(rows: slice, f: Floats) -> Sums:
            use(rows, f)
            return ()

        for block in self.blocks:
            block.there(coef, offset, turn)

    def products(self, coef: Floats, offset: Floats, turn: Turn, running: Running) -> None:
        result = running.products[0]
        for block in self.blocks:
            more, r = block.there(coef, offset, turn)
            running.sums[0] = added(running.sums[0], more)
            block.back(r, result)

    def moments(self, weights: Floats, running: list[Sums]) -> None:
        for block in self.blocks:
            running[0] = added(running[0], block.moments(weights))


class _SparseBlock:
    """Some of the rows, by row and by column."""

    def __init__(self, Z: sparse.csr_array, first: int, begins: bool, multiply: Multiply, pool: Pool) -> None:
        turned = Z.T.tocsr()
        self.first, self.n_rows, self.begins = first, Z.shape[0], begins
        self.multiply, self.pool = multiply, pool
        self.scratch: Floats = np.empty(0, dtype=Z.dtype)
        self.n_entries = Z.nnz
        self.rows = [(slice(a, b), Z[a:b]) for a, b in _even_shares(Z.indptr)]
        self.columns = [(slice(a, b), turned[a:b]) for a, b in _even_shares(turned.indptr)]

    def there(self, coef: Floats, offset: Floats, turn: Turn) -> tuple[Sums, Floats]:
        sums: list[Sums] = [()] * len(self.rows)
        size = self.n_rows * coef.shape[1]
        if self.scratch.size < size:
            self.scratch = np.empty(size, dtype=coef.dtype)
        r = self.scratch[:size].reshape(self.n_rows, -1)

        def work(share: int) -> None:
            here, Z = self.rows[share]
            self.multiply(Z, coef, r[here])
            r[here] += offset
            sums[share] = turn(slice(self.first + here.start, self.first + here.stop), r[here])

        self.pool.each(work, len(self.rows), size + self.n_entries * coef.shape[1])
        return total(sums), r

    def back(self, r: Floats, result: Floats) -> None:
        if self.begins:
            result[-1] = 0
        result[-1] += r.sum(axis=0)

        def work(share: int) -> None:
            columns, turned = self.columns[share]
            if self.begins:
                self.multiply(turned, r, result[columns])
            else:
                product = np.empty_like(result[columns])
                self.multiply(turned, r, product)
                result[columns] += product

        self.pool.each(work, len(self.columns), self.n_entries * r.shape[1])

    def moments(self, weights: Floats) -> Sums:
        first = np.empty((self.columns[-1][0].stop, weights.shape[1]), dtype=weights.dtype)
        second = np.empty_like(first)
        here = np.ascontiguousarray(weights[self.first : self.first + self.n_rows])

        def work(share: int) -> None:
            columns, turned = self.columns[share]
            self.multiply(turned, here, first[columns])
            self.multiply(turned.power(2), here, second[columns])

        self.pool.each(work, len(self.columns), self.n_entries * weights.shape[1])
        return first, second


def _even_shares(indptr: Any) -> list[tuple[int, int]]:
    """Ranges of about equally many entries."""
    n = len(indptr) - 1
    cuts = np.unique(np.searchsorted(indptr, np.linspace(0, indptr[-1], SHARDS + 1)[1:-1]))
    edges = [0, *(int(c) for c in cuts if 0 < c < n), n]
    return list(pairwise(edges))

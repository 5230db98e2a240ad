"""The k nearest rows, exactly.

Distances come from matrix products, around the mean row so that a common offset costs no digits.
Few rows are compared with all others in double precision. Many are first sifted in single
precision: the distances to a sample of the rows bound how far the k-th neighbour can be, and what
lies within the bound and the rounding error of single precision is a candidate. The candidates'
distances are then taken in double precision, from the differences themselves.

Two distances that differ by less than rounding are a tie, and ties go to the row that stands first;
the detector keeps its rows in an order that depends on their content only, so ties do not depend on
how a file is sorted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from amiss.progress import Progress
from amiss.rows import thread_count
from amiss.table import Floats, Matrix

BLOCK_BYTES = 32 << 20
TIE = 1e-12  # of the largest squared distance there can be: more than rounding, less than a difference
LOST = 1e-6  # where a tie is wider than this share of the distance, digits were lost
WORTH_SIFTING = 6000  # rows; also, the k nearest must be few of them
QUERIES, CHUNK = 256, 2048  # rows of a block of queries, and of those it is compared with at a time
SAMPLE = 10  # one row in so many bounds the distance of the k-th neighbour
WORTH_A_SHADOW = 2000  # rows
AXES = 48  # along which a single query is compared with all rows
MOST_RULED_IN = 0.3  # of the rows: beyond, comparing all of them is faster
MANY = 4  # times k candidates are too many to take their differences

Neighbors = npt.NDArray[np.intp]


class NearestRows:
    """The rows to be found, around their mean, with their squared lengths.

    ``recall`` is the share of the k nearest that ``find`` finds: all of them.
    """

    recall = 1.0

    def __init__(self, rows: Matrix) -> None:
        # Sparse rows stay where they are: most of their columns are zero, and so near the mean.
        self.centre: Floats = np.zeros(rows.shape[1]) if sparse.issparse(rows) else rows.mean(axis=0)
        self.rows = self._centred(rows)
        self.squares = _squares(self.rows)

    def _centred(self, rows: Matrix) -> Matrix:
        return rows if sparse.issparse(rows) else rows - self.centre

    def find(
        self,
        k: int,
        queries: Matrix | None = None,
        *,
        n_jobs: int | None = None,
        progress: Progress = lambda steps=1: None,
    ) -> Neighbors:
        """Indices ``(n_queries, min(k, rows there are))`` of the nearest rows, nearest first.

        Without ``queries``, of the rows themselves, none of which is its own neighbour.
        """
        n_rows = self.rows.shape[0]
        own = queries is None
        asked: Matrix = self.rows if queries is None else self._centred(queries)
        k = min(k, n_rows - 1 if own else n_rows)
        n_queries = asked.shape[0]
        result = np.empty((n_queries, k), dtype=np.intp)
        if k == 0:
            return result
        asked_squares = self.squares if own else _squares(asked)
        ties = TIE * (np.sqrt(self.squares.max()) + np.sqrt(asked_squares)) ** 2
        # Sparse rows have so few products that single precision would save nothing.
        if n_queries == 1 and not own:
            result[0] = self._of_one(asked, asked_squares, k, ties)
            progress(1)
            return result
        sifting = not sparse.issparse(asked) and n_rows >= max(WORTH_SIFTING, 20 * k)
        step = QUERIES if sifting else max(1, BLOCK_BYTES // (8 * n_rows))

        def block(start: int) -> None:
            part = slice(start, min(start + step, n_queries))
            if sifting:
                result[part] = self._sifted(
                    asked[part], asked_squares[part], k, ties[part], start if own else None
                )
            else:
                result[part] = self._compared(
                    asked[part], asked_squares[part], k, ties[part], start if own else None
                )
            progress(part.stop - start)

        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(thread_count(n_jobs)) as pool:
            list(pool.map(block, range(0, n_queries, step)))
        return result

    def distances(self, neighbors: Neighbors, n_jobs: int | None = None) -> Floats:
        """How far each row is from its neighbours, in the order of ``neighbors``."""
        result = np.empty(neighbors.shape)

        def work(start: int) -> None:
            for row in range(start, min(start + QUERIES, len(neighbors))):
                result[row] = np.sqrt(_direct(self.rows[neighbors[row]], self.rows[[row]]))

        with ThreadPoolExecutor(thread_count(n_jobs)) as pool:
            list(pool.map(work, range(0, len(neighbors), QUERIES)))
        return result

    def _compared(self, queries: Matrix, squares: Floats, k: int, ties: Floats, first: int | None) -> Neighbors:
        """The k nearest, all rows being compared in double precision; ``first`` is the queries' own place."""
        distances = self._squared_distances(queries, squares)
        if first is not None:
            distances[np.arange(len(distances)), np.arange(first, first + len(distances))] = np.inf
        return self._smallest(queries, distances, k, ties)

    def _sifted(self, queries: Matrix, squares: Floats, k: int, ties: Floats, first: int | None) -> Neighbors:
        """The k nearest, out of what single precision does not rule out."""
        sieve, n_queries = self._sieve, queries.shape[0]
        turned = sieve.turned(queries)
        # Within the bound are k rows and more, unless the sample is a freak; that is seen, and made up for.
        expected = k / SAMPLE
        rank = int(1.3 * expected + 3 * np.sqrt(expected) + 2)
        error = sieve.error * (np.sqrt(self.squares.max()) + np.sqrt(squares)) ** 2
        bound = np.partition(sieve.sample @ turned, rank - 1, axis=0)[rank - 1]
        query_of, candidates, near = sieve.within(turned, (bound + 2 * error).astype(np.float32))
        if first is not None:
            others = candidates != query_of + first
            query_of, candidates, near = query_of[others], candidates[others], near[others]
        order = np.argsort(query_of, kind="stable")
        candidates, near = candidates[order], near[order]
        starts = np.searchsorted(query_of[order], np.arange(n_queries + 1))
        result = np.empty((n_queries, k), dtype=np.intp)
        for query in range(n_queries):
            mine = slice(starts[query], starts[query + 1])
            some = _few(candidates[mine], near[mine], k, bound[query], 2 * error[query])
            if some is None:
                alone = slice(query, query + 1)
                place = None if first is None else first + query
                result[query] = self._compared(queries[alone], squares[alone], k, ties[alone], place)[0]
            else:
                exact = _direct(self.rows[some], queries[[query]])
                result[query] = _ordered(some, exact, k, float(ties[query]))
        return result

    def _of_one(self, query: Matrix, squares: Floats, k: int, ties: Floats) -> Neighbors:
        """The k nearest of a single query, without reading all of the rows.

        Along any few axes two rows are at most as far apart as in truth. So the rows nearest along
        the principal axes bound how far the k-th neighbour can be, and what lies further along
        them is ruled out.
        """
        shadow = self._shadow
        if shadow is None or shadow.rows.shape[0] < 4 * k:
            return self._compared(query, squares, k, ties, None)[0]
        flat, error = shadow.distances(query[0])
        nearest = np.argpartition(flat, k - 1)[:k]
        bound = _direct(self.rows[nearest], query).max()
        some = np.flatnonzero(flat <= bound * (1 + 1e-6) + error)
        if len(some) > MOST_RULED_IN * len(flat):
            return self._compared(query, squares, k, ties, None)[0]
        return _ordered(some, _direct(self.rows[some], query), k, float(ties[0]))

    @cached_property
    def _shadow(self) -> _Shadow | None:
        if sparse.issparse(self.rows) or len(self.rows) < WORTH_A_SHADOW or self.rows.shape[1] <= 2 * AXES:
            return None
        return _Shadow(self.rows)

    @cached_property
    def _sieve(self) -> _Sieve:
        return _Sieve(self.rows, self.squares)

    def _squared_distances(self, queries: Matrix, squares: Floats) -> Floats:
        product = queries @ self.rows.T
        distances: Floats = product.toarray() if sparse.issparse(product) else product
        distances *= -2.0
        distances += self.squares
        distances += squares[:, None]
        return distances

    def _smallest(self, queries: Matrix, distances: Floats, k: int, ties: Floats) -> Neighbors:
        """The k nearest of each query, ties to the lower index."""
        furthest = np.partition(distances, k - 1, axis=1)[:, k - 1]
        row_of, candidates = np.nonzero(distances <= (furthest + 2 * ties)[:, None])
        near = distances[row_of, candidates]
        first = np.searchsorted(row_of, np.arange(len(distances) + 1))
        # An odd width, so that distances that are simple fractions do not lie on an edge.
        width = np.where(ties > 0, ties * 1.2345678, 1.0)
        for row in np.flatnonzero(ties > LOST * furthest):
            mine = slice(first[row], first[row + 1])
            near[mine] = _direct(self.rows[candidates[mine]], queries[[row]])
            width[row] = max(TIE * near[mine].max(), np.finfo(float).tiny)
        order = np.lexsort((candidates, np.rint(near / width[row_of]), row_of))
        return np.asarray(candidates[order][first[:-1, None] + np.arange(k)])


def _few(candidates: Neighbors, near: Floats, k: int, bound: float, error: float) -> Neighbors | None:
    """The candidates that may be among the k nearest; None if fewer than k are within the bound, or too many."""
    if len(candidates) < k:
        return None
    furthest = np.partition(near, k - 1)[k - 1]
    some = candidates[near <= furthest + error]
    return some if furthest <= bound and len(some) <= MANY * k else None


def _ordered(candidates: Neighbors, exact: Floats, k: int, tie: float) -> Neighbors:
    """The k nearest of the candidates, ties to the lower index."""
    furthest = np.partition(exact, k - 1)[k - 1]
    width = max(tie * 1.2345678, np.finfo(float).tiny)
    if tie > LOST * furthest:
        width = max(TIE * furthest, np.finfo(float).tiny)
    few = np.flatnonzero(exact <= furthest + 2 * width)
    return np.asarray(candidates[few[np.lexsort((candidates[few], np.rint(exact[few] / width)))[:k]]])


class _Shadow:
    """Dense rows along their first principal axes, in single precision."""

    def __init__(self, rows: Floats) -> None:
        self.axes = np.linalg.eigh(rows.T @ rows)[1][:, -AXES:]
        projected = rows @ self.axes
        self.rows = projected.astype(np.float32)
        self.squares = np.einsum("ij,ij->i", projected, projected).astype(np.float32)
        self.longest = float(np.sqrt(self.squares.max()))

    def distances(self, query: Floats) -> tuple[Floats, float]:
        """Squared distances along the axes, and how far rounding may have put them off."""
        projected = query @ self.axes
        length = float(projected @ projected)
        distances = self.rows @ (-2 * projected).astype(np.float32)
        distances += self.squares
        distances += np.float32(length)
        error = (AXES + 8) * float(np.finfo(np.float32).eps) * (self.longest + np.sqrt(length)) ** 2
        return distances, error


class _Sieve:
    """Dense rows in single precision, in chunks, and a sample of them.

    A last column holds the squared lengths, so that one product gives the distances.
    """

    def __init__(self, rows: Floats, squares: Floats) -> None:
        single = np.column_stack([rows, squares]).astype(np.float32)
        self.chunks = [(a, single[a : a + CHUNK]) for a in range(0, len(rows), CHUNK)]
        self.sample = np.ascontiguousarray(single[::SAMPLE])
        # A product of n terms is off by at most n roundings, and so are the lengths; a few more for the rest.
        self.error = (single.shape[1] + 8) * float(np.finfo(np.float32).eps)

    def turned(self, queries: Floats) -> Floats:
        """What rows are to be multiplied by for their squared distances, less the queries' squared lengths."""
        return np.vstack([-2.0 * queries.T, np.ones(len(queries))]).astype(np.float32)

    def within(self, turned: Floats, bound: Floats) -> tuple[Neighbors, Neighbors, Floats]:
        """Query, row and distance of all that is within each query's bound."""
        n_queries, found = len(bound), []
        buffer = np.empty((CHUNK, n_queries), dtype=np.float32)
        for start, rows in self.chunks:
            distances = np.matmul(rows, turned, out=buffer[: len(rows)])
            flat = np.flatnonzero(distances <= bound)
            found.append((flat % n_queries, flat // n_queries + start, distances.ravel()[flat]))
        query_of, candidates, near = (np.concatenate(part) for part in zip(*found, strict=True))
        return query_of, candidates, near


def _direct(rows: Matrix, query: Matrix) -> Floats:
    """Squared distances from the differences themselves."""
    if sparse.issparse(rows):
        rows, query = rows.toarray(), query.toarray()
    return _squares(rows - query)


def _squares(rows: Matrix) -> Floats:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))

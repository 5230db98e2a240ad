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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Matrix, Neighbors, Rows
from amiss.models.logistic.axes import MOST_AXES
from amiss.progress import Progress, ignored
from amiss.scoring.equal_rows import distinct_rows, for_each
from amiss.scoring.sparse_products import products
from amiss.threads import one_blas_thread, thread_count, workers

BLOCK_BYTES = 32 << 20
TIE = 1e-12  # of the largest squared distance there can be: more than rounding, less than a difference
LOST = 1e-6  # where a tie is wider than this share of the distance, digits were lost
PRODUCT_LOSES = 1e-6  # of the squares: below it a squared distance by products has too few digits left
WORTH_SIFTING = 6000  # rows; also, the k nearest must be few of them
QUERIES, CHUNK = 512, 1024  # rows of a block of queries, and of those it is compared with at a time
TOGETHER = 32  # queries whose candidates are compared at once
SAMPLE = 10  # one row in ten is in the sample that bounds the distance of the k-th neighbour
WORTH_A_SHADOW = 2000  # rows
AXES = 48  # along which a single query is compared with all rows
MOST_RULED_IN = 0.3  # of the rows: beyond, comparing all of them is faster
ROUNDING = float(np.finfo(np.float32).eps)
MOST_CANDIDATES = 40  # times k, on average over a block of queries: with more, the sieve saves no time
MANY = 4  # with more than this many times k candidates, computing all differences is too slow

"""Of a large fit these are one of the largest arrays there are, so they have no digits to spare."""


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

    @property
    def original(self) -> Matrix:
        """The rows as they were given."""
        return self.points(slice(None))

    def points(self, some: Rows | slice) -> Matrix:
        """Some of the rows as they were given."""
        return self.rows[some] if sparse.issparse(self.rows) else self.rows[some] + self.centre

    def _centred(self, rows: Matrix) -> Matrix:
        return rows if sparse.issparse(rows) else rows - self.centre

    def find(
        self,
        k: int,
        queries: Matrix | None = None,
        *,
        n_jobs: int | None = None,
        progress: Progress = ignored,
    ) -> Neighbors:
        """Indices ``(n_queries, min(k, rows there are))`` of the nearest rows, nearest first.

        Without ``queries``, of the rows themselves, none of which is its own neighbour.
        """
        n_rows = self.rows.shape[0]
        own = queries is None
        asked: Matrix = self.rows if queries is None else self._centred(queries)
        k = min(k, n_rows - 1 if own else n_rows)
        if k == 0:
            return np.empty((asked.shape[0], k), dtype=np.int32)
        first, of = distinct_rows(asked)
        if len(first) == asked.shape[0]:
            return self._found(k, asked, own, n_jobs, progress)
        near = self._found(k + own, asked[first], False, n_jobs, progress)
        progress(asked.shape[0] - len(first))
        return for_each(near, of, own)

    def _found(self, k: int, asked: Matrix, own: bool, n_jobs: int | None, progress: Progress) -> Neighbors:
        """The k nearest of centred rows; if they are the rows themselves, none is its own neighbour."""
        n_rows, n_queries = self.rows.shape[0], asked.shape[0]
        result = np.empty((n_queries, k), dtype=np.int32)
        asked_squares = self.squares if own else _squares(asked)
        ties = TIE * (np.sqrt(self.squares.max()) + np.sqrt(asked_squares)) ** 2
        if n_queries == 1 and not own:
            result[0] = self._of_one(asked, asked_squares, k, ties)
            progress(1)
            return result
        # Sparse rows have so few products that single precision would save nothing.
        sifting = not sparse.issparse(asked) and n_rows >= max(WORTH_SIFTING, 20 * k)
        step = QUERIES if sifting else max(1, BLOCK_BYTES // (8 * n_rows))
        search = self._sifted if sifting else self._compared
        if sifting:
            _ = self._sieve  # made here, once, and not by every thread
        elif sparse.issparse(asked):
            _ = self._turned

        def block(start: int) -> None:
            part = slice(start, min(start + step, n_queries))
            places = np.arange(start, part.stop) if own else None
            result[part] = search(asked[part], asked_squares[part], k, ties[part], places)
            progress(part.stop - start)

        with one_blas_thread(), workers(thread_count(n_jobs)) as ours:
            ours.each(block, range(0, n_queries, step))
        return result

    def distances(self, neighbors: Neighbors, n_jobs: int | None = None) -> Floats:
        """How far each row is from its neighbours, in the order of ``neighbors``."""
        result = np.empty(neighbors.shape)
        # A product of sparse rows is far cheaper than gathering them; what it loses is computed again.
        thin = sparse.issparse(self.rows)
        step = max(1, BLOCK_BYTES // (8 * self.rows.shape[0])) if thin else QUERIES

        def work(start: int) -> None:
            part = np.arange(start, min(start + step, len(neighbors)))
            lost = part
            if thin:
                squares = self._squared_distances(self.rows[part], self.squares[part])
                near = np.take_along_axis(squares, neighbors[part], axis=1)
                result[part] = np.sqrt(np.maximum(near, 0))
                scale = self.squares[part, None] + self.squares[neighbors[part]]
                lost = part[(near <= PRODUCT_LOSES * scale).any(axis=1)]
            for row in lost:
                result[row] = np.sqrt(_direct(self.rows[neighbors[row]], self.rows[[row]]))

        with workers(thread_count(n_jobs)) as ours:
            ours.each(work, range(0, len(neighbors), step))
        return result

    def _compared(self, queries: Matrix, squares: Floats, k: int, ties: Floats, places: Rows | None) -> Neighbors:
        """The k nearest, all rows being compared in double precision; ``places`` are the queries' own rows."""
        distances = self._squared_distances(queries, squares)
        if places is not None:
            distances[np.arange(len(distances)), places] = np.inf
        return self._smallest(queries, distances, k, ties)

    def _sifted(self, queries: Floats, squares: Floats, k: int, ties: Floats, places: Rows | None) -> Neighbors:
        """The k nearest, out of what single precision does not rule out."""
        result = np.empty((len(queries), k), dtype=np.int32)
        found = self._sieve.candidates(queries, squares, k, places)
        for some in _runs(found.told, TOGETHER):
            mine = found.of(some)
            exact = _squares(self.rows[mine.rows] - queries[some][mine.query_of])
            result[some] = _ordered(mine, exact, k, ties[some])
        left = np.flatnonzero(~found.told)
        step = max(1, BLOCK_BYTES // (8 * len(self.rows)))
        for start in range(0, len(left), step):
            some = left[start : start + step]
            own = None if places is None else places[some]
            result[some] = self._compared(queries[some], squares[some], k, ties[some], own)
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
        bound = _direct(self.rows[nearest], query).max() / shadow.unit**2
        some = np.flatnonzero(flat <= bound * (1 + 1e-6) + error)
        if not k <= len(some) <= MOST_RULED_IN * len(flat) or not np.isfinite(flat).all():
            return self._compared(query, squares, k, ties, None)[0]
        found = Candidates(some, np.array([0, len(some)]), np.array([True]))
        return _ordered(found, _direct(self.rows[some], query), k, ties)[0]

    @cached_property
    def _shadow(self) -> _Shadow | None:
        if sparse.issparse(self.rows) or len(self.rows) < WORTH_A_SHADOW:
            return None
        if not 2 * AXES < self.rows.shape[1] <= MOST_AXES:
            return None
        return _Shadow(self.rows)

    @cached_property
    def _turned(self) -> sparse.csr_array:
        return sparse.csr_array(self.rows.T)

    @cached_property
    def _sieve(self) -> _Sieve:
        return _Sieve(self.rows, self.squares)

    def _squared_distances(self, queries: Matrix, squares: Floats) -> Floats:
        thin = sparse.issparse(self.rows)
        distances: Floats = products(queries, self._turned) if thin else queries @ self.rows.T
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
            width[row] = max(TIE * np.partition(near[mine], k - 1)[k - 1], np.finfo(float).tiny)
        order = np.lexsort((candidates, np.rint(near / width[row_of]), row_of))
        return candidates[order][first[:-1, None] + np.arange(k)].astype(np.int32)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The ``rows`` that may be among the k nearest of each query: ``first[i]`` is where those of query i begin.

    ``told`` is False for a query whose nearest rows may be others; it has no candidates.
    """

    rows: Rows
    first: Rows
    told: Mask

    @property
    def query_of(self) -> Rows:
        """The query of each candidate."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def of(self, some: Rows) -> Candidates:
        """The candidates of neighbouring queries."""
        first = self.first[some[0] : some[-1] + 2]
        return Candidates(self.rows[first[0] : first[-1]], first - first[0], self.told[some])


def _runs(told: Mask, most: int) -> Iterator[Rows]:
    """Runs of neighbouring queries of which the candidates are told, each of at most that many."""
    places = np.flatnonzero(told)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        for start in range(0, len(run), most):
            yield run[start : start + most]


def _kth(values: Floats, first: Rows, k: int) -> Floats:
    """The k-th smallest of the values of each query, infinite where there are fewer."""
    counts = np.diff(first)
    table = np.full((len(counts), max(k, int(counts.max(initial=0)))), np.inf, dtype=values.dtype)
    table[np.arange(table.shape[1]) < counts[:, None]] = values
    return np.asarray(np.partition(table, k - 1, axis=1)[:, k - 1])


def _ordered(found: Candidates, exact: Floats, k: int, ties: Floats) -> Neighbors:
    """The k nearest of the candidates of each query, ties to the lower index."""
    furthest, query_of, tiny = _kth(exact, found.first, k), found.query_of, np.finfo(float).tiny
    width = np.maximum(np.where(ties > LOST * furthest, TIE * furthest, ties * 1.2345678), tiny)
    few = np.flatnonzero(exact <= (furthest + 2 * width)[query_of])
    query_of, rows = query_of[few], found.rows[few]
    order = np.lexsort((rows, np.rint(exact[few] / width[query_of]), query_of))
    first = np.searchsorted(query_of, np.arange(len(furthest)))
    return rows[order][first[:, None] + np.arange(k)].astype(np.int32)


class _Shadow:
    """Dense rows along their first principal axes, in single precision, in units of the longest."""

    def __init__(self, rows: Floats) -> None:
        self.axes = np.linalg.eigh(rows.T @ rows)[1][:, -AXES:]
        projected = rows @ self.axes
        self.unit = _unit(np.einsum("ij,ij->i", projected, projected))
        projected /= self.unit
        self.rows = projected.astype(np.float32)
        self.squares = np.einsum("ij,ij->i", projected, projected).astype(np.float32)

    def distances(self, query: Floats) -> tuple[Floats, float]:
        """Squared distances along the axes, and how far rounding may have put them off."""
        projected = query @ self.axes / self.unit
        length = float(projected @ projected)
        with np.errstate(over="ignore", invalid="ignore"):  # a query may be anywhere
            distances = self.rows @ (-2 * projected).astype(np.float32)
            distances += self.squares
            distances += np.float32(length)
        return distances, ROUNDING * (AXES + 8) * (1 + np.sqrt(length)) ** 2


class _Sieve:
    """Dense rows in single precision, in units of the longest, in chunks; and a sample of them.

    A last column holds the squared lengths, so that one product gives the distances.
    """

    def __init__(self, rows: Floats, squares: Floats) -> None:
        self.unit = _unit(squares)
        single = np.column_stack([rows / self.unit, squares / self.unit**2]).astype(np.float32)
        self.chunks = [(a, single[a : a + CHUNK]) for a in range(0, len(rows), CHUNK)]
        self.sample = np.ascontiguousarray(single[::SAMPLE])
        # A product of n terms is off by at most n roundings, and so are the lengths; a few more for the rest.
        self.rounding = ROUNDING * (single.shape[1] + 8)

    def candidates(self, queries: Floats, squares: Floats, k: int, places: Rows | None) -> Candidates:
        """For each query the rows that may be among its k nearest, if it can tell and rule out enough."""
        turned: Floats = np.vstack([queries.T * (-2.0 / self.unit), np.ones(len(queries))])
        turned = turned.astype(np.float32)
        # The bound usually holds at least k rows. If an unlucky sample makes it too tight, the query is compared
        # with all rows.
        expected = k / SAMPLE
        rank = int(1.3 * expected + 3 * np.sqrt(expected) + 2)
        near = np.partition(turned.T @ self.sample.T, rank - 1, axis=1)
        bound = near[:, rank - 1].astype(np.float64)
        # No neighbour is longer than the query and the bound together, so no rounding is worse than this.
        lengths = squares / self.unit**2
        reach = 2 * np.sqrt(lengths) + np.sqrt(np.maximum(bound + lengths, 0))
        error = 2 * self.rounding * reach**2 + np.finfo(np.float32).tiny
        found = self._within(turned, bound + 2 * error, MOST_CANDIDATES * k * len(queries))
        if found is None or not np.isfinite(bound).all():
            nothing = np.zeros(len(queries) + 1, dtype=np.intp)
            return Candidates(nothing[:0], nothing, np.zeros(len(queries), dtype=bool))
        query_of, rows, near = found
        if places is not None:
            others = rows != places[query_of]
            query_of, rows, near = query_of[others], rows[others], near[others]
        order = np.argsort(query_of.astype(np.uint16), kind="stable")  # short numbers are sorted by their digits
        return _few(query_of[order], rows[order], near[order], k, bound, 2 * error)

    def _within(self, turned: Floats, bound: Floats, most: int) -> tuple[Rows, Rows, Floats] | None:
        """Query, row and distance of all that is within each query's bound, unless that is too many."""
        n_queries, total, found = len(bound), 0, []
        buffer, limit = np.empty((CHUNK, n_queries), dtype=np.float32), bound.astype(np.float32)
        for start, rows in self.chunks:
            distances = np.matmul(rows, turned, out=buffer[: len(rows)])
            flat = np.flatnonzero(distances <= limit)
            found.append((flat % n_queries, flat // n_queries + start, distances.ravel()[flat]))
            total += len(flat)
            if total > most:
                return None
        query_of, candidates, near = (np.concatenate(part) for part in zip(*found, strict=True))
        return query_of, candidates, near


def _few(query_of: Rows, rows: Rows, near: Floats, k: int, bound: Floats, error: Floats) -> Candidates:
    """What may be among the k nearest, of the queries that have k candidates within the bound and not too many.

    ``query_of`` ascends.
    """
    every = np.arange(len(bound) + 1)
    furthest = _kth(near, np.searchsorted(query_of, every), k)
    some = near <= (furthest + error)[query_of]
    counts = np.bincount(query_of[some], minlength=len(bound))
    told = np.isfinite(furthest) & (furthest <= bound) & (counts <= MANY * k)
    some &= told[query_of]
    return Candidates(rows[some], np.searchsorted(query_of[some], every), told)


def _unit(squares: Floats) -> float:
    """The length of the longest row, so that single precision neither overflows nor underflows."""
    return float(np.sqrt(squares.max())) or 1.0


def _direct(rows: Matrix, query: Matrix) -> Floats:
    """Squared distances from the differences themselves."""
    if sparse.issparse(rows):
        rows, query = rows.toarray(), query.toarray()
    return _squares(rows - query)


def _squares(rows: Matrix) -> Floats:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))

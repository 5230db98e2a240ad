"""The k nearest rows, exactly.

Distances come from one matrix product a block of rows, around the mean row so that a common
offset costs no digits; where digits are lost all the same (rows close together and far from the
rest), the distances of the candidates are taken again, directly. Two distances that differ by less
than rounding are a tie, and ties go to the row that stands first; the detector keeps its rows in an
order that depends on their content only, so ties do not depend on how a file is sorted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

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

Neighbors = npt.NDArray[np.intp]


class NearestRows:
    """The rows to be found, around their mean, with their squared lengths."""

    def __init__(self, rows: Matrix) -> None:
        # Sparse rows stay where they are: most of their columns are zero, and so near the mean.
        self._centre = None if sparse.issparse(rows) else rows.mean(axis=0)
        self.rows = self._centred(rows)
        self.squares = _squares(self.rows)

    def _centred(self, rows: Matrix) -> Matrix:
        return rows if self._centre is None else rows - self._centre

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
        step = max(1, BLOCK_BYTES // (8 * n_rows))

        def block(start: int) -> None:
            part = slice(start, min(start + step, n_queries))
            distances = self._squared_distances(asked[part], asked_squares[part])
            if own:
                distances[np.arange(part.stop - start), np.arange(start, part.stop)] = np.inf
            result[part] = self._smallest(asked[part], distances, k, ties[part])
            progress(part.stop - start)

        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(thread_count(n_jobs)) as pool:
            list(pool.map(block, range(0, n_queries, step)))
        return result

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


def _direct(rows: Matrix, query: Matrix) -> Floats:
    """Squared distances from the differences themselves."""
    if sparse.issparse(rows):
        rows, query = rows.toarray(), query.toarray()
    return _squares(rows - query)


def _squares(rows: Matrix) -> Floats:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))

"""The k nearest rows, exactly.

Distances come from one matrix product a block of rows. Two distances that differ by less than
rounding are a tie, and ties go to the row that stands first; the detector keeps its rows in an
order that depends on their content only, so ties do not depend on how a file is sorted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from scipy import sparse
from threadpoolctl import threadpool_limits

from amiss.dataset import Floats, Matrix
from amiss.progress import Progress
from amiss.solver import thread_count

BLOCK_BYTES = 32 << 20
TIE = 1e-11  # of the largest squared distance there can be

Neighbors = npt.NDArray[np.intp]


class NearestRows:
    """The rows to be found, with their squared lengths."""

    def __init__(self, rows: Matrix) -> None:
        self.rows = rows
        self.squares = _squares(rows)

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
        asked: Matrix = self.rows if queries is None else queries
        k = min(k, n_rows - 1 if own else n_rows)
        n_queries = asked.shape[0]
        result = np.empty((n_queries, k), dtype=np.intp)
        if k == 0:
            return result
        asked_squares = self.squares if own else _squares(asked)
        tie = TIE * (np.sqrt(self.squares.max()) + np.sqrt(asked_squares.max(initial=0.0))) ** 2
        step = max(1, BLOCK_BYTES // (8 * n_rows))

        def block(start: int) -> None:
            part = slice(start, min(start + step, n_queries))
            distances = self._squared_distances(asked[part], asked_squares[part])
            if own:
                distances[np.arange(part.stop - start), np.arange(start, part.stop)] = np.inf
            result[part] = _smallest(distances, k, tie)
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


def _squares(rows: Matrix) -> Floats:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _smallest(distances: Floats, k: int, tie: float) -> Neighbors:
    """The k nearest of each row, ties to the lower index."""
    furthest = np.partition(distances, k - 1, axis=1)[:, k - 1]
    row_of, candidates = np.nonzero(distances <= furthest[:, None] + tie)
    near = np.rint(distances[row_of, candidates] / (tie * 1.2345678 if tie else 1.0))
    order = np.lexsort((candidates, near, row_of))
    first = np.searchsorted(row_of, np.arange(len(distances)))
    return np.asarray(candidates[order][first[:, None] + np.arange(k)])

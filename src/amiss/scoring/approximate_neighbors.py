"""Nearly all of the k nearest of very many rows, found by faiss (extra ``ann``).

Rows are put into cells by k-means, and a query looks into the cells nearest to it. How many cells
that must be depends on the data: on clustered rows a few find nearly all neighbours, on rows
without structure the same few find a quarter. So it is measured: the exact neighbours of a sample
of the rows are found too, and the number of cells is doubled until ``GOAL`` of them are found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Matrix
from amiss.progress import Progress, ignored
from amiss.scoring.neighbors import NearestRows, Neighbors, without
from amiss.threads import thread_count

SAMPLE = 256
GOAL = 0.99
ROWS_A_CELL = 200
BLOCK = 8192


class ApproximateRows(NearestRows):
    """The same as :class:`NearestRows`, but ``find`` may miss some; ``recall`` is the share that it finds."""

    def __init__(self, rows: Floats, k: int, n_jobs: int | None) -> None:
        import faiss

        super().__init__(rows)
        faiss.omp_set_num_threads(thread_count(n_jobs))
        single = np.ascontiguousarray(self.rows, dtype=np.float32)
        n_cells = max(1, min(len(single) // ROWS_A_CELL, int(4 * np.sqrt(len(single)))))
        quantizer = faiss.IndexFlatL2(single.shape[1])
        self._index: Any = faiss.IndexIVFFlat(quantizer, single.shape[1], n_cells)
        self._index.cp.seed = 0
        self._index.train(single)
        self._index.add(single)
        self._tune(single, k, n_cells, n_jobs)

    def _tune(self, single: npt.NDArray[np.float32], k: int, n_cells: int, n_jobs: int | None) -> None:
        """Look into as many cells as the goal takes, measured on rows at even steps."""
        sample = np.linspace(0, len(single) - 1, min(SAMPLE, len(single))).astype(np.intp)
        queries: Floats = self.rows[sample]
        # The mean is taken off again within.
        exact = super().find(k, queries + self.centre, n_jobs=n_jobs)
        self._index.nprobe = 1
        while True:
            found = self._index.search(single[sample], exact.shape[1])[1]
            hits = [np.intersect1d(a, b).size for a, b in zip(found, exact, strict=True)]
            self.recall = float(np.sum(hits) / exact.size)
            if self.recall >= GOAL or self._index.nprobe >= n_cells:
                break
            self._index.nprobe = min(2 * self._index.nprobe, n_cells)

    def find(
        self,
        k: int,
        queries: Matrix | None = None,
        *,
        n_jobs: int | None = None,
        progress: Progress = ignored,
    ) -> Neighbors:
        import faiss

        faiss.omp_set_num_threads(thread_count(n_jobs))
        own = queries is None
        asked: Matrix = self.rows if queries is None else self._centred(queries)
        k = min(k, len(self.rows) - 1 if own else len(self.rows))
        result = np.empty((len(asked), k), dtype=np.int32)
        for start in range(0, len(asked), BLOCK):
            part = slice(start, min(start + BLOCK, len(asked)))
            found = self._index.search(np.ascontiguousarray(asked[part], dtype=np.float32), k + own)[1]
            short = (found < 0).any(axis=1)
            if own:
                found = without(found, np.arange(part.start, part.stop))
            result[part] = found
            for row in np.flatnonzero(short):  # its cells hold fewer than k rows
                whole = super().find(k + own, asked[[start + row]] + self.centre)
                result[start + row] = without(whole, np.array([start + row]))[0] if own else whole[0]
            progress(part.stop - start)
        return result

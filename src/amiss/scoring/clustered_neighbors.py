"""Nearly all of the k nearest of many rows, in time that grows with the rows and not with their square.

Rows are put into clusters by k-means. A query is compared with the rows of the clusters nearest to its own, until
``COMPARED`` rows are reached, and with these exactly. So the work per query is the same however many rows there
are, and nothing has to be tuned: where rows lie in clusters, nearly all neighbours are found, and where they lie
evenly, the rows that are found instead are nearly as near. Clusters are learned from a sample of the rows.

Queries that are equal are searched once. In survey tables, where a few answers make all the rows, that is most of
them. A cluster of more than ``COMPARED`` rows is represented by rows at even steps.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Matrix, Rows, row_blocks
from amiss.progress import Progress, ignored
from amiss.scoring.neighbors import NearestRows, Neighbors, for_each
from amiss.threads import one_blas_thread, thread_count, workers

COMPARED = 10_000  # rows that a query is compared with
ROWS_PER_CLUSTER, MOST_CLUSTERS = 500, 1024
LEARNED_FROM = 32  # rows per cluster
STEPS = 5  # of k-means
SAMPLE = 256  # rows whose exact neighbours are found, to measure the recall

Single = npt.NDArray[np.float32]


class ClusteredRows(NearestRows):
    """The same as :class:`NearestRows`, but ``find`` may miss some; ``recall`` is the share that it finds."""

    def __init__(self, rows: Floats, k: int) -> None:
        super().__init__(rows)
        self._k, self._compared_with = k, max(COMPARED, 4 * k)
        with one_blas_thread():  # its own threads would let the bits depend on their number
            self._centres = _learned(self.rows)
            cluster = _nearest(self.rows, self._centres)
        count = np.bincount(cluster, minlength=len(self._centres))
        self._members = np.split(np.argsort(cluster, kind="stable"), np.cumsum(count)[:-1])

    @cached_property
    def recall(self) -> float:  # type: ignore[override]
        """The share of the k nearest that are found, measured on rows at even steps."""
        sample = np.linspace(0, len(self.rows) - 1, min(SAMPLE, len(self.rows))).astype(np.intp)
        asked: Floats = self.rows[sample]
        exact, found = (find(self._k, asked, False, None, ignored) for find in (super()._found, self._found))
        hits = [np.intersect1d(*both).size for both in zip(exact, found, strict=True)]
        return float(np.sum(hits) / exact.size)

    def _found(self, k: int, asked: Matrix, own: bool, n_jobs: int | None, progress: Progress) -> Neighbors:
        cluster, k = _nearest(asked, self._centres), k + own
        result = np.empty((len(asked), k), dtype=np.int32)
        order = np.argsort(cluster, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1)

        def work(mine: Rows) -> None:
            near = self._near(int(cluster[mine[0]]))
            result[mine] = near[self.part(near)._found(k, asked[mine], False, None, ignored)]
            progress(len(mine))

        with one_blas_thread(), workers(thread_count(n_jobs)) as ours:
            ours.each(work, groups)
        return for_each(result, np.arange(len(asked)), own) if own else result

    def _near(self, cluster: int) -> Rows:
        """The rows that queries of a cluster are compared with, in ascending order."""
        found, total = [], 0
        apart = np.square(self._centres - self._centres[cluster]).sum(axis=1)
        for other in np.argsort(apart, kind="stable"):
            members = self._members[other]
            if len(members) > self._compared_with:
                members = members[np.linspace(0, len(members) - 1, self._compared_with).astype(np.intp)]
            found.append(members)
            total += len(members)
            if total >= self._compared_with:
                break
        return np.sort(np.concatenate(found))


def _learned(rows: Floats) -> Single:
    """Centres of clusters, by k-means from rows at even steps."""
    n_clusters = max(1, min(len(rows) // ROWS_PER_CLUSTER, MOST_CLUSTERS))
    some = np.linspace(0, len(rows) - 1, min(len(rows), LEARNED_FROM * n_clusters)).astype(np.intp)
    sample = rows[some].astype(np.float32)
    centres = sample[np.linspace(0, len(sample) - 1, n_clusters).astype(np.intp)]
    for _ in range(STEPS):
        cluster = _nearest(sample, centres)
        count = np.bincount(cluster, minlength=n_clusters)
        sums = np.zeros_like(centres)
        np.add.at(sums, cluster, sample)
        centres = np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], centres)
    return np.asarray(centres, dtype=np.float32)


def _nearest(rows: Floats | Single, centres: Single) -> Rows:
    """The centre nearest to each row."""
    result = np.empty(len(rows), dtype=np.intp)
    squares = np.square(centres).sum(axis=1) / 2
    for block in row_blocks(len(rows)):
        result[block] = np.argmax(rows[block].astype(np.float32) @ centres.T - squares, axis=1)
    return result

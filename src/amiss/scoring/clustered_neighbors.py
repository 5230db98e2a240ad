"""Nearly all of the k nearest of many rows, in time that grows with the rows and not with their square.

Rows are put into clusters by k-means. A query is compared with the rows of the clusters nearest to its own, until
``COMPARED`` rows are reached, and the nearest of these are its neighbours. So the work per query is the same
however many rows there are, and nothing has to be tuned: where rows lie in clusters, nearly all neighbours are
found, and where they lie evenly, the rows that are found instead are nearly as near. Clusters are learned from a
sample.

Distances are in single precision; rows whose distances differ by less than that are taken in either order. Queries
that are equal are searched once. In survey tables, where a few answers make all the rows, that is most of them.
The neighbours of all rows are not kept, because they would need more room than most tables: who asks for them is
told those of a cluster at a time.
A cluster of more than ``COMPARED`` rows is represented by rows at even steps.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from amiss.arrays import Floats, Matrix, Neighbors, Rows, row_blocks
from amiss.progress import Progress, ignored
from amiss.scoring.equal_rows import Visit, distinct_rows, own_places, visit_equal, without
from amiss.scoring.neighbors import NearestRows
from amiss.scoring.selection import Single, smallest
from amiss.threads import one_blas_thread, thread_count, workers

COMPARED = 3_000  # rows that a query is compared with
CLUSTERS, MOST_CLUSTERS = 1.3, 1024  # times the root of the number of rows
LEARNED_FROM = 32  # rows per cluster
STEPS = 5  # of k-means
SAMPLE = 256  # rows whose exact neighbours are found, to measure the recall
# Queries that are compared at once. Always as many, so that no product depends on which queries come together.
TOGETHER = 64


class ClusteredRows(NearestRows):
    """The same as :class:`NearestRows`, but ``find`` may miss some; ``recall`` is the share that it finds."""

    def __init__(self, rows: Floats, k: int) -> None:
        self.centre, self.squares = rows.mean(axis=0), np.empty(len(rows))
        # A query (-q, 1) times this is half of its squared distance, but for what is the same for every row.
        self._halves: Single = np.empty((len(rows), rows.shape[1] + 1), dtype=np.float32)
        for block in row_blocks(len(rows)):
            centred = rows[block] - self.centre
            self.squares[block] = np.einsum("ij,ij->i", centred, centred)
            self._halves[block, :-1] = centred
            self._halves[block, -1] = self.squares[block] / 2
        self.rows = self._halves[:, :-1]
        self._k, self._compared_with = k, max(COMPARED, 4 * k)
        with one_blas_thread():  # its own threads would let the bits depend on their number
            self._centres = _learned(self.rows)
            self._cluster = _nearest(self.rows, self._centres)
        count = np.bincount(self._cluster, minlength=len(self._centres))
        self._members = np.split(np.argsort(self._cluster, kind="stable"), np.cumsum(count)[:-1])

    @cached_property
    def recall(self) -> float:  # type: ignore[override]
        """The share of the k nearest that are found, measured on rows at even steps."""
        sample = np.linspace(0, len(self.rows) - 1, min(SAMPLE, len(self.rows))).astype(np.intp)
        exact, found = (
            find(self._k, self.rows[sample], False, None, ignored) for find in (super()._found, self._found)
        )
        hits = [np.intersect1d(*both).size for both in zip(exact, found, strict=True)]
        return float(np.sum(hits) / exact.size)

    def each(self, k: int, visit: Visit, n_jobs: int | None, progress: Progress = ignored) -> None:
        """Visit all rows, some at a time, with the k nearest others of each."""
        n_rows = len(self.rows)
        first, of = distinct_rows(self.rows)
        if len(first) < n_rows:
            near = self._found(k + 1, self.rows[first], False, n_jobs, progress)
            visit_equal(near, of, visit, n_jobs)
            progress(n_rows - len(first))
            return

        def others(mine: Rows, among: Rows, places: Neighbors) -> None:
            visit(mine, among, without(places, own_places(mine, among)))
            progress(len(mine))

        self._visit(k + 1, self.rows, self._cluster, others, n_jobs)

    def _found(self, k: int, asked: Matrix, own: bool, n_jobs: int | None, progress: Progress) -> Neighbors:
        single = np.asarray(asked, dtype=np.float32)
        result = np.empty((len(single), k), dtype=np.int32)

        def keep(mine: Rows, among: Rows, places: Neighbors) -> None:
            near = without(places, own_places(mine, among)) if own else places
            result[mine] = among[near]
            progress(len(mine))

        with one_blas_thread():
            cluster = _nearest(single, self._centres)
        self._visit(k + own, single, cluster, keep, n_jobs)
        return result

    def _visit(self, k: int, asked: Single, cluster: Rows, visit: Visit, n_jobs: int | None) -> None:
        """Visit queries, those of a cluster together, with the k nearest rows of each."""
        order = np.argsort(cluster, kind="stable")

        def work(mine: Rows) -> None:
            among = self._near(int(cluster[mine[0]]))
            compared, near = self._halves[among], np.empty((len(mine), k), dtype=np.int32)
            distances = np.empty((TOGETHER, len(among)), dtype=np.float32)
            for start in range(0, len(mine), TOGETHER):
                some = mine[start : start + TOGETHER]
                queries = np.zeros((TOGETHER, compared.shape[1]), dtype=np.float32)
                queries[: len(some), :-1], queries[:, -1] = -asked[some], 1.0
                np.matmul(queries, compared.T, out=distances)
                near[start : start + TOGETHER] = smallest(distances[: len(some)], k)
            visit(mine, among, near)

        with one_blas_thread(), workers(thread_count(n_jobs)) as ours:
            ours.each(work, np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1))

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


def _learned(rows: Single) -> Single:
    """Centres of clusters, by k-means from rows at even steps."""
    n_clusters = max(1, min(int(CLUSTERS * np.sqrt(len(rows))), MOST_CLUSTERS))
    sample = rows[np.linspace(0, len(rows) - 1, min(len(rows), LEARNED_FROM * n_clusters)).astype(np.intp)]
    centres = sample[np.linspace(0, len(sample) - 1, n_clusters).astype(np.intp)]
    for _ in range(STEPS):
        cluster = _nearest(sample, centres)
        count = np.bincount(cluster, minlength=n_clusters)
        sums = np.zeros_like(centres)
        np.add.at(sums, cluster, sample)
        centres = np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], centres)
    return np.asarray(centres, dtype=np.float32)


def _nearest(rows: Single, centres: Single) -> Rows:
    """The centre nearest to each row."""
    result = np.empty(len(rows), dtype=np.intp)
    squares = np.square(centres).sum(axis=1) / 2
    for block in row_blocks(len(rows)):
        result[block] = np.argmax(rows[block] @ centres.T - squares, axis=1)
    return result

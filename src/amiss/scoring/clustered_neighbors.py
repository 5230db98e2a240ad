"""Nearly all of the k nearest of many rows, in time that grows with the rows and not with their square.

Rows are put into clusters by k-means. A query is compared with the rows of the clusters nearest to its own, until
``COMPARED`` rows are reached, and the nearest of these are its neighbours. So the work per query is the same
however many rows there are, and nothing has to be tuned: where rows lie in clusters, nearly all neighbours are
found, and where they lie evenly, the rows that are found instead are nearly as near. Clusters are learned from a
sample.

Distances are in single precision; rows whose distances differ by less than that are taken in either order. Queries
that are equal are searched once. In survey tables, where a few answers make all the rows, that is most of them.
A cluster of more than ``COMPARED`` rows is represented by rows at even steps.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Matrix, Neighbors, Rows, row_blocks
from amiss.progress import Progress, ignored
from amiss.scoring.equal_rows import for_each
from amiss.scoring.neighbors import NearestRows
from amiss.threads import one_blas_thread, thread_count, workers

COMPARED = 6_000  # rows that a query is compared with
ROWS_PER_CLUSTER, MOST_CLUSTERS = 500, 1024
LEARNED_FROM = 32  # rows per cluster
STEPS = 5  # of k-means
SAMPLE = 256  # rows whose exact neighbours are found, to measure the recall
# Queries that are compared at once. Always as many, so that no product depends on which queries come together.
TOGETHER = 64
ONE_IN = 8  # of the compared rows bound how far the k-th neighbour can be

LAST = np.uint64(2**64 - 1)

Single = npt.NDArray[np.float32]


class ClusteredRows(NearestRows):
    """The same as :class:`NearestRows`, but ``find`` may miss some; ``recall`` is the share that it finds."""

    def __init__(self, rows: Floats, k: int) -> None:
        super().__init__(rows)
        self.rows: Single = np.asarray(self.rows, dtype=np.float32)
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
        exact, found = (
            find(self._k, self.rows[sample], False, None, ignored) for find in (super()._found, self._found)
        )
        hits = [np.intersect1d(*both).size for both in zip(exact, found, strict=True)]
        return float(np.sum(hits) / exact.size)

    def _found(self, k: int, asked: Matrix, own: bool, n_jobs: int | None, progress: Progress) -> Neighbors:
        single, k = np.asarray(asked, dtype=np.float32), k + own
        result = np.empty((len(single), k), dtype=np.int32)
        with one_blas_thread(), workers(thread_count(n_jobs)) as ours:
            cluster = _nearest(single, self._centres)
            order = np.argsort(cluster, kind="stable")

            def work(mine: Rows) -> None:
                near = self._near(int(cluster[mine[0]]))
                compared = _Compared(near, self.rows[near])
                for start in range(0, len(mine), TOGETHER):
                    some = mine[start : start + TOGETHER]
                    result[some] = compared.nearest(single[some], k)
                progress(len(mine))

            ours.each(work, np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1))
        return for_each(result, np.arange(len(single)), own) if own else result

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


class _Compared:
    """Rows that some queries are compared with, their numbers in ascending order."""

    def __init__(self, numbers: Rows, rows: Single) -> None:
        self.numbers = numbers.astype(np.int32)
        squares = np.einsum("ij,ij->i", rows, rows)
        self.turned = np.ascontiguousarray(np.column_stack([-2 * rows, squares]).T)
        self.buffer = np.empty((TOGETHER, len(rows)), dtype=np.float32)

    def nearest(self, queries: Single, k: int) -> Neighbors:
        """The k nearest rows of at most ``TOGETHER`` queries, nearest first, ties to the lower number.

        The k-th of all rows is hardly ever further than one that some of them bound; where it is, all are sorted.
        """
        padded = np.zeros((TOGETHER, self.turned.shape[0]), dtype=np.float32)
        padded[: len(queries), :-1], padded[:, -1] = queries, 1.0
        distances = np.matmul(padded, self.turned, out=self.buffer)[: len(queries)]
        expected = k / ONE_IN
        rank = int(expected + 3 * np.sqrt(expected) + 2)
        some = distances[:, ::ONE_IN]
        bound = np.partition(some, min(rank, some.shape[1] - 1), axis=1)[:, min(rank, some.shape[1] - 1)]
        flat = np.flatnonzero((distances <= bound[:, None]).ravel())
        query = flat // len(self.numbers)
        count = np.bincount(query, minlength=len(queries))
        if count.min() < k:
            keys = _keys(distances, np.broadcast_to(self.numbers, distances.shape))
        else:
            keys = np.full((len(queries), int(count.max())), LAST)
            column = np.arange(len(query)) - np.repeat(np.cumsum(count) - count, count)
            place = flat - query * len(self.numbers)
            keys[query, column] = _keys(distances.ravel()[flat], self.numbers[place])
        keys = np.partition(keys, k - 1, axis=1)[:, :k]
        return (np.sort(keys, axis=1) & np.uint64(0xFFFFFFFF)).astype(np.int32)


def _keys(distances: Single, numbers: Neighbors) -> npt.NDArray[np.uint64]:
    """Whole numbers in the order of the distances, and of the numbers where these are equal.

    The bits of a positive number grow with it; those of a negative one are turned round.
    """
    bits = (distances + np.float32(0)).view(np.uint32)  # there is a negative zero
    ordered = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
    return (ordered.astype(np.uint64) << np.uint64(32)) | numbers.astype(np.uint64)


def _learned(rows: Single) -> Single:
    """Centres of clusters, by k-means from rows at even steps."""
    n_clusters = max(1, min(len(rows) // ROWS_PER_CLUSTER, MOST_CLUSTERS))
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

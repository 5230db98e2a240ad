"""A second implementation of the solver's seam: rows cut into partitions that share nothing.

A :class:`Site` makes a partition of bytes and answers in bytes, in this process or in one of its own
(:class:`ProcessSite`); nobody else has its rows, signs, folds or curvatures. :class:`Wire` is the only way to it
and refuses arrays with an axis of rows. Sums are handed from one partition to the next, so that blocks are added
in the order in which one process adds them.
"""

from __future__ import annotations

import multiprocessing
import pickle
import weakref
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from amiss.models.logistic.blocks import Layout, Running, column_slices
from amiss.models.logistic.partition import (
    Partition,
    PartitionCurvatures,
    PartitionProblems,
    Place,
    cross_products,
    sampling_steps,
)
from amiss.models.logistic.pool import Pool, total


@dataclass(frozen=True)
class Kept:
    """Stands for something that stays at a site."""

    number: int


class Site:
    """Holds a partition and what that made: its shares in batches of problems, and their curvatures."""

    def __init__(self, content):
        self.kept = {0: Partition(*pickle.loads(content), Pool())}
        self.n_kept = 1

    def __call__(self, message):
        forgotten, number, name, arguments = pickle.loads(message)
        for each in forgotten:
            del self.kept[each]
        far = self.kept[number]
        method = partial(HELPERS[name], far) if name in HELPERS else getattr(far, name)
        result = method(*arguments)
        if isinstance(result, PartitionProblems | PartitionCurvatures):
            self.kept[self.n_kept] = result
            result = Kept(self.n_kept)
            self.n_kept += 1
        return pickle.dumps(result)


class ProcessSite:
    """A site in a process of its own, which has seen nothing of this one but bytes."""

    def __init__(self, content):
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_be_a_site, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self._ours.send_bytes(content)

    def __call__(self, message):
        self._ours.send_bytes(message)
        return self._ours.recv_bytes()

    def close(self):
        self._ours.close()
        self._process.join(10)
        assert self._process.exitcode == 0


def _be_a_site(connection):
    with threadpool_limits(1):
        site = Site(connection.recv_bytes())
        while True:
            try:
                message = connection.recv_bytes()
            except EOFError:
                return
            connection.send_bytes(site(message))


class Wire:
    """The only way to a partition, or to what it keeps of a batch of problems."""

    def __init__(self, site, n_rows, traffic, number=0, forgotten=None):
        self._site, self._n_rows, self.traffic, self._number = site, n_rows, traffic, number
        self._forgotten = [] if forgotten is None else forgotten
        if number:  # nobody can ask for it any more: told with the next message
            weakref.finalize(self, self._forgotten.append, number).atexit = False

    def __call__(self, name, *arguments, may_have_rows=False):
        """Call a method of what is there, or one of ``HELPERS`` with it."""
        self._refuse_rows(name, arguments)
        forgotten, self._forgotten[:] = list(self._forgotten), []
        message = pickle.dumps((forgotten, self._number, name, arguments))
        answer = self._site(message)
        self.traffic += [(name, len(message)), (name, len(answer))]
        result = pickle.loads(answer)
        if isinstance(result, Kept):
            return Wire(self._site, self._n_rows, self.traffic, result.number, self._forgotten)
        if not may_have_rows:
            self._refuse_rows(name, result)
        return result

    def _refuse_rows(self, name, message):
        for array in arrays_in(message):
            assert max(array.shape, default=0) < self._n_rows, f"{name} lets rows through"


def arrays_in(message):
    if isinstance(message, np.ndarray):
        yield message
    elif isinstance(message, Running):
        yield from arrays_in([message.sums, message.products])
    elif isinstance(message, list | tuple):
        for part in message:
            yield from arrays_in(part)
    elif isinstance(message, dict):
        yield from arrays_in(list(message.values()))


class PartitionedRows:
    """Implements ``seam.Rows`` with partitions that begin at row 0 and at every one of ``cuts``."""

    def __init__(self, Z, signs, folds=None, n_jobs=None, *, cuts, traffic=None, site=Site):
        self.layout, self.pool = Layout.of(Z), Pool(n_jobs)
        self.n_outputs, self.n_folds = signs.shape[1], 0 if folds is None else int(folds.max()) + 1
        traffic = [] if traffic is None else traffic
        self.parts = []
        for a, b in zip([0, *cuts], [*cuts, len(signs)], strict=True):
            own = Z[a:b], signs[a:b], None if folds is None else folds[a:b], Place(self.layout, a, self.n_folds)
            self.parts.append(Wire(site(pickle.dumps(own)), b - a, traffic))
        self.centre = chained(self.parts, "column_means", None, self.layout.n_rows)
        if not self.layout.is_sparse:
            self.centre = self.centre / self.layout.n_rows
        self.column_slices = self.parts[-1]("column_slices", self.layout)

    def problems(self, outputs, precision):
        return PartitionedProblems(self, [part("problems", outputs, precision) for part in self.parts], precision)

    def margins(self, coef, intercept):
        coef = np.ascontiguousarray(coef)
        return np.concatenate([part("margins", coef, intercept, may_have_rows=True) for part in self.parts])


class PartitionedProblems:
    """Implements ``seam.Problems``."""

    def __init__(self, rows, parts, precision):
        self.rows, self.parts, self.precision = rows, parts, precision
        self._counts = total([part("counts") for part in parts])
        self.n_problems = len(self._counts[0])

    def counts(self):
        return self._counts

    def evaluate(self, coef, offset, result, some=None):
        running = Running.into(np.zeros_like(result), len(self.rows.layout.shards(coef.shape[1])))
        for part in self.parts:
            running = part("evaluate", coef, offset, some, running)
        (losses,) = running.finish()
        result[:] = running.products[0]
        return losses

    def curvatures(self):
        return PartitionedCurvatures(self.rows, [part("curvatures") for part in self.parts])

    def take(self, problems):
        return self._made("take", problems)

    def part(self, problems):
        return self._made("part", problems)

    def outside_folds(self, outputs):
        return self._made("outside_folds", outputs)

    def hold_out(self, outputs, coef, offset):
        for part in self.parts:
            part("hold_out", outputs, coef, offset)

    def held_out_losses(self):
        return sum_over_rows(self, "held_out_losses_sum", np.float64)

    def _made(self, name, problems):
        parts = [part(name, problems) for part in self.parts]
        return PartitionedProblems(self.rows, parts, self.precision)


class PartitionedCurvatures:
    """Implements ``seam.Curvatures``."""

    def __init__(self, rows, parts):
        self.rows, self.parts = rows, parts
        self.n_problems = parts[0]("n_problems")

    def hessian_product(self, coef, offset, result):
        running = Running.into(np.zeros_like(result), len(self.rows.layout.shards(coef.shape[1])))
        for part in self.parts:
            running = part("hessian_product", coef, offset, running)
        running.finish()
        result[:] = running.products[0]

    def take(self, problems):
        return PartitionedCurvatures(self.rows, [part("take", problems) for part in self.parts])

    def moments(self):
        running = [()] * len(self.rows.layout.shards(self.n_problems))
        for part in self.parts:
            running = part("moments", running)
        return (sum_over_rows(self, "curvature_sum", None), *total(running))

    def sampled(self, n_sampled, centre):
        matrices = np.empty((self.n_problems, len(centre) + 1, len(centre) + 1), dtype=centre.dtype)
        for problem in range(self.n_problems):
            cross_products(self._drawn(problem, n_sampled), centre, matrices[problem])
        return sum_over_rows(self, "curvature_sum", np.float64), matrices

    def _drawn(self, problem, n_sampled):
        """Rows at even steps through the running sum, each from the partition that the step falls into."""
        ends = [None]
        for part in self.parts:
            ends.append(part("cumulated_end", problem, ends[-1]))
        steps = sampling_steps(ends[-1], n_sampled)
        shares = np.split(steps, np.searchsorted(steps, ends[1:-1], side="right"))
        told = zip(self.parts, shares, ends[:-1], strict=True)
        return np.concatenate([part("drawn", problem, share, before) for part, share, before in told])


def chained(parts, name, running, *arguments):
    for part in parts:
        running = part(name, running, *arguments)
    return running


def sum_over_rows(whole, name, dtype):
    """Σ_n for every problem, as NumPy's ``sum(axis=0, dtype=dtype)`` does it on all rows at once.

    NumPy adds several columns row by row, and that sum can be handed on. A single column is added pairwise:
    ever smaller halves of the rows down to 128, and, if it must be converted, buffer by buffer.
    """
    if whole.n_problems > 1:
        return chained(whole.parts, name, None, dtype)
    n_rows = whole.rows.layout.n_rows
    length = n_rows if dtype is None else np.getbufsize()
    buffers = [(a, min(a + length, n_rows)) for a in range(0, n_rows, length)]
    known = {}
    for part in whole.parts:
        known |= part(name, buffers, dtype)
    sums = [pairwise_sum(buffer, known) for buffer in buffers]
    return np.array([np.add.accumulate(sums)[-1]])


LEAF = 128


def halves(span):
    start, stop = span
    half = (stop - start) // 2
    middle = start + half - half % 8
    return (start, middle), (middle, stop)


def pairwise_sum(span, known):
    """The sum of a span of rows, from those of smaller spans."""
    if span in known:
        return known[span]
    if span[1] - span[0] <= LEAF:
        return np.array([known[n, n + 1] for n in range(*span)]).sum()
    first, second = halves(span)
    return pairwise_sum(first, known) + pairwise_sum(second, known)


def known_sums(values, first, span):
    """The sums of the spans that lie within these values, and the values of the last 128 that do not."""
    start, stop = max(span[0], first), min(span[1], first + len(values))
    if start >= stop:
        return {}
    if (start, stop) == span:
        return {span: values[start - first : stop - first].sum()}
    if span[1] - span[0] <= LEAF:
        return {(n, n + 1): values[n - first] for n in range(start, stop)}
    return {key: value for half in halves(span) for key, value in known_sums(values, first, half).items()}


def _sum(partition, values, running, dtype):
    """Add rows to a sum; for a single problem, ``running`` are the spans that are asked for."""
    if values.shape[1] > 1:
        return (values if running is None else np.vstack([running, values])).sum(axis=0, dtype=dtype)
    column = values[:, 0].astype(values.dtype if dtype is None else dtype)
    return {k: v for span in running for k, v in known_sums(column, partition.place.first, span).items()}


def _column_means(partition, running, n_rows):
    Z = partition.Z
    if not sparse.issparse(Z):
        return (Z if running is None else np.vstack([running, Z])).sum(axis=0)
    Z = Z * (1 / n_rows)
    return (Z if running is None else sparse.vstack([sparse.csr_array(running[None]), Z])).sum(axis=0)


HELPERS = {  # what a partition is asked beside its own methods; each runs where the rows are
    "column_means": _column_means,
    "column_slices": lambda partition, layout: column_slices(partition.Z, layout),
    "n_problems": lambda share: share.curvature.shape[1],
    "curvature_sum": lambda share, running, dtype: _sum(share.partition, share.curvature, running, dtype),
    "held_out_losses_sum": lambda share, running, dtype: _sum(
        share.partition, share.held_out_losses(), running, dtype
    ),
    "cumulated_end": lambda share, problem, before: share.cumulated(problem, before)[-1],
    "drawn": lambda share, problem, steps, before: share.rows_at(steps, share.cumulated(problem, before)),
}

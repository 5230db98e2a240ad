"""The neighbours of each training row, and the training rows nearest to a new row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Matrix, Neighbors, Rows
from amiss.encoding.encoder import Encoder
from amiss.encoding.leading_axes import LeadingAxes, is_wide, sampled_axes
from amiss.models.fitting import FittedModels
from amiss.models.mixed.layout import OutputLayout
from amiss.scoring.clustered_neighbors import ClusteredRows
from amiss.scoring.equal_rows import Visit, without
from amiss.scoring.neighbors import NearestRows
from amiss.scoring.searches import NeighborSearch
from amiss.scoring.spaces import NeighborSpace

MOST_COMPANY = 200  # rows of the own group that are looked past
MOST_AXES = 48
SHARE = 0.9  # of the variance
SAMPLE = 4096  # rows that the axes are found from


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The rows of a fit to be searched, in the order of their fingerprints, and the neighbours of each.

    Of very many rows ``neighbors`` is None: they are found again where they are asked for.

    Rows with the same number in ``groups`` are not each other's neighbours, and only the nearest of a group is a
    neighbour of another row: whoever erred in one row may have erred in all of them. The inputs of a wide table
    are searched along its leading ``axes``: the distances along them are nearly those of all columns, and a search
    compares every row with every other.
    """

    nearest: NearestRows
    neighbors: Neighbors | None
    k: int
    groups: Rows | None = None
    axes: LeadingAxes | None = None
    metric: Encoder | None = None
    layout: OutputLayout | None = None

    def outputs(self, filled: Floats) -> Floats:
        """Outputs of rows as they are searched."""
        return filled if self.layout is None else self.layout.points(filled)

    def inputs(self, design: Matrix) -> Matrix:
        """Encoded inputs of rows as they are searched."""
        return _located(design, self.metric, self.axes)

    def each(self, visit: Visit, n_jobs: int | None, verbose: bool) -> None:
        """Visit all rows with their neighbours."""
        nearest, groups = self.nearest, self.groups
        assert isinstance(nearest, ClusteredRows)
        k = min(self.k, len(nearest.rows) - 1)

        def strangers(rows: Rows, among: Rows, places: Neighbors) -> None:
            assert groups is not None
            visit(rows, among, _strangers(places, groups[rows], groups[among], k))

        with progress.stages(verbose)("finding neighbours", len(nearest.rows)) as advance:
            if groups is None:
                nearest.each(k, visit, n_jobs, advance)
            else:
                nearest.each(_with_company(groups, k), strangers, n_jobs, advance)

    def of_rows(self, rows: Rows, n_jobs: int | None) -> Neighbors:
        """The neighbours of some rows of the fit."""
        if self.neighbors is not None:
            return self.neighbors[rows]
        return self.of(self.nearest.points(rows), rows, n_jobs, False)

    def of(self, queries: Matrix, own: Rows | None, n_jobs: int | None, verbose: bool) -> Neighbors:
        """The rows of the fit near some points; ``own`` are rows that are not to be found again."""
        if own is None:
            if self.groups is None:
                return _found(self.nearest, self.k, queries, n_jobs, verbose)
            found = _found(self.nearest, _with_company(self.groups, self.k), queries, n_jobs, verbose)
            return _strangers(found, np.full(len(found), -1), self.groups, self.k)
        k = min(self.k, self.nearest.rows.shape[0] - 1)
        if self.groups is None:
            return without(self.nearest.find(k + 1, queries, n_jobs=n_jobs), own)
        wanted = _with_company(self.groups, k + 1)
        found = self.nearest.find(wanted, queries, n_jobs=n_jobs)
        return _strangers(without(found, own), self.groups[own], self.groups, k)


def find_neighborhood(
    models: FittedModels,
    k: int,
    space: NeighborSpace,
    search: NeighborSearch,
    n_jobs: int | None,
    verbose: bool,
    known: Neighbors | None = None,
) -> Neighborhood:
    """The neighbourhood of a fit; ``known`` are neighbours that were found before."""
    rows = models.training_rows
    filled = models.expectations.filled(rows.design, rows.Y)
    metric, axes = models.metric, None
    inputs = _located(rows.design, metric, None)
    if is_wide(inputs):
        axes = sampled_axes(inputs, MOST_AXES, SHARE, SAMPLE)
        inputs = inputs if axes is None else axes.along(inputs)
    nearest = search.prepared(space.of(inputs, models.points(filled)), k)
    groups = rows.groups if rows.in_company.any() else None
    if isinstance(nearest, ClusteredRows) and known is None:
        return Neighborhood(nearest, None, k, groups, axes, metric, models.layout)
    if known is None and groups is None:
        known = _found(nearest, k, None, n_jobs, verbose)
    elif known is None and groups is not None:
        known = _found(nearest, _with_company(groups, k), None, n_jobs, verbose)
        known = _strangers(known, groups, groups, min(k, len(groups) - 1))
    assert known is not None
    return Neighborhood(nearest, known, k, groups, axes, metric, models.layout)


def _located(design: Matrix, metric: Encoder | None, axes: LeadingAxes | None) -> Matrix:
    """Where encoded rows lie: scaled, if the encoder scales nothing, and along the axes of a wide table."""
    scaled = design if metric is None else metric.scaled(design)
    return scaled if axes is None else axes.along(scaled)


def _with_company(groups: Rows, k: int) -> int:
    """How many rows to look for, so that enough are left without those of the own group."""
    return min(k + min((int(np.bincount(groups).max()) - 1) * k, MOST_COMPANY), len(groups) - 1)


def _strangers(found: Neighbors, own: Rows, groups: Rows, k: int) -> Neighbors:
    """The first ``k`` neighbours of as many other groups; where there are fewer, others after them."""
    of = groups[found]
    by_group = np.argsort(of, axis=1, kind="stable")
    ordered = np.take_along_axis(of, by_group, axis=1)
    again = np.zeros(of.shape, dtype=bool)  # whether a nearer row of the same group was found
    np.put_along_axis(again, by_group[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    order = np.argsort(again | (of == own[:, None]), axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1)


def _found(nearest: NearestRows, k: int, queries: Matrix | None, n_jobs: int | None, verbose: bool) -> Neighbors:
    """The nearest rows, with progress."""
    n_queries = (nearest.rows if queries is None else queries).shape[0]
    with progress.stages(verbose)("finding neighbours", n_queries) as advance:
        return nearest.find(k, queries, n_jobs=n_jobs, progress=advance)

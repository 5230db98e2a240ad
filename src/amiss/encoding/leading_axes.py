"""Wide tables along their leading principal axes.

The columns of an embedding vary together: a few hundred axes hold nearly all of the variance of thousands of
columns, and rows that are near one another along these axes are near in truth.

The axes are found by subspace iteration (Halko, Martinsson and Tropp, Finding structure with randomness, 2011) on
the covariance matrix, from a fixed start. They are not exactly the principal axes, and need not be: any
orthonormal axes that hold as much of the variance do as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Matrix, is_single, row_blocks
from amiss.threads import one_blas_thread

FEWEST_COLUMNS = 256
ROWS_PER_COLUMN = 4  # with fewer, covariances say little and the table is small
MORE_AXES = 16  # are followed, so that the last of those asked for are found as well as the first
ITERATIONS = 4
NOTHING = 1e-13  # of the largest variance: rounding


def is_wide(design: Matrix) -> bool:
    """Whether rows ``(n_rows, n_columns)`` are like embeddings: single precision, many rows, many columns."""
    n_rows, n_columns = design.shape
    return is_single(design) and n_columns >= FEWEST_COLUMNS and n_rows >= ROWS_PER_COLUMN * n_columns


@dataclass(frozen=True, eq=False)
class LeadingAxes:
    """Orthonormal ``axes``, ``(n_columns, n_axes)``, through the ``centre``, ``(n_columns,)``."""

    centre: Floats
    axes: Floats

    def along(self, rows: Matrix) -> Floats:
        """Where rows stand along the axes, ``(n_rows, n_axes)``, in their precision."""
        result = np.empty((len(rows), self.axes.shape[1]), dtype=rows.dtype)
        for block in row_blocks(len(rows)):
            result[block] = (rows[block] - self.centre) @ self.axes
        return result


def column_means(design: Matrix) -> Floats:
    """Mean of each column of dense rows, ``(n_columns,)``."""
    return np.asarray(design.mean(axis=0, dtype=np.float64))


def covariance_of(design: Matrix, centre: Floats) -> Floats:
    """Σ_n (x_n - x̄) (x_n - x̄)', ``(n_columns, n_columns)``; products are in single precision, sums in double."""
    result = np.zeros((len(centre), len(centre)))
    for rows in row_blocks(len(design)):
        block = (design[rows] - centre).astype(np.float32)
        result += block.T @ block
    return result


def axes_of(covariance: Floats, most: int, share: float) -> Floats:
    """As many leading axes, ``(n_columns, n_axes)``, as hold that share of the variance, but at most ``most``."""
    start = np.random.default_rng(0).standard_normal((len(covariance), min(most + MORE_AXES, len(covariance))))
    axes = orthonormal(start)
    for _ in range(ITERATIONS):
        axes = orthonormal(orthonormal(covariance @ axes))  # twice, because squares lose half of the digits
    variance, turned = np.linalg.eigh(axes.T @ covariance @ axes)
    held = np.cumsum(variance[::-1]) / np.trace(covariance)
    count = min(most, int(np.searchsorted(held, share)) + 1, len(held))
    return np.asarray(axes @ turned[:, ::-1][:, :count])


def orthonormal(directions: Floats) -> Floats:
    """Orthonormal axes that span the directions, ``(n_columns, n_directions)``."""
    squares, turned = np.linalg.eigh(directions.T @ directions)
    kept = squares > NOTHING * squares[-1]
    return np.asarray(directions @ (turned[:, kept] / np.sqrt(squares[kept])))


def sampled_axes(design: Matrix, most: int, share: float, n_sampled: int) -> LeadingAxes:
    """Leading axes of a sample of the rows, at even steps; the same on any number of threads."""
    some = np.unique(np.linspace(0, len(design) - 1, n_sampled).astype(np.intp))
    sample = np.asarray(design[some])
    centre = column_means(sample)
    with one_blas_thread():
        return LeadingAxes(centre, axes_of(covariance_of(sample, centre), most, share))

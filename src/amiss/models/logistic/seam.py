"""The seam between the optimiser and the rows.

A *partition* owns some rows of Z, their signs (1, -1, or 0 where a row does not count for a problem)
and their curvatures. The optimiser, the regularisation path and the preconditioner own everything that
has a column of Z or a problem as its axis, and never see an array of rows. They talk to three types:

- :class:`Rows`, all rows of a fit. It hands out batches of problems, and the margins of the final fit.
- :class:`Problems`, a batch of problems on these rows. It evaluates them, and leaves the curvatures of
  the rows with the partitions.
- :class:`Curvatures`, the second derivatives of a batch of problems where it was last evaluated.

One process (:class:`amiss.models.logistic.local.LocalRows`) and a cluster are two implementations. Sums over
rows run in a fixed order, that of the blocks of :class:`amiss.models.logistic.blocks.Layout`, so both give
the same bits.

What crosses, with m columns of Z, P problems and S shards (at most eight):

======================================  =====================================  ===========================
round                                   to the partitions                      back
======================================  =====================================  ===========================
``counts``                                                                     2 P
``evaluate``                            (m + 1) P                              (m + 2) P per shard
``hessian_product``                     (m + 1) P                              (m + 1) P per shard
``take``, ``part``, ``outside_folds``   the indices of the problems
``moments``                                                                    P + 2 m P per shard
``sampled``                             total curvature of P problems          12 m rows of Z per problem
``hold_out``                            (m + 1) P
``held_out_losses``                                                            one number per output
``margins``                             (m + 1) n_outputs                      a column of rows per output
======================================  =====================================  ===========================

A Newton step is one ``evaluate`` and as many ``hessian_product`` as there are conjugate steps, for
all problems of a batch together. Margins are the result of the fit; the optimiser does not look at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from amiss.arrays import Floats
from amiss.models.logistic.blocks import Layout
from amiss.models.logistic.pool import Indices, Pool


@dataclass(frozen=True)
class Precision:
    """The type of numbers that objectives and gradients are computed in, and that of search directions."""

    values: Any = np.float64
    directions: Any = np.float64


SINGLE = Precision(np.float32, np.float32)
MIXED = Precision(np.float64, np.float32)


class Rows(Protocol):
    """All rows of a fit.

    ``centre`` is z̄, the column means of Z in double precision. Arrays ``(n_columns, …)`` are worked on in
    ``column_slices`` by the threads of ``pool``, and sums over columns run by these slices.
    """

    @property
    def layout(self) -> Layout: ...
    @property
    def centre(self) -> Floats: ...
    @property
    def column_slices(self) -> list[slice]: ...
    @property
    def pool(self) -> Pool: ...
    @property
    def n_outputs(self) -> int: ...
    @property
    def n_folds(self) -> int:
        """0 if there are no folds."""

    def problems(self, outputs: Indices | None, precision: Precision) -> Problems:
        """One problem for each of some outputs, or of all, on all rows."""

    def margins(self, coef: Floats, intercept: Floats) -> Floats:
        """z_n·b + intercept for every row and problem, in double precision."""


class Problems(Protocol):
    """A batch of problems; ``coef`` is ``(n_columns, n_problems)``, ``offset`` ``(n_problems,)``."""

    @property
    def rows(self) -> Rows: ...
    @property
    def precision(self) -> Precision: ...
    @property
    def n_problems(self) -> int: ...

    def counts(self) -> tuple[Floats, Floats]:
        """Σ_n |t_n| and Σ_n t_n."""

    def evaluate(self, coef: Floats, offset: Floats, result: Floats, some: Indices | None = None) -> Floats:
        """Σ_n |t_n| log(1 + e^{-t_n f_n}) at f_n = z_n·b + offset; and Σ_n r_n (z_n, 1) into ``result``.

        The curvatures d_n stay with the rows. With ``some``, only these problems are evaluated, and the
        curvatures of the others stay as they are.
        """

    def curvatures(self) -> Curvatures:
        """The second derivatives where the problems were last evaluated."""

    def take(self, problems: Indices) -> Problems:
        """Some of the problems, with their curvatures."""

    def part(self, problems: slice) -> Problems:
        """Neighbouring problems, to be evaluated on their own."""

    def outside_folds(self, outputs: slice) -> Problems:
        """Some of these outputs, each on the rows outside each fold: n_folds problems, fold by fold."""

    def hold_out(self, outputs: slice, coef: Floats, offset: Floats) -> None:
        """Take the margin of each row by the problem of :meth:`outside_folds` that did not see the row."""

    def held_out_losses(self) -> Floats:
        """Σ_n |t_n| log(1 + e^{-t_n f_n}) for each output, where f_n are the margins that were held out."""


class Curvatures(Protocol):
    """Σ_n d_n (z_n, 1) (z_n, 1)' for a batch of problems, where d_n are the curvatures of the rows."""

    def hessian_product(self, coef: Floats, offset: Floats, result: Floats) -> None:
        """Σ_n d_n f_n (z_n, 1) into ``result``, where f_n = z_n·b + offset."""

    def take(self, problems: Indices) -> Curvatures: ...

    def moments(self) -> tuple[Floats, Floats, Floats]:
        """Σ_n d_n ``(n_problems,)``, and Σ_n d_n z_nj and Σ_n d_n z_nj² ``(n_columns, n_problems)``."""

    def sampled(self, n_sampled: int, centre: Floats) -> tuple[Floats, Floats]:
        """Σ_n d_n, and Σ (z_n - z̄, 1) (z_n - z̄, 1)' over a sample of the rows.

        ``n_sampled`` rows are drawn in proportion to their curvature. The matrices are
        ``(n_problems, n_columns + 1, n_columns + 1)``. Z must be dense.
        """

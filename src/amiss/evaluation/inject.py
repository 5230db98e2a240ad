"""Simulated outliers: outputs of a few rows changed on purpose (the paper's section 5.1 flips them)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from amiss.arrays import Mask
from amiss.data.output_kinds import OutputColumn
from amiss.data.table import Table, output_columns
from amiss.data.validation import as_outputs
from amiss.decisions.thresholds import rounded_share
from amiss.errors import DataError
from amiss.evaluation.registry import ERROR_KINDS

Seed = int | np.random.Generator | None


@overload
def inject(
    Y: Table, ratio: float = 0.01, dimensionality: float = 0.05, random_state: Seed = None, *, kind: str = "flip"
) -> tuple[Table, Mask]: ...
@overload
def inject(
    Y: npt.NDArray[Any],
    ratio: float = 0.01,
    dimensionality: float = 0.05,
    random_state: Seed = None,
    *,
    kind: str = "flip",
) -> tuple[npt.NDArray[Any], Mask]: ...
def inject(
    Y: Any,
    ratio: float = 0.01,
    dimensionality: float = 0.05,
    random_state: Seed = None,
    *,
    kind: str = "flip",
) -> tuple[Any, Mask]:
    """Make errors in a share ``ratio`` of the rows; by default flip a share ``dimensionality`` of their outputs.

    Both shares are rounded to whole numbers, halves up, at least one. A missing output (NaN) is never
    changed, nor counted: a row with missing outputs gets as many flips as a complete one, or all it
    has, and one without any output is not chosen.

    Parameters
    ----------
    Y : an array of 0, 1 and NaN, or a table, such as the ``Y`` of what :func:`amiss.read` returns
        Only a table says of what kinds its outputs are. Outputs in which an error cannot be made stay as they are,
        and ``dimensionality`` is a share of the others.
    kind : {"flip", "omission", "commission", "replacement", "confusion", "swap", "blank", "another-row", \
"shift", "tenfold", "digits", "other", "shift-all"}
        What is done to a row. The first five and "blank" change outputs of 0 and 1: they are flipped; ones are set
        to 0; zeros to 1; one label takes the place of another; the same, always with the same two labels; all are
        0. "swap" gives a row all outputs of another row.

        The others know all kinds of outputs: an output has the value of another row; a number or count is moved by
        a tenth to a half of its range, a grade by one or two levels, a class is another one, a tag is flipped;
        numbers and counts are ten times as large, or a tenth; two of their neighbouring digits are swapped; a
        class, level or tag is another one; all numbers and counts of a row are moved by the same share of their
        ranges.

        "replacement", "confusion", "swap", "blank" and "shift-all" do not heed ``dimensionality``.

    Returns
    -------
    Y_perturbed : a copy of Y, of the same type, with the errors
    is_outlier : (n_rows,) which rows were changed

    Examples
    --------
    >>> perturbed, touched = inject(np.zeros((100, 20), dtype=int), random_state=0)
    >>> int(touched.sum()), int(perturbed.sum())
    (1, 1)
    >>> perturbed, touched = inject(np.eye(20), 0.1, kind="blank", random_state=0)
    >>> int(touched.sum()), int(perturbed.sum())
    (2, 18)
    >>> doses = as_outputs(np.linspace(1, 9, 50)[:, None])
    >>> perturbed, touched = inject(doses, 0.1, kind="tenfold", random_state=0)
    >>> int(touched.sum()), np.unique((perturbed.values / doses.values)[touched].round(1)).tolist()
    (5, [0.1, 10.0])
    """
    if isinstance(Y, Table):
        table = as_outputs(Y)
        values, touched = _injected(
            np.asarray(table.values), ratio, dimensionality, random_state, kind, output_columns(table)
        )
        return replace(table, values=values), touched
    Y = np.asarray(Y)
    columns = [OutputColumn(f"y{i}") for i in range(Y.shape[1])]
    return _injected(Y, ratio, dimensionality, random_state, kind, columns)


def _injected(
    Y: npt.NDArray[Any],
    ratio: float,
    dimensionality: float,
    random_state: Seed,
    kind: str,
    columns: Sequence[OutputColumn],
) -> tuple[npt.NDArray[Any], Mask]:
    rng, error = np.random.default_rng(random_state), ERROR_KINDS.named(kind)
    refuse_impossible(kind, columns)
    which = [i for i, column in enumerate(columns) if column.kind in error.made_in]
    n_rows, n_outputs = rounded_share(ratio, len(Y)), rounded_share(dimensionality, len(which))
    perturbed = np.array(Y)
    perturbed[:, which] = error.make(Y[:, which], n_rows, n_outputs, rng, [columns[i] for i in which])
    return perturbed, ((perturbed != Y) & (Y == Y)).any(axis=1)


def can_be_made(kind: str, columns: Sequence[OutputColumn]) -> bool:
    """Whether a kind of error can be made in any of these outputs."""
    return any(column.kind in ERROR_KINDS.named(kind).made_in for column in columns)


def refuse_impossible(kind: str, columns: Sequence[OutputColumn]) -> None:
    """Refuse a kind of error that can be made in none of these outputs."""
    if columns and not can_be_made(kind, columns):
        wanted = [each.name for each in ERROR_KINDS.named(kind).made_in]
        there = dict.fromkeys(column.kind.name for column in columns)
        raise DataError(
            f"errors of kind {kind!r} are made in outputs of kind {' or '.join(wanted)}; "
            f"here, all outputs are of kind {' or '.join(there)}"
        )

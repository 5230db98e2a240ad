"""What a detector found, as a frame of pandas, polars or pyarrow.

amiss.row_frame(detector, n=20)      # the ranked list
amiss.cell_frame(detector, n=20)     # which single values to correct
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from amiss.bridges.libraries import FrameLibrary, is_installed
from amiss.bridges.registry import LIBRARIES
from amiss.data.dataset import Dataset
from amiss.data.table import Table
from amiss.detector import MCODE
from amiss.errors import DataError, MissingDependencyError
from amiss.monitoring.batch import ScoredBatch
from amiss.output.cells import Cell, suspicious_cells
from amiss.output.list_columns import Lists, joined, list_columns
from amiss.output.list_formats import as_columns, column_type, of_one_type
from amiss.output.lists import cell_record
from amiss.output.ranking import RankedList
from amiss.scoring.rows import ScoredRows

A_CELL = Cell(row=0, output="", observed=0, suggested=1, probability=0.0, score=0.0)


def row_frame(
    detector: MCODE,
    *,
    batch: ScoredBatch | None = None,
    n: int | None = None,
    ids: Sequence[Any] | None = None,
    reasons: int = 3,
    library: str | None = None,
) -> Any:
    """The ranked list as a frame: rows from most to least unusual, each with the outputs that make its score.

    It has the columns and values that ``amiss find -o found.csv`` writes, but for the lines of a file.

    Parameters
    ----------
    detector : a fitted :class:`~amiss.MCODE`
    batch : what its :meth:`~amiss.MCODE.score_batch` gave, to list these rows; by default, the rows of the fit
    n : how many rows to list; None is all
    ids : what the rows are called, in the order in which the detector was given them
    reasons : how many outputs each row names
    library : {"pandas", "polars", "pyarrow"}
        By default, the first of these that is installed.

    Returns
    -------
    A pandas or polars DataFrame or a pyarrow Table. ``row`` counts from 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
    >>> Y[17, 1] = 1 - Y[17, 1]
    >>> found = row_frame(MCODE().fit(X, Y), n=5, reasons=1, library="polars")
    >>> found.row(0, named=True)["row"], found["output_1"][0], found["observed_1"][0]
    (18, 'y1', 1)
    """
    if n is not None:
        _check_count("n", n, 0)
    _check_count("reasons", reasons, 1)
    chosen, rows = _library(library), _rows(detector, batch)
    # One row more than none says which columns there are.
    data, first = _unnamed(rows), None if n is None else max(n, 1)
    if batch is None:
        ranked = RankedList.of_fit(detector.fitted_, data, first)
    else:
        ranked = RankedList.of_batch(detector.fitted_, batch, data, first)
    n_reasons = min(reasons, len(rows.output_names))
    columns = {name: values[:n] for name, values in joined(list_columns(ranked, n_reasons)).items()}
    return _frame(chosen, columns, _checked_ids(ids, len(rows)))


def cell_frame(
    detector: MCODE,
    *,
    batch: ScoredBatch | None = None,
    n: int | None = None,
    ids: Sequence[Any] | None = None,
    library: str | None = None,
) -> Any:
    """The single outputs of rows as a frame, most suspicious first: which value of which row to correct.

    It has the columns and values that ``amiss find --cells -o cells.csv`` writes, but for the lines of a file. The
    parameters are those of :func:`row_frame`; ``n`` counts cells.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 4))
    >>> Y = (X[:, :3] + 0.1 * rng.normal(size=(300, 3)) > 0).astype(int)
    >>> Y[17, 1] = 1 - Y[17, 1]
    >>> cells = cell_frame(MCODE().fit(X, Y), n=5, library="polars")
    >>> cells.row(0, named=True)["row"], cells["output"][0], cells["suggested"][0]
    (18, 'y1', 0)
    """
    chosen, rows = _library(library), _rows(detector, batch)
    data = _unnamed(rows)
    records = [cell_record(rank, cell, data) for rank, cell in enumerate(suspicious_cells(rows, n), start=1)]
    columns = as_columns([*records, cell_record(1, A_CELL, data)])  # one more says which columns there are
    return _frame(chosen, {name: values[:-1] for name, values in columns.items()}, _checked_ids(ids, len(rows)))


def _library(name: str | None) -> FrameLibrary:
    if name is None:
        for library in LIBRARIES.values():
            if is_installed(library):
                return library
        raise MissingDependencyError("a frame needs pandas, polars or pyarrow; pip install one of them")
    library = LIBRARIES.named(name)
    if not is_installed(library):
        raise MissingDependencyError(
            f"{library.description} needs {name}; install it with pip install {library.install}"
        )
    return library


def _rows(detector: MCODE, batch: ScoredBatch | None) -> ScoredRows:
    check_is_fitted(detector)
    if batch is None:
        return detector.fitted_.training_rows
    if batch.rows.output_names != detector.output_names_:
        raise DataError("the batch has other outputs than the detector; pass the detector that scored it")
    return batch.rows


def _unnamed(rows: ScoredRows) -> Dataset:
    """The rows as a list knows them, without ids and files."""
    return Dataset(
        X=Table(np.empty((len(rows), 0)), ()),
        Y=Table(rows.Y, rows.output_names, kinds=() if rows.forecast is None else rows.columns),
    )


def _checked_ids(ids: Sequence[Any] | None, n_rows: int) -> list[Any] | None:
    """Numbers as they are, so that the frame can be joined to another by them; anything else as texts."""
    if ids is None:
        return None
    given = ids.tolist() if isinstance(ids, np.ndarray) else list(ids)
    if len(given) != n_rows:
        raise DataError(f"there are {len(given)} ids and {n_rows} rows; give one id per row")
    if all(isinstance(each, Integral) and not isinstance(each, bool) for each in given):
        return [int(each) for each in given]
    return [None if each is None else str(each) for each in given]


def _column(name: str, values: list[Any]) -> tuple[type, list[Any]]:
    """What a column holds, and its values."""
    return (str if any(isinstance(each, str) for each in values) else column_type(name)), values


def _frame(library: FrameLibrary, listed: Lists, ids: list[Any] | None) -> Any:
    columns = {name: _column(name, values) for name, values in of_one_type(listed).items()}
    if ids is not None:
        kind = int if all(isinstance(each, int) for each in ids) else str
        named = {"id": (kind, [ids[row - 1] for row in listed["row"]])}
        columns = {"rank": columns["rank"], "row": columns["row"]} | named | columns
    return library.frame(columns)


def _check_count(name: str, number: Any, least: int) -> None:
    if not isinstance(number, Integral) or number < least:
        raise ValueError(f"{name} must be a whole number, at least {least}; got {number!r}")

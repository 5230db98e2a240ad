"""Ranked rows and suspicious cells as lists, and as frames with the columns that list files have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from amiss.data.dataset import Dataset
from amiss.data.table import Table
from amiss.fitted import FittedDetector
from amiss.monitoring.batch import ScoredBatch
from amiss.output.cells import Cell, suspicious_cells
from amiss.output.frame_making import checked_ids, frame_of_columns, library_named
from amiss.output.list_columns import Lists, joined, list_columns
from amiss.output.list_formats import as_columns
from amiss.output.lists import cell_record
from amiss.output.ranking import RankedList, RankedRow
from amiss.scoring.rows import ScoredRows

A_CELL = Cell(row=0, output="", observed=0, suggested=1, probability=0.0, score=0.0)
Item = TypeVar("Item")


class Listed(list[Item]):
    """A list of rows or cells that can become a frame."""

    def __init__(self, items: Iterable[Item], frame: Callable[[str | None], Any]) -> None:
        super().__init__(items)
        self._frame = frame

    def to_frame(self, library: str | None = None) -> Any:
        """The same as a frame of pandas, polars or pyarrow; by default, the first of these that is installed."""
        return self._frame(library)

    def __reduce__(self) -> Any:
        return list, (list(self),)  # a copy or a pickle is a plain list


def listed_rows(
    fitted: FittedDetector, batch: ScoredBatch | None, n: int | None, reasons: int
) -> Listed[RankedRow]:
    """The ``n`` most unusual rows, most unusual first."""
    ids = checked_ids(_labels(fitted, batch), _n_rows(fitted, batch))
    names = None if ids is None else tuple(map(str, ids))
    found = _ranked(fitted, batch, n, names)
    return Listed(found.ranked(reasons), partial(ranked_frame, fitted, batch, n, reasons, None))


def listed_cells(fitted: FittedDetector, batch: ScoredBatch | None, n: int | None) -> Listed[Cell]:
    """The ``n`` most suspicious cells, most suspicious first."""
    rows = fitted.training_rows if batch is None else batch.rows
    return Listed(suspicious_cells(rows, n), partial(cells_frame, fitted, batch, n, None))


def ranked_frame(
    fitted: FittedDetector,
    batch: ScoredBatch | None,
    n: int | None,
    reasons: int,
    ids: Sequence[Any] | None,
    library: str | None,
) -> Any:
    """The ranked list as a frame (:func:`amiss.row_frame`)."""
    chosen = library_named(library)
    # One row more than none says which columns there are.
    ranked = _ranked(fitted, batch, None if n is None else max(n, 1))
    n_reasons = min(reasons, len(ranked.rows.output_names))
    columns: Lists = {name: values[:n] for name, values in joined(list_columns(ranked, n_reasons)).items()}
    if not columns:
        columns = {name: [] for name in _columns_of_a_batch(n_reasons)}
    called = _labels(fitted, batch) if ids is None else ids
    return frame_of_columns(chosen, columns, checked_ids(called, _n_rows(fitted, batch)))


def cells_frame(
    fitted: FittedDetector,
    batch: ScoredBatch | None,
    n: int | None,
    ids: Sequence[Any] | None,
    library: str | None,
) -> Any:
    """Suspicious cells as a frame (:func:`amiss.cell_frame`)."""
    chosen, rows = library_named(library), fitted.training_rows if batch is None else batch.rows
    data = _unnamed(rows)
    records = [cell_record(rank, cell, data) for rank, cell in enumerate(suspicious_cells(rows, n), start=1)]
    columns = as_columns([*records, cell_record(1, A_CELL, data)])  # one more says which columns there are
    called = _labels(fitted, batch) if ids is None else ids
    listed = {name: values[:-1] for name, values in columns.items()}
    return frame_of_columns(chosen, listed, checked_ids(called, len(rows)))


def _ranked(
    fitted: FittedDetector, batch: ScoredBatch | None, n: int | None, ids: tuple[str, ...] | None = None
) -> RankedList:
    if batch is None:
        return RankedList.of_fit(fitted, _unnamed(fitted.training_rows, ids), n)
    return RankedList.of_batch(fitted, batch, _unnamed(batch.rows, ids), n)


def _columns_of_a_batch(n_reasons: int) -> list[str]:
    """What a list of new rows has, where there is none to tell."""
    parts = ("output", "observed", "probability", "contribution", "p_value")
    reasons = [f"{part}_{place}" for place in range(1, n_reasons + 1) for part in parts]
    return ["rank", "row", "score", "flagged", "p_value", "in_fit", *reasons]


def _labels(fitted: FittedDetector, batch: ScoredBatch | None) -> Sequence[Any] | None:
    """What the frame of pandas calls the rows."""
    return fitted.labels if batch is None else batch.encoded.inputs.index


def _n_rows(fitted: FittedDetector, batch: ScoredBatch | None) -> int:
    return len(fitted.training_rows if batch is None else batch)


def _unnamed(rows: ScoredRows, ids: tuple[str, ...] | None = None) -> Dataset:
    """The rows as a list knows them, without files."""
    return Dataset(
        X=Table(np.empty((len(rows), 0)), ()),
        Y=Table(rows.Y, rows.output_names, kinds=() if rows.forecast is None else rows.columns),
        ids=ids,
    )

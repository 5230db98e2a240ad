"""Tables from whatever is in memory: arrays, sparse matrices, frames, series, dictionaries, lists of labels.

This checks only the form. :mod:`amiss.data.validation` checks the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats
from amiss.data.frames import index_of, library_of
from amiss.data.records import are_records, arrow_table, is_dataset, record_columns
from amiss.data.table import Table, encode
from amiss.data.times import is_temporal, temporal_numbers
from amiss.errors import DataError, quoted, refuse_duplicates

TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}


def as_table(values: Any, prefix: str = "x") -> Table:
    """A table from any kind of matrix or frame; only its form is checked."""
    if isinstance(values, Table):
        return values
    if sparse.issparse(values):
        _refuse_complex(values.dtype)
        matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        return Table(matrix, _numbered(prefix, matrix.shape[1]), named=False)
    if are_records(values):
        return _from_columns(record_columns(values))
    frame = _frame(arrow_table(values) if is_dataset(values) else values)
    if frame is not None:
        return replace(_from_frame(frame), library=library_of(values), index=index_of(values))
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(float), np.nan)
    array = np.asarray(values)
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using "
            "array.reshape(-1, 1) for one column or array.reshape(1, -1) for one row."
        )
    _refuse_complex(array.dtype)
    names = _numbered(prefix, array.shape[1])
    if array.dtype.kind in "fiub":
        return Table(np.ascontiguousarray(array, dtype=_precision(array.dtype)), names, named=False)
    cells = [(name, list(array[:, i])) for i, name in enumerate(names)]
    return replace(_from_columns(cells), named=False)


def _precision(dtype: np.dtype[Any]) -> npt.DTypeLike:
    """Single precision stays single; everything else becomes double."""
    return np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64


def _refuse_complex(dtype: npt.DTypeLike) -> None:
    if np.issubdtype(dtype, np.complexfloating):
        raise DataError("Complex data not supported; pass real numbers")


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{i}" for i in range(count))


def as_column(Y: Any) -> Any:
    """A matrix with one column, if Y is a single output given as a vector or a series; else Y itself."""
    if sparse.issparse(Y) or isinstance(Y, (Table, np.ndarray, list, tuple)):
        plain = isinstance(Y, (list, tuple)) and len(Y) and not isinstance(Y[0], (str, Mapping))
        flat = plain and not np.ndim(Y[0])
        return np.asarray(Y)[:, None] if flat or getattr(Y, "ndim", 2) == 1 else Y
    import narwhals as nw

    series = nw.from_native(Y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return Y
    named = series.name not in (None, "")
    cells = [(str(series.name) if named else "y0", _cells(series))]
    return replace(_from_columns(cells), named=named, index=index_of(Y))


def _frame(values: Any) -> Any:
    """A narwhals view of a pandas, polars or pyarrow frame; None for anything else."""
    if isinstance(values, (np.ndarray, list, tuple)):
        return None
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    if type(values).__module__.startswith("pyarrow") and type(values).__name__ == "RecordBatch":
        import pyarrow as pa

        values = pa.Table.from_batches([values])
    try:
        frame = nw.from_native(values, eager_only=True, pass_through=True)
    except DuplicateError:
        raise DataError("two columns of the frame have the same name; rename one of them") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _from_frame(frame: Any) -> Table:
    refuse_duplicates([str(name) for name in frame.columns])
    return _from_columns([(str(series.name), _cells(series)) for series in frame.iter_columns()])


def _cells(series: Any) -> Any:
    """The cells of a series: an array if they are numbers, otherwise a list."""
    import narwhals as nw

    if series.dtype in (nw.Categorical, nw.Enum):
        return [None if _is_missing(cell) else str(cell) for cell in series.to_list()]
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        try:
            return series.cast(nw.Float32 if series.dtype == nw.Float32 else nw.Float64).to_numpy()
        except Exception:  # pyarrow refuses integers beyond 2**53, with a message that quotes them
            return np.array([np.nan if _is_missing(cell) else float(cell) for cell in series.to_list()])
    return temporal_numbers(series.to_list()) if series.dtype.is_temporal() else series.to_list()


def _is_missing(cell: Any) -> bool:
    """None, NaN, or pandas' NA or NaT."""
    return (
        cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")
    )


def _from_columns(columns: Iterable[tuple[str, Any]]) -> Table:
    """A table from columns that are arrays of numbers, or lists of numbers, texts and missing cells."""
    names, numbers, levels = [], [], {}
    for position, (name, cells) in enumerate(columns):
        names.append(name)
        if isinstance(cells, np.ndarray):
            numbers.append(np.asarray(cells, dtype=_precision(cells.dtype)))
            continue
        codes, found = _from_cells(cells, name)
        numbers.append(codes)
        if found is not None:
            levels[position] = found
    values = np.column_stack(numbers) if numbers else np.empty((0, 0))
    return Table(np.ascontiguousarray(values), tuple(names), levels)


def _from_cells(cells: list[Any], name: str) -> tuple[Floats, tuple[str, ...] | None]:
    """Numbers if all cells that are not missing are numbers, otherwise level codes and the levels."""
    missing = [_is_missing(cell) for cell in cells]
    present = [cell for cell, gone in zip(cells, missing, strict=True) if not gone]
    if present and all(map(is_temporal, present)):
        return temporal_numbers([None if gone else cell for cell, gone in zip(cells, missing, strict=True)]), None
    for cell in present:
        if not isinstance(cell, (str, int, float, bool, np.number, np.bool_, Decimal)):
            raise TypeError(
                f"argument must be a string or a number: column {quoted(name)} holds {type(cell).__name__}"
            )
    if not any(isinstance(cell, str) for cell in present):
        return np.array([np.nan if gone else float(c) for c, gone in zip(cells, missing, strict=True)]), None
    return encode([None if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)])


def are_label_lists(Y: Any) -> bool:
    """Whether Y holds one list of labels per row, and not a matrix of 0 and 1 written as lists."""
    if not isinstance(Y, (list, tuple)) or not Y or not all(isinstance(row, (list, tuple, set)) for row in Y):
        return False
    if any(isinstance(row, set) for row in Y) or len({len(row) for row in Y}) > 1:
        return True
    return any(isinstance(label, str) and label.lower() not in TRUTH for row in Y for label in row)


def from_label_lists(rows: Sequence[Iterable[Any]], names: Sequence[str] | None) -> Table:
    """One binary column per label: those of ``names``, or by default all labels that occur, sorted."""
    labels = tuple(names) if names is not None else tuple(sorted({str(x) for row in rows for x in row}))
    position = {label: column for column, label in enumerate(labels)}
    values = np.zeros((len(rows), len(labels)))
    for number, row in enumerate(rows):
        for label in row:
            if str(label) not in position:
                raise DataError(f"row {number} has a label that is not among the outputs of the fit")
            values[number, position[str(label)]] = 1.0
    return Table(values, labels)

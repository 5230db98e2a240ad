"""Tables of inputs and outputs, and the one place where bad data is refused.

Whatever a person has (arrays, frames, sparse matrices, lists of labels, files) becomes a
:class:`Table` here: one matrix of numbers with column names, in which a categorical column
holds the numbers of its levels and a missing value is NaN. Everything behind this module
sees tables only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.errors import DataError, listed, shown

Floats = npt.NDArray[np.float64]
Matrix: TypeAlias = Any  # a dense array of float64, or a sparse.csr_array of them
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

TRUTH = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "1": 1.0, "0": 0.0}


@dataclass(frozen=True)
class Origin:
    """Where rows come from, so that a message can say where to look.

    ``number_of_row`` is the line of a text file, or counts rows from 1 where there are no lines.
    """

    files: tuple[str, ...]
    file_of_row: Rows
    number_of_row: Rows
    units: tuple[str, ...]  # for each file "line" or "row"

    def where(self, row: int) -> str:
        file = self.file_of_row[row]
        return f"{self.files[file]}, {self.units[file]} {self.number_of_row[row]}"

    def take(self, rows: Rows) -> Origin:
        return Origin(self.files, self.file_of_row[rows], self.number_of_row[rows], self.units)


@dataclass(frozen=True)
class Table:
    """A matrix with named columns; ``levels`` names the categories of categorical columns.

    ``named`` is False where the columns only have numbers (x0, x1, …) because the user gave none.

    >>> table = Table(np.array([[1.0, 0.0], [2.0, 1.0]]), ("age", "sex"), {1: ("f", "m")})
    >>> table.shape
    (2, 2)
    >>> np.asarray(table)
    array([[1.0, 'f'],
           [2.0, 'm']], dtype=object)
    """

    values: Matrix
    names: tuple[str, ...]
    levels: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    origin: Origin | None = None
    named: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.values.shape[0]), int(self.values.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.values) else "dense"
        return f"Table({self.shape[0]} rows x {self.shape[1]} columns, {kind})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.values.toarray() if sparse.issparse(self.values) else self.values
        if not self.levels:
            return np.array(values, dtype=dtype)
        decoded = values.astype(object)
        for column, names in self.levels.items():
            decoded[:, column] = decode(values[:, column], names)
        return np.array(decoded, dtype=dtype)

    def __getitem__(self, rows: Any) -> Table:
        """Some rows: a slice, indices or a mask."""
        return self.take(np.atleast_1d(np.arange(len(self))[rows]))

    def where(self, row: int) -> str:
        return f"row {row}" if self.origin is None else self.origin.where(row)

    @property
    def files(self) -> str:
        """The files the rows come from, as the beginning of a message."""
        return "" if self.origin is None else ", ".join(self.origin.files) + ": "

    def take(self, rows: Rows) -> Table:
        origin = None if self.origin is None else self.origin.take(rows)
        return replace(self, values=self.values[rows], origin=origin)

    def select(self, columns: Sequence[int]) -> Table:
        levels = {new: self.levels[old] for new, old in enumerate(columns) if old in self.levels}
        chosen = np.asarray(columns, dtype=np.intp)
        names = tuple(self.names[column] for column in columns)
        return replace(self, values=self.values[:, chosen], names=names, levels=levels)


@dataclass(frozen=True)
class Dataset:
    """What a reader gives: inputs, outputs and, where the file has them, row ids."""

    X: Table
    Y: Table
    ids: tuple[str, ...] | None = None

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.X.names

    @property
    def output_names(self) -> tuple[str, ...]:
        return self.Y.names

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        return f"Dataset({len(self)} rows, {self.X.shape[1]} inputs, {self.Y.shape[1]} outputs)"


def decode(codes: Floats, names: Sequence[str]) -> list[str | float]:
    """Level numbers as level names; a missing value stays NaN."""
    return [np.nan if np.isnan(code) else names[int(code)] for code in codes]


def encode(cells: Sequence[str | None]) -> tuple[Floats, tuple[str, ...]]:
    """Text cells as numbers of their sorted levels; ``None`` is missing.

    >>> encode(["b", None, "a"])
    (array([ 1., nan,  0.]), ('a', 'b'))
    """
    levels = tuple(sorted({cell for cell in cells if cell is not None}))
    number = {level: float(code) for code, level in enumerate(levels)}
    return np.array([np.nan if cell is None else number[cell] for cell in cells], dtype=float), levels


def as_inputs(X: Any) -> Table:
    """Any supported kind of input as a table; infinite values are refused by name."""
    table = as_table(X, prefix="x")
    refuse_duplicates(table.names)
    if table.shape[0] == 0:
        raise DataError(f"X has 0 sample(s) (shape={table.shape}) while a minimum of 1 is required.")
    if table.shape[1] == 0:
        raise DataError(f"X has 0 feature(s) (shape={table.shape}) while a minimum of 1 is required.")
    infinite = _first(table.values, np.isinf)
    if infinite is not None:
        row, column = infinite
        raise DataError(
            f"{table.where(row)}, column {shown(table.names[column])}: the value is infinite; "
            "leave the cell empty or put a number there"
        )
    return table


def as_outputs(Y: Any, names: Sequence[str] | None = None, label_lists: bool = False) -> Table:
    """Outputs as a dense table of 0, 1 and NaN (missing).

    ``names`` fixes the columns of lists of labels, which otherwise are all labels met, sorted.
    ``label_lists`` says that Y is such lists, where its form alone would leave it open.

    >>> as_outputs([["cat", "dog"], [], ["dog"]]).values
    array([[1., 1.],
           [0., 0.],
           [0., 1.]])
    """
    if Y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    as_lists = label_lists or are_label_lists(Y)
    table = _binarized(Y, names) if as_lists else as_table(_column(Y), prefix="y")
    refuse_duplicates(table.names)
    if table.shape[1] == 0:
        raise DataError("there is no output column; name at least one")
    values = table.values.toarray() if sparse.issparse(table.values) else np.array(table.values)
    for column, levels in table.levels.items():
        values[:, column] = _truth_values(values[:, column], levels)
    bad = _first(values, lambda cells: ~np.isnan(cells) & (cells != 0) & (cells != 1))
    if bad is not None:
        row, column = bad
        raise DataError(
            f"{table.where(row)}, column {shown(table.names[column])}: "
            "an output must be 0 or 1 (or true/false, yes/no), or empty if it is missing"
        )
    return replace(table, values=values, levels={})


def refuse_duplicates(names: Sequence[str], where: str = "") -> None:
    """Two columns of one name cannot be told apart."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{where}duplicate column name {listed(twice)}; rename one of them")


def _truth_values(codes: Floats, levels: tuple[str, ...]) -> Floats:
    """0 and 1 for the texts that mean them; anything else becomes a value that is refused."""
    meaning = np.array([TRUTH.get(level.strip().lower(), -1.0) for level in levels] + [np.nan])
    return meaning[np.where(np.isnan(codes), len(levels), codes).astype(np.intp)]


def _first(values: Matrix, test: Any) -> tuple[int, int] | None:
    """Row and column of the first value that passes ``test``, if any."""
    if sparse.issparse(values):
        hits = np.flatnonzero(test(values.data))
        if not len(hits):
            return None
        row = int(np.searchsorted(values.indptr, hits[0], side="right")) - 1
        return row, int(values.indices[hits[0]])
    found = test(values)
    if not found.any():
        return None
    return divmod(int(np.argmax(found)), found.shape[1])


def as_table(values: Any, prefix: str = "x") -> Table:
    """Any kind of matrix or frame as a table; nothing but its form is checked."""
    if isinstance(values, Table):
        return values
    if sparse.issparse(values):
        _refuse_complex(values.dtype)
        matrix = sparse.csr_array(values, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        return Table(matrix, _numbered(prefix, matrix.shape[1]), named=False)
    frame = _frame(values)
    if frame is not None:
        return _from_frame(frame)
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
        return Table(np.ascontiguousarray(array, dtype=np.float64), names, named=False)
    cells = [(name, list(array[:, i])) for i, name in enumerate(names)]
    return replace(_from_columns(cells), named=False)


def _refuse_complex(dtype: npt.DTypeLike) -> None:
    if np.issubdtype(dtype, np.complexfloating):
        raise DataError("Complex data not supported; pass real numbers")


def _numbered(prefix: str, count: int) -> tuple[str, ...]:
    return tuple(f"{prefix}{i}" for i in range(count))


def _column(Y: Any) -> Any:
    """A single output, given as a plain vector or a series, as a matrix of one column."""
    if sparse.issparse(Y) or isinstance(Y, (Table, np.ndarray, list, tuple)):
        flat = isinstance(Y, (list, tuple)) and len(Y) and not np.ndim(Y[0]) and not isinstance(Y[0], str)
        return np.asarray(Y)[:, None] if flat or getattr(Y, "ndim", 2) == 1 else Y
    import narwhals as nw

    series = nw.from_native(Y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return Y
    named = series.name not in (None, "")
    return replace(_from_columns([(str(series.name) if named else "y0", _cells(series))]), named=named)


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
    """The numbers of a series as an array, anything else as a list of cells."""
    import narwhals as nw

    if series.dtype in (nw.Categorical, nw.Enum):
        return [None if _is_missing(cell) else str(cell) for cell in series.to_list()]
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return series.cast(nw.Float64).to_numpy()
    if series.dtype.is_temporal():
        raise DataError(
            f"column {shown(series.name)} holds dates or times; turn it into numbers "
            "(an age, a weekday) or drop it"
        )
    return series.to_list()


def _is_missing(cell: Any) -> bool:
    """None, NaN, and what pandas calls NA or NaT."""
    return (
        cell is None or (isinstance(cell, float) and cell != cell) or type(cell).__name__ in ("NAType", "NaTType")
    )


def _from_columns(columns: Iterable[tuple[str, Any]]) -> Table:
    """Columns of numbers, or lists of cells that are numbers, texts or missing."""
    names, numbers, levels = [], [], {}
    for position, (name, cells) in enumerate(columns):
        names.append(name)
        if isinstance(cells, np.ndarray):
            numbers.append(np.asarray(cells, dtype=np.float64))
            continue
        codes, found = _from_cells(cells, name)
        numbers.append(codes)
        if found is not None:
            levels[position] = found
    values = np.column_stack(numbers) if numbers else np.empty((0, 0))
    return Table(np.ascontiguousarray(values), tuple(names), levels)


def _from_cells(cells: list[Any], name: str) -> tuple[Floats, tuple[str, ...] | None]:
    """Numbers if all present cells are numbers, else level codes and the levels."""
    missing = [_is_missing(cell) for cell in cells]
    present = [cell for cell, gone in zip(cells, missing, strict=True) if not gone]
    for cell in present:
        if not isinstance(cell, (str, int, float, bool, np.number, np.bool_)):
            raise TypeError(
                f"argument must be a string or a number: column {shown(name)} holds {type(cell).__name__}"
            )
    if not any(isinstance(cell, str) for cell in present):
        return np.array([np.nan if gone else float(c) for c, gone in zip(cells, missing, strict=True)]), None
    return encode([None if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)])


def are_label_lists(Y: Any) -> bool:
    """Lists of labels, as opposed to a matrix of 0 and 1 written as lists."""
    if not isinstance(Y, (list, tuple)) or not Y or not all(isinstance(row, (list, tuple, set)) for row in Y):
        return False
    if any(isinstance(row, set) for row in Y) or len({len(row) for row in Y}) > 1:
        return True
    return any(isinstance(label, str) and label.lower() not in TRUTH for row in Y for label in row)


def _binarized(rows: Sequence[Iterable[Any]], names: Sequence[str] | None) -> Table:
    labels = tuple(names) if names is not None else tuple(sorted({str(x) for row in rows for x in row}))
    position = {label: column for column, label in enumerate(labels)}
    values = np.zeros((len(rows), len(labels)))
    for number, row in enumerate(rows):
        for label in row:
            if str(label) not in position:
                raise DataError(f"row {number} has a label that is not among the outputs of the fit")
            values[number, position[str(label)]] = 1.0
    return Table(values, labels)


def differences(names: Sequence[str], expected: Sequence[str]) -> tuple[list[str], list[str]]:
    """Which expected names are missing, and which names were not expected."""
    have, want = set(names), set(expected)
    return [name for name in expected if name not in have], [name for name in names if name not in want]


def matched(table: Table, names: tuple[str, ...], prefix: str, named: bool = True) -> Table:
    """``table`` with its columns in the order of ``names``.

    Columns are matched by name; where ``table`` or the fit had none, by position.
    """
    if table.names == names:
        return table
    kind = {"x": "input", "y": "output"}[prefix]
    if not (table.named and named):
        if len(table.names) != len(names):
            raise DataError(
                f"X has {len(table.names)} features, but MCODE is expecting {len(names)} features as input"
                if prefix == "x"
                else f"Y has {len(table.names)} outputs, but the fit had {len(names)}"
            )
        return replace(table, names=names)
    missing, extra = differences(table.names, names)
    if missing or extra:
        found = [f"missing {listed(missing)}"] * bool(missing) + [f"unknown {listed(extra)}"] * bool(extra)
        raise DataError(f"the {kind} columns are not those of the fit: {'; '.join(found)}")
    position = {name: column for column, name in enumerate(table.names)}
    return table.select([position[name] for name in names])

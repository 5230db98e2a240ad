"""The table: one matrix of numbers with column names, the form in which all data leaves the readers.

A categorical column holds the codes of its levels, and a missing value is NaN.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from amiss.arrays import Floats, Matrix, Rows
from amiss.data.output_kinds import MISSING, NewLevels, OutputColumn
from amiss.threads import in_order

Role = Literal["inputs", "outputs"]

COLUMNS_SORTED = 8  # at a time: they share a line of the cache


@dataclass(frozen=True)
class Origin:
    """Where rows come from, so that a message can say where to look.

    ``number_of_row`` is the line in a text file, or the row in a sheet; in other files, rows are counted from 1.
    """

    files: tuple[str, ...]
    file_of_row: Rows
    number_of_row: Rows
    units: tuple[str, ...]  # "line", "sheet row" or "row" for each file

    def where(self, row: int) -> str:
        file = self.file_of_row[row]
        return f"{self.files[file]}, {self.units[file].removeprefix('sheet ')} {self.number_of_row[row]}"

    @property
    def has_lines(self) -> bool:
        """Whether some rows have a place in their file that a person can go to."""
        return any(unit != "row" for unit in self.units)

    def line(self, row: int) -> int | None:
        """The line of a row, or its row in a sheet; None if its file has neither."""
        return None if self.units[self.file_of_row[row]] == "row" else int(self.number_of_row[row])

    def take(self, rows: Rows) -> Origin:
        return Origin(self.files, self.file_of_row[rows], self.number_of_row[rows], self.units)


def _with_column(matrix: Matrix, column: int, cells: Floats) -> Matrix:
    """A copy of ``matrix`` with one column replaced; a sparse one stays sparse."""
    if sparse.issparse(matrix):
        parts = [matrix[:, :column], sparse.csr_array(cells[:, None]), matrix[:, column + 1 :]]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    copy = matrix.copy()
    copy[:, column] = cells
    return copy


@dataclass(frozen=True)
class Table:
    """A matrix with named columns; ``levels`` names the categories of categorical columns.

    ``named`` is False if the user gave no names and the columns are only numbered (x0, x1, …). ``checked`` are
    values that were found to be valid inputs or outputs (:func:`checked_as`). ``library`` made the frame, if any.
    ``kinds`` are of outputs that were checked: one per column, or none if all of them are 0 or 1. ``index`` is
    what a frame of pandas calls its rows. ``new_levels`` are those of outputs that the fit had not.

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
    checked: tuple[Role, Matrix] | None = field(default=None, repr=False, compare=False)
    library: str | None = field(default=None, compare=False)
    kinds: tuple[OutputColumn, ...] = field(default=(), repr=False)
    index: tuple[Any, ...] | None = field(default=None, repr=False, compare=False)
    new_levels: NewLevels = field(default_factory=dict, repr=False, compare=False)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.values.shape[0]), int(self.values.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        kind = "sparse" if sparse.issparse(self.values) else "dense"
        return f"Table({self.shape[0]} rows x {self.shape[1]} columns, {kind})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """A new array, in which categories are texts; there is none that shares the table's memory."""
        if copy is False:
            raise ValueError("a table only becomes an array by copying it")
        values = self.values.toarray() if sparse.issparse(self.values) else self.values
        if not self.levels:
            return np.array(values, dtype=dtype)
        decoded = values.astype(object)
        for column, names in self.levels.items():
            decoded[:, column] = _decoded(values[:, column], names)
        return np.array(decoded, dtype=dtype)

    def __getitem__(self, rows: Any) -> Table:
        """Some rows: a slice, indices or a mask."""
        return self.take(np.atleast_1d(np.arange(len(self))[rows]))

    def where(self, row: int) -> str:
        """Where a message tells the user to look for a row."""
        return f"row {row}" if self.origin is None else self.origin.where(row)

    @property
    def files(self) -> str:
        """The files the rows come from, to begin a message with."""
        return "" if self.origin is None else ", ".join(self.origin.files) + ": "

    def column(self, column: int) -> Floats:
        """The cells of one column, as a dense array."""
        if sparse.issparse(self.values):
            return np.asarray(self.values[:, [column]].toarray()[:, 0])
        return np.asarray(self.values[:, column])

    def texts(self, row: int, columns: Iterable[int] | None = None) -> dict[str, str]:
        """The cells of one row in some columns (by default all), formatted for a person, by column name."""
        cells = self.values[[row]].toarray()[0] if sparse.issparse(self.values) else self.values[row]
        selected = range(len(self.names)) if columns is None else columns
        return {self.names[column]: self.text(column, float(cells[column])) for column in selected}

    def text(self, column: int, value: float) -> str:
        """A value of a column, formatted for a person."""
        if np.isnan(value):
            return MISSING
        return self.levels[column][int(value)] if column in self.levels else f"{value:.6g}"

    def with_levels(self, levels: Mapping[int, tuple[str, ...]]) -> Table:
        """The same cells, coded by other ``levels``; a cell whose level is not among them becomes missing."""
        values = self.values
        for column, names in levels.items():
            mine = self.levels.get(column, names)
            if mine == names:
                continue
            number = {level: float(code) for code, level in enumerate(names)}
            translation = np.array([number.get(level, np.nan) for level in mine] + [np.nan])
            codes = self.column(column)
            known = np.where(np.isnan(codes), len(mine), codes).astype(np.intp)
            values = _with_column(values, column, translation[known])
        return self._with(values, levels=dict(levels))

    def take(self, rows: Rows) -> Table:
        origin = None if self.origin is None else self.origin.take(rows)
        chosen = [] if self.index is None else np.arange(len(self))[rows].tolist()
        index = None if self.index is None else tuple(self.index[row] for row in chosen)
        new = {}
        if self.new_levels:
            numbers = np.arange(len(self))[rows].tolist()
            new = {
                i: {n: of[row] for n, row in enumerate(numbers) if row in of} for i, of in self.new_levels.items()
            }
        return self._with(self.values[rows], origin=origin, index=index, new_levels=new)

    def select(self, columns: Sequence[int]) -> Table:
        """Some columns, by position."""
        levels = {new: self.levels[old] for new, old in enumerate(columns) if old in self.levels}
        chosen = np.asarray(columns, dtype=np.intp)
        names = tuple(self.names[column] for column in columns)
        kinds = tuple(self.kinds[column] for column in columns) if self.kinds else ()
        new_levels = {new: self.new_levels[old] for new, old in enumerate(columns) if old in self.new_levels}
        changes = {"names": names, "levels": levels, "kinds": kinds, "new_levels": new_levels}
        neighbors = slice(columns[0], columns[-1] + 1) if len(columns) else slice(0, 0)
        if not sparse.issparse(self.values) and list(columns) == list(range(self.shape[1]))[neighbors]:
            return self._with(self.values[:, neighbors], **changes)  # without a copy
        return self._with(self.values[:, chosen], **changes)

    def _with(self, values: Matrix, **changes: Any) -> Table:
        """Cells of this table in another arrangement, which are as valid as these."""
        table = replace(self, values=values, **changes)
        return checked_as(self.checked[0], table) if self.checked and is_checked(self.checked[0], self) else table

    def select_named(self, names: Sequence[str]) -> Table:
        """The columns with these names, in this order; all of them must exist."""
        if tuple(names) == self.names:
            return self
        position = {name: column for column, name in enumerate(self.names)}
        return self.select([position[name] for name in names])


def column_texts(table: Table, column: int) -> tuple[str, ...]:
    """All cells of a column as texts; one that is missing is empty.

    >>> column_texts(Table(np.array([[1.0], [np.nan], [0.1]]), ("age",)), 0)
    ('1', '', '0.1')
    """
    levels = table.levels.get(column)
    return tuple(
        "" if cell != cell else repr(cell).removesuffix(".0") if levels is None else levels[int(cell)]
        for cell in table.column(column).tolist()
    )


def output_columns(table: Table) -> tuple[OutputColumn, ...]:
    """The kind of each column of outputs that were checked."""
    return table.kinds or tuple(OutputColumn(name) for name in table.names)


def copied_rows(table: Table, rows: Rows) -> Table:
    """Some rows in memory of their own, which may be written to."""
    origin = None if table.origin is None else table.origin.take(rows)
    return replace(table, values=table.values[rows], origin=origin, checked=None, index=None)


def sort_rows(table: Table, rows: Rows, n_jobs: int | None) -> Table:
    """All rows in another order, in the memory that holds them now: the table itself is lost.

    Memory that is not ours, such as a buffer of pyarrow's, is left as it is, and the rows are copied.
    """
    values = table.values.view()
    try:
        values.flags.writeable = True
    except ValueError:
        return copied_rows(table, rows)

    def work(first: int) -> None:
        some = values[:, first : first + COLUMNS_SORTED]
        some[...] = some[rows]

    for _ in in_order(work, range(0, values.shape[1], COLUMNS_SORTED), n_jobs):
        pass
    origin = None if table.origin is None else table.origin.take(rows)
    return replace(table, values=values, origin=origin, checked=None)


def checked_as(role: Role, table: Table) -> Table:
    """The same table, with a note that its values are valid, so that nobody looks at them again.

    The note holds for these very values, and they can no longer be written to. (Nothing keeps the values of a
    sparse matrix from being changed, so there is no note on those.)
    """
    if sparse.issparse(table.values):
        return table
    values = table.values.view()
    values.flags.writeable = False
    return replace(table, values=values, checked=(role, values))


def is_checked(role: Role, table: Table) -> bool:
    """Whether the values were found to be valid inputs or outputs."""
    return table.checked is not None and table.checked[0] == role and table.checked[1] is table.values


def _decoded(codes: Floats, names: Sequence[str]) -> list[str | float]:
    """The names of level codes; a missing value stays NaN."""
    return [np.nan if np.isnan(code) else names[int(code)] for code in codes]


def encode(cells: Sequence[str | None]) -> tuple[Floats, tuple[str, ...]]:
    """Codes of text cells, and their levels in sorted order; ``None`` is missing.

    >>> encode(["b", None, "a"])
    (array([ 1., nan,  0.]), ('a', 'b'))
    """
    levels = tuple(sorted({cell for cell in cells if cell is not None}))
    number = {level: float(code) for code, level in enumerate(levels)}
    return np.array([np.nan if cell is None else number[cell] for cell in cells], dtype=float), levels

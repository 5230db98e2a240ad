"""CSV and TSV files read by pyarrow, where it reads what our own reader would.

Our own reader (:mod:`amiss.readers.delimited`) says what is wrong with a file, and where. This one gives up,
without a word, as soon as there is anything that it might read otherwise: quotes, blank or very long lines, lone
carriage returns, bytes that are no UTF-8, rows of another width, numbers that pyarrow does not know, and columns
in which numbers and texts are mixed. Then our own reader starts from the beginning.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Rows
from amiss.data.table import Table
from amiss.errors import DataError
from amiss.readers.cells import MISSING, is_number
from amiss.readers.columns.numbers import is_grouped
from amiss.readers.header import check_header, likeliest_delimiter
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import NOT_TEXT, Source
from amiss.threads import in_order

WORTH_IT = 1 << 20  # bytes of a file; importing pyarrow takes longer than reading less
BLOCK = 4 << 20  # bytes that are read at a time
LONGEST_CELL = 100_000  # bytes of a line: the csv module refuses cells that are not much longer
POINTED = ";\t"  # in such files, a point may stand between thousands
MARK = b"\xef\xbb\xbf"


class _GiveUp(Exception):
    """Our own reader has to read the file."""


def read_fast(source: Source, selection: Selection, delimiter: str | None) -> Part | None:
    """The selected columns of one file, or None if our own reader has to read it."""
    path = Path(source.path)
    if source.path == "-" or not path.is_file() or path.stat().st_size < WORTH_IT or find_spec("pyarrow") is None:
        return None
    try:
        with source.open() as stream:
            return _read(stream, source, selection, delimiter)
    except (_GiveUp, EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError):
        return None


def _read(stream: IO[bytes], source: Source, selection: Selection, delimiter: str | None) -> Part:
    line = stream.readline(BLOCK).removeprefix(MARK)
    if (
        line.startswith(tuple(NOT_TEXT))
        or b'"' in line
        or b"\0" in line
        or len(line) > LONGEST_CELL
        or not line.endswith(b"\n")
    ):
        raise _GiveUp
    text = line.decode().removesuffix("\n").removesuffix("\r")
    if not text.strip() or "\r" in text:
        raise _GiveUp
    delimiter = delimiter or likeliest_delimiter(text)
    header = [name.strip() for name in text.split(delimiter)]
    if len(header) < 2:
        raise _GiveUp
    try:
        check_header(header, source, 1)
        roles = selection.roles(header, source, line=1)
    except DataError:  # or there is a title above the header, a column without a name, or a sep= line
        raise _GiveUp from None
    columns = _Columns(
        header, roles, delimiter, {header[i] for i in roles.kept if selection.is_categorical(header[i])}
    )
    import pyarrow

    blocks = _blocks(stream)
    first = next(blocks, None)
    if first is None:
        raise _GiveUp
    columns.decide(_checked(first))
    if not isinstance(stream, gzip.GzipFile):
        columns.numbers.expected = int(Path(source.path).stat().st_size / len(first) * first.count(b"\n") * 1.02)
    for parsed in in_order(columns.parsed, chain([first], blocks), -1):
        columns.add(parsed)
    pyarrow.default_memory_pool().release_unused()
    return columns.part(source)


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    """Blocks of whole lines."""
    rest = b""
    while piece := stream.read(BLOCK):
        end = piece.rfind(b"\n") + 1
        if not end:
            raise _GiveUp  # a line longer than any that this reader takes
        yield rest + piece[:end]
        rest = piece[end:]
    if rest:
        yield rest + b"\n"


def _checked(block: bytes) -> bytes:
    """A block that no reader could read differently."""
    if b'"' in block or b"\0" in block or block.count(b"\r") != block.count(b"\r\n"):
        raise _GiveUp
    if not block.isascii():
        block.decode()
        if block.startswith(MARK):  # pyarrow would skip it
            raise _GiveUp
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n"))
    lengths = np.diff(ends, prepend=-1)
    if lengths.max() > LONGEST_CELL or lengths.min() == 1 or b"\n\r\n" in block or block.startswith(b"\r\n"):
        raise _GiveUp
    return block


@dataclass
class _Columns:
    """The columns that are read, as they grow."""

    header: list[str]
    roles: Roles
    delimiter: str
    categorical: set[str]
    types: dict[str, Any] = field(default_factory=dict)
    short: list[str] = field(default_factory=list)
    numbers: GrowingRows = field(default_factory=lambda: GrowingRows())
    words: dict[str, dict[str, int]] = field(default_factory=dict)
    aside: dict[int, list[str]] = field(default_factory=dict)

    def decide(self, block: bytes) -> None:
        """The first block says which columns hold texts."""
        self.types = self._told_types(block)

    def parsed(self, block: bytes) -> Any:
        """One block as a table of pyarrow's."""
        return self._parsed(_checked(block), self.types)

    def add(self, table: Any) -> None:
        """The rows of the next block."""
        import pyarrow as pa

        values = self.numbers.more(table.num_rows, len(self.roles.kept))
        for place, position in enumerate(self.roles.kept):
            column, name = table.column(position), self.header[position]
            if pa.types.is_floating(column.type):
                values[:, place] = _floats(column)
            else:
                values[:, place] = self._codes(name, column)
        for aside in {self.roles.id, self.roles.pictures} - {None}:
            assert aside is not None
            self.aside.setdefault(aside, []).extend(table.column(aside).to_pylist())

    def _parsed(self, block: bytes, types: dict[str, Any] | None) -> Any:
        import pyarrow as pa
        from pyarrow import csv

        places = [str(position) for position in range(len(self.header))]
        try:
            return csv.read_csv(
                pa.py_buffer(block),
                read_options=csv.ReadOptions(column_names=places, use_threads=False, block_size=BLOCK * 2),
                parse_options=csv.ParseOptions(
                    delimiter=self.delimiter, quote_char=False, ignore_empty_lines=False
                ),
                convert_options=csv.ConvertOptions(
                    column_types=types,
                    null_values=sorted(MISSING),
                    strings_can_be_null=False,
                    check_utf8=False,  # it was
                ),
            )
        except pa.ArrowException:
            raise _GiveUp from None

    def _told_types(self, block: bytes) -> dict[str, Any]:
        """Numbers where pyarrow sees numbers or nothing, else texts."""
        import pyarrow as pa

        block = block[: block.find(b"\n", min(len(block) - 1, WORTH_IT)) + 1]
        seen = self._parsed(block, None)
        if self.delimiter in POINTED:
            self.short = self._short(block, seen.schema)
        types = {}
        for position, name in enumerate(self.header):
            kind = seen.column(position).type
            is_numeric = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
            is_number_here = is_numeric and position in self.roles.kept and name not in self.categorical
            types[str(position)] = pa.float64() if is_number_here else pa.string()
        return types

    def _short(self, block: bytes, schema: Any) -> list[str]:
        """Columns of numbers of up to three digits, among which 1.345 may be a whole number."""
        import pyarrow as pa

        numeric = [each.name for each in schema if not pa.types.is_string(each.type)]
        written = self._parsed(block, {each.name: pa.string() for each in schema})
        cells = {name: set(written.column(name).unique().to_pylist()) - MISSING - {None} for name in numeric}
        return [name for name in numeric if all(map(is_grouped, cells[name]))]

    def _refuse_points(self) -> None:
        """Leave the file to our own reader if points may stand between thousands."""
        for place, position in enumerate(self.roles.kept):
            if str(position) in self.short and (self.numbers.rows[:, place] % 1 > 0).any():
                raise _GiveUp

    def _codes(self, name: str, column: Any) -> Floats:
        """Numbers of the distinct texts of a column, with blanks around them removed."""
        encoded = column.combine_chunks().dictionary_encode()
        known = self.words.setdefault(name, {})
        places = [known.setdefault(word.strip(), len(known)) for word in encoded.dictionary.to_pylist()]
        return np.array(places, dtype=np.float64)[_of_buffer(encoded.indices, np.int32)]

    def part(self, source: Source) -> Part:
        """All rows."""
        self._refuse_points()
        values = self.numbers.rows
        levels: dict[int, tuple[str, ...]] = {}
        for place, position in enumerate(self.roles.kept):
            name = self.header[position]
            if name not in self.words:
                continue
            found, of_code = _levels(self.words[name], name in self.categorical)
            values[:, place] = of_code[values[:, place].astype(np.intp)]
            if found or name in self.categorical:
                levels[place] = found
        names = tuple(self.header[position] for position in self.roles.kept)
        ids = None if self.roles.id is None else self.aside[self.roles.id]
        pictures = None
        if self.roles.pictures is not None:
            pictures = [source.beside(cell.strip()) for cell in self.aside[self.roles.pictures]]
        lines: Rows = np.arange(2, len(values) + 2)
        return Part.of(source, Table(values, names, levels), self.roles, lines, ids, pictures)


class GrowingRows:
    """A matrix to which rows are added; it is copied when there are more of them than ``expected``."""

    def __init__(self) -> None:
        self._room, self._used, self.expected = np.empty((0, 0)), 0, 0

    @property
    def rows(self) -> Floats:
        """All rows so far."""
        return self._room[: self._used]

    def more(self, n_rows: int, n_columns: int) -> Floats:
        """Room for some rows after those so far."""
        start, self._used = self._used, self._used + n_rows
        if self._used > len(self._room):
            room = np.empty((max(self._used, self.expected, len(self._room) * 3 // 2), n_columns))
            room[:start] = self._room[:start].reshape(start, n_columns)
            self._room = room
        return self._room[start : self._used]


def _levels(words: dict[str, int], categorical: bool) -> tuple[tuple[str, ...], Floats]:
    """The levels of a category in their order, and the number of each text's level, NaN if it is missing."""
    if not categorical and any(is_number(word) for word in words):
        raise _GiveUp  # numbers and texts: our own reader says which of them are mistakes
    levels = tuple(sorted(word for word in words if word not in MISSING))
    place = {level: float(position) for position, level in enumerate(levels)}
    return levels, np.array([place.get(word, np.nan) for word in words])


def _floats(column: Any) -> Floats:
    """A column of numbers, NaN where one is missing."""
    parts = []
    for chunk in column.chunks:
        values, present = _of_buffer(chunk, np.float64), chunk.buffers()[0]
        if chunk.null_count:
            bits = np.unpackbits(np.frombuffer(present, dtype=np.uint8), bitorder="little")
            values = np.where(bits[chunk.offset :][: len(chunk)] == 1, values, np.nan)
        parts.append(values)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _of_buffer(array: Any, dtype: Any) -> npt.NDArray[Any]:
    """What an array of pyarrow holds; its own ``to_numpy`` would import pandas."""
    return np.frombuffer(array.buffers()[1], dtype=dtype)[array.offset :][: len(array)]

"""ARFF files, dense and sparse, with quoted names, nominal values, ``?`` and instance weights of 1.

An attribute that a sparse row does not mention has the value 0; for a nominal attribute, that is its
first declared value.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

import numpy as np
from scipy import sparse

from amiss.arrays import Floats
from amiss.data.table import Table, encode
from amiss.errors import quoted
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Roles, Selection
from amiss.readers.source import Source
from amiss.wording import count

CHUNK_ROWS = 2048

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.+)$", re.IGNORECASE | re.DOTALL)
VALUE = re.compile(rf"\s*({QUOTED}|[^,'\"][^,]*?|)\s*(,|$)")
PAIR = re.compile(rf"\s*([0-9]+)\s+({QUOTED}|[^,\s]+)\s*(?:,|$)")
WEIGHT = re.compile(r",?\s*\{\s*([^{}\s]+)\s*\}\s*$")
COMMENT = re.compile(r"(?<=[}\w])\s+%.*$")
NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class Attribute:
    """One declared column: numbers, texts (``text``) or nominal values (``levels``)."""

    name: str
    levels: tuple[str, ...] | None = None
    text: bool = False
    unsupported: str = ""  # the declared type, if it cannot be read
    line: int = 0

    @property
    def is_number(self) -> bool:
        """Whether it is declared as a number, or as nominal with the values 0 and 1 in this order."""
        return not self.text and (self.levels is None or self.levels in (("0", "1"), ("0",)))


def read_arff(source: Source, selection: Selection) -> Part:
    """The selected attributes of one ARFF file."""
    if selection.pictures is not None:
        source.refuse(
            "only CSV, TSV and Parquet files can have a column of pictures; save the table as one of them"
        )
    lines = enumerate(source.lines(), start=1)
    attributes = _header(lines, source)
    _refuse_duplicate_names(attributes, source)
    roles = selection.roles([attribute.name for attribute in attributes], source)
    for attribute in (attributes[position] for position in roles.kept):
        if kind := attribute.unsupported:
            problem = f"attributes of type {quoted(kind)} are not supported; drop the column"
            source.refuse(problem, line=attribute.line, column=attribute.name)
    wanted = [_as_asked(attribute, selection) for attribute in attributes]
    rows = (
        (number, stripped) for number, line in lines if (stripped := line.strip()) and not stripped.startswith("%")
    )
    first = next(rows, None)
    if first is None:
        source.refuse("there are attributes but no rows after @data")
    reader = _SparseRows if first[1].startswith("{") else _DenseRows
    return reader(source, wanted, roles).read(first, rows)


ARFF = Format("arff", (".arff",), "Weka's and Mulan's format, dense or sparse", read_arff, texts="levels")


def _refuse_duplicate_names(attributes: list[Attribute], source: Source) -> None:
    seen = set[str]()
    for attribute in attributes:
        if attribute.name in seen:
            source.refuse("this name is already declared; rename one of the two", attribute.line, attribute.name)
        seen.add(attribute.name)


def _as_asked(attribute: Attribute, selection: Selection) -> Attribute:
    if attribute.is_number and selection.is_categorical(attribute.name):
        return Attribute(attribute.name, text=True)
    return attribute


def _header(lines: Iterator[tuple[int, str]], source: Source) -> list[Attribute]:
    attributes: list[Attribute] = []
    number = 0
    for number, line in lines:
        stripped = line.strip()
        keyword = stripped.split(None, 1)[0].lower() if stripped else ""
        if keyword == "@data":
            if not attributes:
                source.refuse("@data comes before any @attribute", line=number)
            return attributes
        if keyword == "@attribute":
            attributes.append(_attribute(stripped, source, number))
        elif keyword and keyword != "@relation" and not keyword.startswith("%"):
            source.refuse("expected @relation, @attribute or @data", line=number)
    source.refuse("there is no @data line; the file is incomplete or not ARFF", line=number)


def _attribute(line: str, source: Source, number: int) -> Attribute:
    match = ATTRIBUTE.match(line)
    if match is None:
        source.refuse("an attribute needs a name and a type", line=number)
    name, kind = _unquoted(match[1]), COMMENT.sub("", match[2]).strip()
    if kind.startswith("{"):
        if not kind.endswith("}"):
            source.refuse("the list of nominal values is not closed with }", line=number, column=name)
        try:
            levels = tuple(_values(kind[1:-1]))
        except ValueError:
            source.refuse("a quote is not closed", line=number, column=name)
        if len(set(levels)) < len(levels):
            source.refuse("a nominal value is listed twice", line=number, column=name)
        return Attribute(name, levels, line=number)
    word = kind.split()[0].lower()
    if word in NUMERIC:
        return Attribute(name, line=number)
    if word == "string":
        return Attribute(name, text=True, line=number)
    return Attribute(name, text=True, unsupported=word, line=number)


def _position(text: str) -> int:
    """The number of an attribute; one with very many digits exceeds any that can be declared."""
    if not (text.isascii() and text.isdecimal()):
        raise ValueError("not an attribute number")
    return int(text) if len(text) < 18 else sys.maxsize


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] in "'\"" and text[-1] == text[0]:
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _values(text: str) -> list[str]:
    """Comma-separated values, quoted or not; a ValueError if a quote is not closed."""
    if "'" not in text and '"' not in text:
        return [value.strip() for value in text.split(",")]
    values, position = [], 0
    while True:
        match = VALUE.match(text, position)
        if match is None:
            raise ValueError("a quote is not closed")
        values.append(_unquoted(match[1]))
        if not match[2]:
            return values
        position = match.end()


class _Rows:
    """What dense and sparse rows share: each cell becomes a number as its attribute says."""

    def __init__(self, source: Source, attributes: list[Attribute], roles: Roles) -> None:
        self.source, self.attributes, self.roles = source, attributes, roles
        self.kept = set(roles.kept)
        self.codes = [
            None if a.levels is None else {level: float(place) for place, level in enumerate(a.levels)}
            for a in attributes
        ]
        self.lines: list[int] = []
        self.ids: list[str] = []
        self.texts: dict[int, list[str | None]] = {
            position: [] for position in roles.kept if attributes[position].text
        }

    def number(self, cell: str, position: int, line: int) -> float:
        """A cell as a number or as the code of its level."""
        if cell == "?":
            return np.nan
        if "_" in cell and self.codes[position] is None:
            self.refuse("this is not a number", line, position)
        codes = self.codes[position]
        if codes is not None:
            code = codes.get(cell)
            if code is None:
                self.refuse("the value is not among those declared for this attribute", line, position)
            return code
        try:
            return float(cell)
        except ValueError:
            self.refuse("this is not a number", line, position)

    def refuse(self, problem: str, line: int, position: int | None = None) -> NoReturn:
        name = None if position is None else self.attributes[position].name
        self.source.refuse(problem, line=line, column=name)

    def without_weight(self, row: str, line: int) -> str:
        """The row without the weight at its end; only the weight ``{1}`` is supported."""
        match = WEIGHT.search(row)
        if match is None:
            return row
        if match[1] not in ("1", "1.0"):
            self.refuse("instance weights other than 1 are not supported; remove them", line)
        return row[: match.start()]

    def part(self, values: Floats | sparse.csr_array) -> Part:
        levels = {}
        for place, position in enumerate(self.roles.kept):
            attribute = self.attributes[position]
            if attribute.text:
                codes, found = encode(self.texts[position])
                values[:, place] = codes
                levels[place] = found
            elif not attribute.is_number and attribute.levels is not None:
                levels[place] = attribute.levels
        names = tuple(self.attributes[position].name for position in self.roles.kept)
        ids = self.ids if self.roles.id is not None else None
        return Part.of(self.source, Table(values, names, levels), self.roles, np.array(self.lines), ids)


class _DenseRows(_Rows):
    """Rows that hold one cell per attribute, separated by commas."""

    def read(self, first: tuple[int, str], rows: Iterator[tuple[int, str]]) -> Part:
        plain = all(attribute.is_number for attribute in self.attributes)
        chunk = [first, *islice(rows, CHUNK_ROWS)]
        blocks = []
        while chunk:
            block = self._quick(chunk) if plain else None
            blocks.append(self._careful(chunk) if block is None else block)
            self.lines.extend(line for line, _ in chunk)
            chunk = list(islice(rows, CHUNK_ROWS))
        return self.part(np.vstack(blocks))

    def _quick(self, chunk: list[tuple[int, str]]) -> Floats | None:
        """All cells at once, if every cell is a plain number; otherwise None."""
        try:
            block = np.loadtxt([row for _, row in chunk], delimiter=",", comments=None, ndmin=2)
        except ValueError:
            return None
        if block.shape != (len(chunk), len(self.attributes)):
            return None
        binary = [i for i, attribute in enumerate(self.attributes) if attribute.levels is not None]
        cells = block[:, binary]
        if not ((cells == 0) | (cells == 1)).all():
            return None
        if self.roles.id is not None:
            self.ids.extend(row.split(",")[self.roles.id].strip() for _, row in chunk)
        return np.ascontiguousarray(block[:, self.roles.kept])

    def _careful(self, chunk: list[tuple[int, str]]) -> Floats:
        block = np.empty((len(chunk), len(self.roles.kept)))
        for number, (line, row) in enumerate(chunk):
            cells = self._cells(row, line)
            for place, position in enumerate(self.roles.kept):
                if position in self.texts:
                    cell = cells[position]
                    self.texts[position].append(None if cell == "?" else cell)
                    block[number, place] = np.nan
                else:
                    block[number, place] = self.number(cells[position], position, line)
            if self.roles.id is not None:
                self.ids.append(cells[self.roles.id])
        return block

    def _cells(self, row: str, line: int) -> list[str]:
        if row.startswith("{"):
            self.refuse("a sparse row among dense rows", line)
        row = self.without_weight(row, line) if row.endswith("}") else row
        if "," not in row and "\t" in row:
            row = row.replace("\t", ",")
        try:
            cells = _values(row)
        except ValueError:
            self.refuse("a quote is not closed", line)
        if len(cells) != len(self.attributes):
            self.refuse(
                f"the row has {count(len(cells), 'cell')}, but {len(self.attributes)} attributes are declared",
                line,
            )
        return cells


class _SparseRows(_Rows):
    """Rows that hold pairs of an attribute's number and a cell, ``{3 1, 7 0.5}``."""

    def read(self, first: tuple[int, str], rows: Iterator[tuple[int, str]]) -> Part:
        if self.texts:
            name = self.attributes[next(iter(self.texts))].name
            self.source.refuse("texts in sparse rows are not supported; drop the column", column=name)
        place_of = {position: place for place, position in enumerate(self.roles.kept)}
        starts, columns, data = [0], [], []
        row: tuple[int, str] | None = first
        while row is not None:
            line, text = row
            row_id = self._first_level(self.roles.id)
            for position, cell in self._pairs(text, line):
                if position in place_of:
                    columns.append(place_of[position])
                    data.append(self.number(cell, position, line))
                elif position == self.roles.id:
                    row_id = cell
            starts.append(len(columns))
            self.lines.append(line)
            self.ids.append(row_id)
            row = next(rows, None)
        shape = (len(self.lines), len(self.roles.kept))
        values = sparse.csr_array(
            (
                np.array(data, dtype=float),
                np.array(columns, dtype=np.int32),
                np.array(starts, dtype=np.int64),
            ),
            shape=shape,
        )
        values.sort_indices()
        values.eliminate_zeros()
        return self.part(values)

    def _first_level(self, position: int | None) -> str:
        levels = None if position is None else self.attributes[position].levels
        return levels[0] if levels else "0"

    def _pairs(self, row: str, line: int) -> list[tuple[int, str]]:
        """The attribute numbers and cells of one row, in increasing order."""
        if not row.startswith("{"):
            self.refuse("a dense row among sparse rows", line)
        if not row.endswith("}"):
            self.refuse("the row is not closed with }", line)
        if row.count("{") > 1:
            row = self.without_weight(row, line)
        body = row[1:-1].strip()
        if not body:
            return []
        if "'" in body or '"' in body:
            pairs = self._quoted_pairs(body, line)
        else:
            try:
                pairs = [(_position(text), cell) for text, cell in map(str.split, body.split(","))]
            except ValueError:
                self.refuse("a sparse row holds pairs of a number and a value, as in {3 1, 7 0.5}", line)
        last = -1
        for position, _ in pairs:
            if not last < position:
                self.refuse("the attribute numbers of a sparse row must increase", line)
            last = position
        if last >= len(self.attributes):
            self.refuse(
                f"an attribute number is too large; the {len(self.attributes)} attributes are numbered from 0",
                line,
            )
        return pairs

    def _quoted_pairs(self, body: str, line: int) -> list[tuple[int, str]]:
        pairs, position = [], 0
        while position < len(body):
            match = PAIR.match(body, position)
            if match is None:
                self.refuse("a sparse row holds pairs of a number and a value, as in {3 1, 7 'a b'}", line)
            pairs.append((_position(match[1]), _unquoted(match[2])))
            position = match.end()
        return pairs

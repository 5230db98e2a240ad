"""Where a table begins in a text file or a sheet, and which of its columns have no name.

People put titles above a table, spreadsheets write empty columns behind it, and pandas and R write the labels of
the rows into a column without a name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from amiss.readers.cells import is_number
from amiss.readers.header import check_header
from amiss.readers.source import Source
from amiss.wording import count

LOOKED_AT = 200  # rows that say how wide the table is
MANY_CELLS, FEW = 200_000, 20  # of wide rows, fewer will do
MOST_ABOVE = 50  # rows above the names of the columns
NEARLY_ALL = 0.9  # of the columns must have a name
RARELY = 0.1  # columns with fewer cells than this share of the rows are remarks beside the table

NumberedRow = tuple[int, list[str]]


def notes_on(n_above: int, labels: list[str] | None, place: str) -> tuple[str, ...]:
    """What a reader of the results should know of the layout, in sentences; ``place`` is that of the names."""
    notes = []
    if n_above:
        notes.append(f"The names of the columns stand in {place}; what is above them was left out.")
    if labels is not None:
        notes.append("The column without a name labels the rows, so it is not an input.")
    return tuple(notes)


@dataclass(frozen=True)
class Layout:
    """The columns of a table.

    Parameters
    ----------
    place : which of the first rows names the columns
    names : the names of the columns that have one
    positions : where the cells of these columns stand in a row
    width : how many cells a row has
    padded : how many it may have instead, if the further ones are empty
    empty : positions of columns without name and without cells
    index : where the labels of the rows stand, if a column without a name has them
    """

    place: int
    names: list[str]
    positions: list[int]
    width: int
    padded: set[int]
    empty: list[int]
    index: int | None = None


def named_rows(
    source: Source, rows: Iterator[NumberedRow], in_quotes: bool = False
) -> tuple[int, list[str], Iterator[NumberedRow], list[str] | None, int]:
    """The number of the row with the names, the names, the rows below cut to these columns, their labels (which
    grow while the rows are read; None if there are none), and how many rows stand above the names.

    ``in_quotes`` says that the lines begin with a quote.
    """
    head = list(islice(rows, 1))
    if not head:
        source.refuse("the file is empty")
    head += islice(rows, max(FEW, min(LOOKED_AT, MANY_CELLS // len(head[0][1]))))
    layout = _layout(source, head, in_quotes)
    labels: list[str] | None = None if layout.index is None else []
    below = chain(head[layout.place + 1 :], rows)
    line = head[layout.place][0]
    return line, layout.names, _cut(source, layout, below, labels), labels, layout.place


def _layout(source: Source, head: list[NumberedRow], in_quotes: bool) -> Layout:
    rows = [[cell.strip() for cell in row] for _, row in head]
    place = header_place(rows)
    line, header, below = head[place][0], rows[place], rows[place + 1 :]
    if not any(header):
        source.refuse("no column has a name; the first line must name the columns", line=line)
    if _has_row_labels(header, below, in_quotes):
        check_header(header, source, line)
        return Layout(place, header, [*range(1, len(header) + 1)], len(header) + 1, set(), [], index=0)
    used = {position for row in below for position, cell in enumerate(row) if cell}
    empty = [position for position, name in enumerate(header) if not name and position not in used]
    first = next((position for position in range(len(header)) if position not in empty), 0)
    index = first if not header[first] and _tell_rows_apart(below, first) else None
    check_header(header, source, line, unnamed={*empty, index})
    positions = [position for position, name in enumerate(header) if name]
    width = max([*positions, -1 if index is None else index]) + 1
    lengths = {len(row) for row in below}
    padded = {len(header)} | (lengths if len(lengths) == 1 else set())  # one row alone may have a cell too many
    empty = [position for position in empty if position < width]
    return Layout(place, [header[position] for position in positions], positions, width, padded, empty, index)


def header_place(rows: Sequence[Sequence[str]]) -> int:
    """Which row names the columns: the first with a text in nearly all columns that the rows below it use.

    >>> header_place([["Wards in May", ""], ["", ""], ["age", "ill"], ["34", "1"]])
    2
    """
    for place, row in enumerate(rows[:MOST_ABOVE]):
        below = [other for other in rows[place + 1 :] if any(other)]
        filled = [cell for cell in row if cell]
        width = _columns_in_use(below)
        if len(filled) >= NEARLY_ALL * width and below:
            texts = sum(not is_number(cell) for cell in filled)
            if place == 0 or (len({*filled}) == len(filled) and 2 * texts >= len(filled)):
                return place
        elif place == 0 and len(filled) > max(1, width / 2):  # too much for a title: something is wrong with it
            return 0
    return 0


def _columns_in_use(rows: Sequence[Sequence[str]]) -> int:
    cells = Counter(position for row in rows for position, cell in enumerate(row) if cell)
    return sum(n_cells > RARELY * len(rows) for n_cells in cells.values())


def _has_row_labels(header: Sequence[str], below: Sequence[Sequence[str]], in_quotes: bool) -> bool:
    """Whether every row begins with a label that the first line does not name, as R writes them.

    R quotes labels, or numbers the rows. Any others more likely show that the first line lacks a delimiter.
    """
    if not below or len(header) < 2 or not all(header) or any(len(row) != len(header) + 1 for row in below):
        return False
    labels = [row[0] for row in below]
    counting = any(labels == [str(first + i) for i in range(len(below))] for first in (0, 1))
    likely = counting or (in_quotes and _tell_rows_apart(below, 0))
    return likely and any(row[-1] for row in below) and not _heads_numbers(below[0], below[1:])


def _heads_numbers(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row has texts where all rows below it have numbers: then it names the columns itself."""
    return (
        any(
            bool(name) and not is_number(name) and all(is_number(other[position]) for other in below)
            for position, name in enumerate(row)
        )
        and len(below) > 0
    )


def _tell_rows_apart(rows: Sequence[Sequence[str]], position: int) -> bool:
    """Whether every row has a cell there, and no two the same."""
    cells = [row[position] for row in rows if len(row) > position]
    return len(cells) == len(rows) > 0 and all(cells) and len({*cells}) == len(cells)


def _cut(
    source: Source, layout: Layout, rows: Iterator[NumberedRow], labels: list[str] | None
) -> Iterator[NumberedRow]:
    """The named cells of each row; a row with too few cells, or a cell in no column, is refused."""
    width, positions = layout.width, layout.positions
    as_they_are = positions == [*range(width)]
    for line, row in rows:
        if len(row) != width:
            if len(row) not in layout.padded or len(row) < width or any(cell.strip() for cell in row[width:]):
                source.refuse(f"the row has {count(len(row), 'cell')}, but {width} columns are named", line=line)
            row = row[:width]
        for position in layout.empty:
            if row[position].strip():
                source.refuse(f"column {position + 1} has a cell here but no name; name it or empty it", line=line)
        if labels is not None and layout.index is not None:
            labels.append(row[layout.index].strip())
        yield line, row if as_they_are else [row[position] for position in positions]

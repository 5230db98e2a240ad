"""CSV and TSV files whose first line names the columns.

Large files are read by pyarrow where it can (:mod:`amiss.readers.fast_delimited`), all others here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, islice

from amiss.readers.cell_rows import Rows, read_rows
from amiss.readers.fast_delimited import POINTED, read_fast
from amiss.readers.format import Format
from amiss.readers.header import likeliest_delimiter, told_delimiter
from amiss.readers.layout import NumberedRow, named_rows, notes_on
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source

LINES = 50  # below the first that say which delimiter is the likeliest


def read_delimited(source: Source, selection: Selection, delimiter: str | None = None) -> Part:
    """The selected columns of one file; without a ``delimiter``, the one that is most common in the first line."""
    fast = None if source.encoding else read_fast(source, selection, delimiter)
    return fast or read_with_care(source, selection, delimiter)


def read_with_care(source: Source, selection: Selection, delimiter: str | None = None) -> Part:
    """The same, cell by cell; what is wrong with the file is said with its line."""
    delimiter, in_quotes, numbered = _rows(source, delimiter)
    line, names, below, labels, n_above = named_rows(source, numbered, in_quotes)
    comma, points = delimiter == ";", delimiter in POINTED
    rows = Rows(names, below, line, decimal_comma=comma, thousands_points=points, index=labels)
    notes = notes_on(n_above, labels, f"line {line}")
    return replace(read_rows(source, selection, rows), notes=notes, decimal_comma=comma)


CSV = Format("csv", (".csv", ".txt"), "cells separated by commas, semicolons, tabs or bars", read_delimited)
TSV = Format("tsv", (".tsv", ".tab"), "cells separated by tabs", partial(read_delimited, delimiter="\t"))


def _rows(source: Source, delimiter: str | None) -> tuple[str, bool, Iterator[NumberedRow]]:
    """The delimiter, whether the lines begin with a quote, and all rows that are not blank.

    Each row comes with the number of its last line.
    """
    lines = source.lines()
    skipped = 0
    for first in lines:
        told = None if skipped else told_delimiter(first)
        if first.strip() and told is None:
            break
        delimiter = delimiter or told
        skipped += 1
    else:
        source.refuse("the file is empty")
    below = list(islice(lines, LINES))
    delimiter = delimiter or likeliest_delimiter(first, [line for line in below if line.strip()])
    in_quotes = all(line.startswith('"') for line in [first, *below] if line.strip())
    return delimiter, in_quotes, _parsed(source, chain([first], below, lines), delimiter, skipped)


def _parsed(source: Source, lines: Iterator[str], delimiter: str, skipped: int) -> Iterator[NumberedRow]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num + skipped, row
    except csv.Error:
        source.refuse("a quote is not closed or is in the wrong place", line=reader.line_num + skipped)

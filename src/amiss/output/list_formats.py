"""Formats of the ranked list. A new one is one class here and one line in :mod:`amiss.output.registry`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Protocol

from amiss.output.ranking import RankedRow
from amiss.readers.parquet import require_pyarrow
from amiss.wording import six_digits

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
SIGNED_NUMBER = re.compile(r"[+-][0-9]+(\.[0-9]+)?", re.ASCII)


class ListFormat(Protocol):
    """Writes rows of the list to a stream of bytes."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def check(self) -> None:
        """Refuse at once if something that it needs is not installed."""

    def write(self, stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None: ...

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        """Write lines that all have the same fields."""


@dataclass(frozen=True)
class Csv:
    name: str = "csv"
    suffixes: tuple[str, ...] = (".csv",)

    def check(self) -> None: ...

    def write(self, stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None:
        self.write_records(stream, (flat_record(row, n_reasons) for row in rows))

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        with as_text(stream) as text:
            writer = csv.writer(_UnixLines(text))
            for number, cells in enumerate(records):
                if number == 0:
                    writer.writerow(cells)
                writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells.values()])


@dataclass(frozen=True)
class JsonLines:
    name: str = "jsonl"
    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")

    def check(self) -> None: ...

    def write(self, stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None:
        self.write_records(stream, map(record, rows))

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        with as_text(stream) as text:
            for each in records:
                text.write(json.dumps(each, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Parquet:
    name: str = "parquet"
    suffixes: tuple[str, ...] = (".parquet", ".pq")

    def check(self) -> None:
        require_pyarrow()

    def write(self, stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None:
        self.write_records(stream, (flat_record(row, n_reasons) for row in rows))

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
        table = pa.Table.from_pylist(of_one_type(list(records)))
        for position, name in enumerate(table.column_names):
            # A column that is empty in one batch must have the type it has in others.
            if pa.types.is_null(table.column(name).type):
                table = table.set_column(position, name, table.column(name).cast(types[column_type(name)]))
        pq.write_table(table, stream)


def of_one_type(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with observed and suggested values as texts, unless all of them are whole numbers."""
    values = [name for name in records[0] if name.startswith(("observed", "suggested"))] if records else []
    for name in values:
        if all(each[name] is None or isinstance(each[name], int) for each in records):
            continue
        for each in records:
            each[name] = None if each[name] is None else str(each[name])
    return records


def column_type(name: str) -> type:
    """What a column of a list of rows or cells holds: texts, whole numbers or numbers.

    >>> column_type("output_2"), column_type("observed"), column_type("p_value_1")
    (<class 'str'>, <class 'int'>, <class 'float'>)
    """
    if name in ("id", "file", "output") or name.startswith("output_"):
        return str
    whole = ("rank", "row", "line", "flagged", "in_fit", "observed", "suggested")
    return int if name in whole or name.startswith("observed_") else float


def record(row: RankedRow) -> dict[str, Any]:
    """A row of the list as JSON writes it."""
    result: dict[str, Any] = {"rank": row.rank, "row": row.row, **row.place}
    if row.id is not None:
        result["id"] = row.id
    result |= {"score": six_digits(row.score), "flagged": row.flagged, **_new_row_fields(row)}
    result["outputs"] = [
        {
            "output": reason.output,
            "observed": reason.observed,
            "probability": six_digits(reason.probability),
            "contribution": six_digits(reason.contribution),
            **({} if not row.is_new else {"p_value": six_digits(reason.p_value)}),
        }
        for reason in row.reasons
    ]
    return result


def _new_row_fields(row: RankedRow) -> dict[str, Any]:
    """The p-value, and for new rows whether the fit has seen them, where that is known."""
    if row.is_new:
        return {"p_value": six_digits(row.p_value), "in_fit": row.in_fit}
    return {} if row.p_value is None else {"p_value": six_digits(row.p_value)}


def flat_record(row: RankedRow, n_reasons: int) -> dict[str, Any]:
    """A row of the list as a table writes it; reasons a row does not have are empty."""
    cells: dict[str, Any] = {"rank": row.rank, "row": row.row, **row.place}
    if row.id is not None:
        cells["id"] = row.id
    cells |= {"score": six_digits(row.score), "flagged": int(row.flagged)}
    cells |= {
        name: int(value) if isinstance(value, bool) else value for name, value in _new_row_fields(row).items()
    }
    for place in range(1, n_reasons + 1):
        reason = row.reasons[place - 1] if place <= len(row.reasons) else None
        cells[f"output_{place}"] = None if reason is None else reason.output
        cells[f"observed_{place}"] = None if reason is None else reason.observed
        cells[f"probability_{place}"] = None if reason is None else six_digits(reason.probability)
        cells[f"contribution_{place}"] = None if reason is None else six_digits(reason.contribution)
        if row.is_new:
            cells[f"p_value_{place}"] = None if reason is None else six_digits(reason.p_value)
    return cells


class _UnixLines:
    """Ends lines by a newline alone; csv itself then forgets to quote a cell with a carriage return."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def write(self, line: str) -> None:
        self.stream.write(line.removesuffix("\r\n") + "\n")


def harmless(text: str) -> str:
    """A text that no spreadsheet runs as a formula: an apostrophe marks it as text. Signed numbers stay.

    >>> harmless("=1+1"), harmless("-x"), harmless("-12.5"), harmless("a=b")
    ("'=1+1", "'-x", '-12.5', 'a=b')
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) and not SIGNED_NUMBER.fullmatch(text) else text


@contextmanager
def as_text(stream: IO[bytes]) -> Iterator[IO[str]]:
    """UTF-8 whatever the terminal speaks: this is a file, even in a pipe."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    yield text
    text.flush()
    text.detach()

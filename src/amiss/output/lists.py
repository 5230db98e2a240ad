"""The ranked list as a file: CSV, Parquet or JSON lines, written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from amiss.errors import DataError
from amiss.files import atomic_write, check_writable
from amiss.output.ranking import RankedRow
from amiss.readers.parquet import require_pyarrow
from amiss.wording import six_digits

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
SIGNED_NUMBER = re.compile(r"[+-][0-9]+(\.[0-9]+)?", re.ASCII)
SUFFIXES = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True)
class Target:
    """Where the list goes, known to be good before any work is done."""

    path: str
    kind: str

    @property
    def is_stdout(self) -> bool:
        return self.path == "-"

    @classmethod
    def of(cls, path: str, kind: str | None = None, inputs: tuple[str, ...] = ()) -> Target:
        kind = kind or ("csv" if path == "-" else SUFFIXES.get(Path(path).suffix.lower()))
        if kind is None:
            raise DataError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}, or say --output-format")
        if kind == "parquet":
            require_pyarrow()
        if path != "-":
            check_writable(Path(path), inputs, pipes=True)
        return cls(path, kind)


def write(target: Target, rows: Iterator[RankedRow], n_reasons: int) -> None:
    """Write one line a row, most unusual first; ``n_reasons`` is how many outputs a row names at most."""
    writers: dict[str, Callable[..., None]] = {
        "csv": _write_csv,
        "jsonl": _write_jsonl,
        "parquet": _write_parquet,
    }
    with _standard_output() if target.is_stdout else atomic_write(Path(target.path)) as stream:
        writers[target.kind](stream, rows, n_reasons)


def record(row: RankedRow) -> dict[str, Any]:
    """A row of the list as JSON writes it."""
    result: dict[str, Any] = {"rank": row.rank, "row": row.row, **row.place}
    if row.id is not None:
        result["id"] = row.id
    result |= {"score": six_digits(row.score), "flagged": row.flagged, **_judgement(row)}
    result["outputs"] = [
        {
            "output": reason.output,
            "observed": reason.observed,
            "probability": six_digits(reason.probability),
            "share": six_digits(reason.share),
            **({} if not row.is_new else {"p_value": six_digits(reason.p_value)}),
        }
        for reason in row.reasons
    ]
    return result


def _judgement(row: RankedRow) -> dict[str, Any]:
    """The p-value, and for new rows whether the fit has seen them, where that is known."""
    if row.is_new:
        return {"p_value": six_digits(row.p_value), "in_fit": row.in_fit}
    return {} if row.p_value is None else {"p_value": six_digits(row.p_value)}


def _flat(row: RankedRow, n_reasons: int) -> dict[str, Any]:
    """A row of the list as a table writes it; reasons a row does not have are empty."""
    cells: dict[str, Any] = {"rank": row.rank, "row": row.row, **row.place}
    if row.id is not None:
        cells["id"] = row.id
    cells |= {"score": six_digits(row.score), "flagged": int(row.flagged)}
    cells |= {name: int(value) if isinstance(value, bool) else value for name, value in _judgement(row).items()}
    for place in range(1, n_reasons + 1):
        reason = row.reasons[place - 1] if place <= len(row.reasons) else None
        cells[f"output_{place}"] = None if reason is None else reason.output
        cells[f"observed_{place}"] = None if reason is None else reason.observed
        cells[f"probability_{place}"] = None if reason is None else six_digits(reason.probability)
        cells[f"share_{place}"] = None if reason is None else six_digits(reason.share)
        if row.is_new:
            cells[f"p_value_{place}"] = None if reason is None else six_digits(reason.p_value)
    return cells


def _write_csv(stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None:
    with as_text(stream) as text:
        writer = csv.writer(_UnixLines(text))
        for number, row in enumerate(rows):
            cells = _flat(row, n_reasons)
            if number == 0:
                writer.writerow(cells)
            writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in cells.values()])


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


def _write_jsonl(stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None:
    with as_text(stream) as text:
        for row in rows:
            text.write(json.dumps(record(row), ensure_ascii=False) + "\n")


def _write_parquet(stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pylist([_flat(row, n_reasons) for row in rows])
    for position, name in enumerate(table.column_names):
        # A column that is empty in one batch must have the type it has in others.
        if pa.types.is_null(table.column(name).type):
            kind = pa.string() if name.startswith("output_") else pa.float64()
            if name.startswith(("observed_", "in_fit", "line")):
                kind = pa.int64()
            table = table.set_column(position, name, table.column(name).cast(kind))
    pq.write_table(table, stream)


@contextmanager
def as_text(stream: IO[bytes]) -> Iterator[IO[str]]:
    """UTF-8 whatever the terminal speaks: this is a file, even in a pipe."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    yield text
    text.flush()
    text.detach()


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()

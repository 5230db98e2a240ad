"""Formats of the ranked list. A new one is one class here and one line in :mod:`amiss.output.registry`."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from itertools import islice
from typing import IO, Any, Protocol

import numpy as np

from amiss.output.list_columns import ROWS, Columns, Lists, joined, plain
from amiss.output.ranking import RankedRow
from amiss.readers.arrow_tables import require_pyarrow
from amiss.wording import six_digits, value_text

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
OF_A_REASON = ("output", "observed", "probability", "contribution", "p_value")
OF_VALUES = re.compile(r"(observed|suggested)(_[0-9]+)?|low|high")
LARGEST_WHOLE = 1e15
QUOTE = '"'
NEEDS_QUOTES = re.compile(r'[,"\r\n]')
SIGNED_NUMBER = re.compile(r"[+-][0-9]+(\.[0-9]+)?", re.ASCII)


class ListFormat(Protocol):
    """Writes rows of the list to a stream of bytes."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    @property
    def most_lines(self) -> int | None:
        """How many lines it holds at most, if there is a limit."""

    def check(self) -> None:
        """Refuse at once if something that it needs is not installed."""

    def write(self, stream: IO[bytes], blocks: Iterator[Columns]) -> None:
        """Write the ranked list, given as columns of some rows at a time."""

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        """Write lines that all have the same fields."""


@dataclass(frozen=True)
class Csv:
    name: str = "csv"
    suffixes: tuple[str, ...] = (".csv",)
    most_lines: int | None = None

    def check(self) -> None: ...

    def write(self, stream: IO[bytes], blocks: Iterator[Columns]) -> None:
        for number, columns in enumerate(blocks):
            if number == 0:
                stream.write((",".join(map(quoted, columns)) + "\n").encode())
            stream.write(csv_block(columns))

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        self.write(stream, in_blocks(records))


@dataclass(frozen=True)
class JsonLines:
    name: str = "jsonl"
    suffixes: tuple[str, ...] = (".jsonl", ".ndjson")
    most_lines: int | None = None

    def check(self) -> None: ...

    def write(self, stream: IO[bytes], blocks: Iterator[Columns]) -> None:
        with as_text(stream) as text:
            for columns in blocks:
                text.writelines(json_lines(columns))

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        with as_text(stream) as text:
            for each in records:
                text.write(json.dumps(each, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Parquet:
    name: str = "parquet"
    suffixes: tuple[str, ...] = (".parquet", ".pq")
    most_lines: int | None = None

    def check(self) -> None:
        require_pyarrow()

    def write(self, stream: IO[bytes], blocks: Iterator[Columns]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
        table = pa.table(of_one_type(joined(blocks)))
        for position, name in enumerate(table.column_names):
            # A column that is empty in one batch must have the type it has in others.
            if pa.types.is_null(table.column(name).type):
                table = table.set_column(position, name, table.column(name).cast(types[column_type(name)]))
        pq.write_table(table, stream)

    def write_records(self, stream: IO[bytes], records: Iterator[dict[str, Any]]) -> None:
        self.write(stream, iter([{**as_columns(list(records))}]))


def as_columns(records: list[dict[str, Any]]) -> Lists:
    """Lines that all have the same fields, as columns."""
    return {name: [each[name] for each in records] for name in records[0]} if records else {}


def in_blocks(records: Iterator[dict[str, Any]]) -> Iterator[Columns]:
    """The same, some lines at a time."""
    while some := list(islice(records, ROWS)):
        yield {**as_columns(some)}


def of_one_type(columns: Lists) -> Lists:
    """The same with observed and suggested values as texts, unless all of them are whole numbers."""
    found = dict(columns)
    for name, values in columns.items():
        if name.startswith(("observed", "suggested")) and not all(
            value is None or isinstance(value, int) for value in values
        ):
            found[name] = [None if value is None else value_text(value) for value in values]
    return found


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


def json_lines(blocks: Columns) -> Iterator[str]:
    """The rows as :func:`record` writes them, a line each."""
    columns = {name: plain(values) for name, values in blocks.items()}
    texts = {name: list(map(_json_of(values), values)) for name, values in columns.items()}
    texts["flagged"] = ["true" if flagged else "false" for flagged in columns["flagged"]]
    if "in_fit" in columns:
        texts["in_fit"] = [{None: "null", 0: "false", 1: "true"}[known] for known in columns["in_fit"]]
    n_reasons = sum(name.startswith("output_") for name in columns)
    parts = [
        [name for name in texts if name.endswith(f"_{place}") and name.removesuffix(f"_{place}") in OF_A_REASON]
        for place in range(1, n_reasons + 1)
    ]
    row = [name for name in texts if not any(name in part for part in parts)]
    heads = [_template([(name, name) for name in row])[:-1] + ', "outputs": [']
    reasons = [_template([(name.rpartition("_")[0], name) for name in part]) for part in parts]
    cells = [list(zip(*(texts[name] for name in part), strict=True)) for part in parts]
    for place, head in enumerate(zip(*(texts[name] for name in row), strict=True)):
        named = [
            reason % cells[number][place]
            for number, reason in enumerate(reasons)
            if columns[f"output_{number + 1}"][place] is not None
        ]
        yield heads[0] % head + ", ".join(named) + "]}\n"


def _template(names: list[tuple[str, str]]) -> str:
    """A JSON object to be filled with texts of values."""
    return "{" + ", ".join(f"{json.dumps(name)}: %s" for name, _ in names) + "}"


def _json_of(values: list[Any]) -> Callable[[Any], str]:
    """What writes these values as JSON: equal texts are written once."""
    if not any(isinstance(value, str) for value in values):
        return lambda value: "null" if value is None else repr(value)
    return lru_cache(maxsize=1024)(partial(json.dumps, ensure_ascii=False))


def csv_block(columns: Columns) -> bytes:
    """The rows as lines of CSV; a full block is worth importing pyarrow."""
    columns = with_plain_values(columns)
    first: Any = next(iter(columns.values()), ())
    if isinstance(first, np.ndarray) and len(first) == ROWS and find_spec("pyarrow") is not None:
        from amiss.output.arrow_lines import arrow_lines

        return arrow_lines(columns, csv_texts)
    return "".join(csv_lines(columns)).encode()


def with_plain_values(columns: Columns) -> Columns:
    """The same with whole numbers among the values of outputs as whole numbers: 15050, not 15050.0."""

    def whole(value: Any) -> Any:
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_WHOLE
        return int(value) if is_whole else value

    return {
        name: list(map(whole, values)) if isinstance(values, list) and OF_VALUES.fullmatch(name) else values
        for name, values in columns.items()
    }


def csv_lines(columns: Columns) -> Iterator[str]:
    """The rows as lines of CSV: numbers as Python writes them, texts quoted where they must be."""
    texts = [csv_texts(plain(values)) for values in columns.values()]
    return (line + "\n" for line in map(",".join, zip(*texts, strict=True)))


def csv_texts(values: Sequence[Any]) -> list[str]:
    """A column as it stands in CSV; equal texts are made harmless and quoted once.

    >>> csv_texts([1, 0.5, None, "a,b", "=1+1"])
    ['1', '0.5', '', '"a,b"', "'=1+1"]
    """
    kinds = {*map(type, values)}
    if kinds <= {int, float}:
        return list(map(repr, values))
    texts: dict[Any, str] = {text: quoted(harmless(text)) for text in {*values} if isinstance(text, str)}
    return [texts[value] if isinstance(value, str) else "" if value is None else str(value) for value in values]


def quoted(text: str) -> str:
    """A text with quotation marks around it, if CSV needs them."""
    return f'"{text.replace(QUOTE, 2 * QUOTE)}"' if NEEDS_QUOTES.search(text) else text


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

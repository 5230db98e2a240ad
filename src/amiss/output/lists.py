"""The ranked list as a file: where it goes, and in which format."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from amiss.data.dataset import Dataset
from amiss.data.table import output_columns
from amiss.errors import DataError
from amiss.files import atomic_write, check_writable
from amiss.output.cells import Cell
from amiss.output.list_columns import list_columns
from amiss.output.list_formats import ListFormat, harmless
from amiss.output.ranking import RankedList, place_of
from amiss.output.reason_lines import reason_lines
from amiss.output.registry import LIST_FORMATS
from amiss.output.shown import shown_of, with_shown
from amiss.wording import six_digits


@dataclass(frozen=True)
class Target:
    """Where the list goes, checked before any work is done."""

    path: str
    format: ListFormat

    @property
    def is_stdout(self) -> bool:
        return self.path == "-"

    @classmethod
    def of(cls, path: str, format_name: str | None = None, inputs: tuple[str, ...] = ()) -> Target:
        """By the name of the format or, without one, by the suffix; standard output is CSV by default."""
        format = LIST_FORMATS[format_name] if format_name is not None else _format_of(path)
        format.check()
        if path != "-":
            check_writable(Path(path), inputs, pipes=True)
        return cls(path, format)

    def check_size(self, n_lines: int) -> None:
        """Refuse more lines than the format holds, before the work that finds them."""
        most = self.format.most_lines
        if most is not None and n_lines > most:
            raise DataError(
                f"{self.path}: {n_lines:,} lines, but a sheet holds {most:,}; name the list .csv or .parquet"
            )


def _format_of(path: str) -> ListFormat:
    if path == "-":
        return LIST_FORMATS["csv"]
    by_suffix = {suffix: format for format in LIST_FORMATS.values() for suffix in format.suffixes}
    suffix = Path(path).suffix.lower()
    if suffix not in by_suffix:
        raise DataError(f"{path}: unknown suffix; use one of {', '.join(by_suffix)}, or give --output-format")
    return by_suffix[suffix]


def write_list(target: Target, ranked: RankedList, n_reasons: int, one_line_per: str = "row") -> None:
    """Write one line per row or per reason, most unusual first; a row names at most ``n_reasons`` outputs."""
    shown = ranked.data.shown
    if target.format.name == "csv":  # names of columns are texts, too, that a spreadsheet may run
        shown = {harmless(name): texts for name, texts in shown.items()}
    blocks = with_shown(list_columns(ranked, n_reasons), shown)
    with _standard_output() if target.is_stdout else atomic_write(Path(target.path)) as stream:
        if one_line_per == "reason":
            lines = reason_lines(blocks)
            if target.format.name == "jsonl":  # the others have no word for yes and no
                lines = ({**line, "flagged": bool(line["flagged"])} for line in lines)
            target.format.write_records(stream, lines)
        else:
            target.format.write(stream, blocks)


def write_cells(target: Target, cells: Iterable[Cell], data: Dataset) -> None:
    """Write one line per cell, most suspicious first, with the row's id and its line in the file."""
    records = (cell_record(rank, cell, data) for rank, cell in enumerate(cells, start=1))
    with _standard_output() if target.is_stdout else atomic_write(Path(target.path)) as stream:
        target.format.write_records(stream, records)


def cell_record(rank: int, cell: Cell, data: Dataset) -> dict[str, Any]:
    """A cell as a list writes it; ``row`` counts from 1, as in the list of rows."""
    return {
        "rank": rank,
        "row": cell.row + 1,
        **({} if data.Y.origin is None else place_of(data.Y.origin, cell.row)),
        **({} if data.ids is None else {"id": data.ids[cell.row]}),
        **shown_of(cell.row, data.shown),
        "output": cell.output,
        "observed": cell.observed,
        "suggested": cell.suggested,
        **_interval(cell, data),
        "probability": six_digits(cell.probability),
        "score": six_digits(cell.score),
    }


def _interval(cell: Cell, data: Dataset) -> dict[str, Any]:
    """Where a number should lie, if any output is one."""
    if not any(column.kind.is_numeric for column in output_columns(data.Y)):
        return {}
    return {"low": six_digits(cell.low), "high": six_digits(cell.high)}


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()

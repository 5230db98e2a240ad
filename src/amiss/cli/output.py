"""The ranked list as a file: CSV, Parquet or JSON lines, written whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from amiss.dataset import Dataset
from amiss.detector import MCODE
from amiss.errors import DataError, MissingDependencyError
from amiss.ranking import RankedRow, ranked_rows

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
    def of(cls, path: str, inputs: tuple[str, ...] = ()) -> Target:
        if path == "-":
            return cls(path, "csv")
        kind = SUFFIXES.get(Path(path).suffix.lower())
        if kind is None:
            raise DataError(f"{path}: the suffix must be one of {', '.join(SUFFIXES)}")
        if kind == "parquet":
            _require_pyarrow()
        if not Path(path).absolute().parent.is_dir():
            raise DataError(f"{path}: there is no such folder; make it first")
        if any(each != "-" and Path(each).resolve() == Path(path).resolve() for each in inputs):
            raise DataError(f"{path}: this is an input file; choose another name for the list")
        return cls(path, kind)


def write(target: Target, detector: MCODE, data: Dataset, n_reasons: int) -> None:
    """Write one line a row, most unusual first."""
    n_reasons = min(n_reasons, len(detector.output_names_))
    rows = ranked_rows(detector, data.Y, data.ids, n_reasons)
    if target.is_stdout:
        _write_csv(sys.stdout, rows, n_reasons, data.ids is not None)
        sys.stdout.flush()
        return
    writers: dict[str, Callable[..., None]] = {
        "csv": _write_csv,
        "jsonl": _write_jsonl,
        "parquet": _write_parquet,
    }
    with _whole_or_nothing(Path(target.path), binary=target.kind == "parquet") as stream:
        writers[target.kind](stream, rows, n_reasons, data.ids is not None)


def record(row: RankedRow) -> dict[str, Any]:
    """A row of the list as JSON writes it."""
    result = asdict(row)
    if row.id is None:
        del result["id"]
    result["outputs"] = [
        {
            "output": reason.output,
            "observed": reason.observed,
            "probability": _rounded(reason.probability),
            "share": _rounded(reason.share),
        }
        for reason in row.reasons
    ]
    result["score"] = _rounded(row.score)
    del result["reasons"]
    return result


def _rounded(number: float) -> float:
    return float(f"{number:.6g}")


def _columns(n_reasons: int, with_ids: bool) -> list[str]:
    names = ["rank", "row", *(["id"] if with_ids else []), "score", "flagged"]
    for place in range(1, n_reasons + 1):
        names += [f"output_{place}", f"observed_{place}", f"probability_{place}", f"share_{place}"]
    return names


def _flat(row: RankedRow, n_reasons: int, with_ids: bool) -> list[Any]:
    """A row of the list as a table writes it; reasons a row does not have are empty."""
    cells: list[Any] = [
        row.rank,
        row.row,
        *([row.id] if with_ids else []),
        _rounded(row.score),
        int(row.flagged),
    ]
    for reason in row.reasons:
        cells += [reason.output, reason.observed, _rounded(reason.probability), _rounded(reason.share)]
    return cells + [None] * (4 * (n_reasons - len(row.reasons)))


def _write_csv(stream: IO[str], rows: Iterator[RankedRow], n_reasons: int, with_ids: bool) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_columns(n_reasons, with_ids))
    writer.writerows(_flat(row, n_reasons, with_ids) for row in rows)


def _write_jsonl(stream: IO[str], rows: Iterator[RankedRow], n_reasons: int, with_ids: bool) -> None:
    for row in rows:
        stream.write(json.dumps(record(row), ensure_ascii=False) + "\n")


def _write_parquet(stream: IO[bytes], rows: Iterator[RankedRow], n_reasons: int, with_ids: bool) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = zip(*(_flat(row, n_reasons, with_ids) for row in rows), strict=True)
    names = _columns(n_reasons, with_ids)
    pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), stream)


def _require_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            "Parquet needs pyarrow; install it with pip install 'amiss[io]'"
        ) from None


@contextmanager
def _whole_or_nothing(path: Path, binary: bool) -> Iterator[IO[Any]]:
    """A temporary file beside ``path`` that takes its name once everything is on the disk."""
    handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        mode, encoding = ("wb", None) if binary else ("w", "utf-8")
        with os.fdopen(handle, mode, encoding=encoding, newline=None if binary else "") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

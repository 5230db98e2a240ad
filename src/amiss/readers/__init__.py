"""One file a format; each gives the rows of a file, and :func:`read` joins them to a Dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from amiss.data.dataset import Dataset
from amiss.errors import DataError
from amiss.readers.arff import read_arff
from amiss.readers.delimited import read_delimited
from amiss.readers.npz import read_npz
from amiss.readers.parquet import read_parquet
from amiss.readers.part import Part, concatenated
from amiss.readers.select import Selection
from amiss.readers.source import Source
from amiss.readers.svmlight import read_svmlight

READERS: dict[str, Callable[[Source, Selection], Part]] = {
    "csv": read_delimited,
    "tsv": partial(read_delimited, delimiter="\t"),
    "arff": read_arff,
    "svmlight": read_svmlight,
    "npz": read_npz,
    "parquet": read_parquet,
}

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".arff": "arff",
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".npz": "npz",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def read(
    *paths: str | Path,
    outputs: str | Path | Sequence[str] | None = None,
    id: str | None = None,
    drop: str | Sequence[str] = (),
    may_drop: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    format: str | None = None,
    pictures: str | None = None,
    like: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Dataset:
    """Read one table from one or several files whose rows belong together.

    Parameters
    ----------
    paths : files, plain or gzipped; ``-`` is standard input
    outputs : which columns are outputs: names or globs (``"tag_*"``) separated by commas or as a
        list, a Mulan XML file, or ``"last:14"``. svmlight and npz files know theirs.
    id : a column that names the rows
    drop : names or globs of columns to leave out
    may_drop : the same, of columns that need not be there
    categorical : names or globs of columns of numbers that are categories
    pictures : a column that names picture files, from where the table lies; for reports
    format : csv, tsv, arff, svmlight, npz or parquet; by default the file's suffix tells
    like : inputs and outputs of another table, which an svmlight file has too, as zeros, where it does not
        mention them
    """
    if not paths:
        raise DataError("name at least one file to read")
    asked = str(outputs) if isinstance(outputs, Path) else outputs
    selection = Selection.of(asked, id, drop, categorical, pictures, may_drop)
    selection = replace(selection, strict=like is None)  # else the columns are compared afterwards
    parts = []
    for path in paths:
        source = Source(str(path))
        kind = format or format_of(source)
        # Outputs of another table need not all be mentioned in an svmlight file, which marks its own.
        mine = replace(selection, outputs=None) if like is not None and kind == "svmlight" else selection
        parts.append(READERS[kind](source, mine))
    return concatenated(parts, like)


def format_of(source: Source) -> str:
    """The format a file's suffix tells; standard input is CSV unless told otherwise."""
    if source.path == "-":
        return "csv"
    if Path(source.path).is_dir():
        source.refuse("this is a folder; name a file in it")
    if source.suffix not in SUFFIXES:
        known = ", ".join(sorted(SUFFIXES))
        source.refuse(f"the suffix does not tell the format; it may be {known} (or give the format)")
    return SUFFIXES[source.suffix]

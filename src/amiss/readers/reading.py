"""Files become one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from amiss.data.dataset import Dataset
from amiss.errors import DataError
from amiss.readers.formats import find_format
from amiss.readers.part import concatenated
from amiss.readers.select import Selection
from amiss.readers.source import Source


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
    """Read one table from one or several files with the same columns.

    Parameters
    ----------
    paths : files, plain or gzipped; ``-`` is standard input
    outputs : which columns are outputs: names or globs (``"tag_*"``), separated by commas or as a
        list, a Mulan XML file, or ``"last:14"``. Svmlight and npz files mark their own outputs.
    id : the column that identifies the rows
    drop : names or globs of columns to leave out
    may_drop : the same, for columns that need not exist
    categorical : names or globs of numeric columns that hold categories
    pictures : the column with the paths of picture files, relative to the table; for reports
    format : csv, tsv, arff, svmlight, npz or parquet; by default the file's suffix decides
    like : the inputs and outputs of another table. Where an svmlight file does not mention one of them,
        it is zero in all rows.
    """
    if not paths:
        raise DataError("give at least one file to read")
    asked = str(outputs) if isinstance(outputs, Path) else outputs
    selection = Selection.of(asked, id, drop, categorical, pictures, may_drop)
    selection = replace(selection, strict=like is None)  # otherwise the columns are compared later
    parts = []
    for source in (Source(str(path)) for path in paths):
        found = find_format(source, format)
        # A file that omits columns need not mention all outputs of the other table; it marks its own.
        marks_its_own = like is not None and found.may_omit_columns
        parts.append(found.read(source, replace(selection, outputs=None) if marks_its_own else selection))
    return concatenated(parts, like)

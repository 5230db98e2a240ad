"""Formats: found by name or by suffix, each in one place."""

from __future__ import annotations

import pytest

import amiss
from amiss.errors import DataError
from amiss.readers.formats import find_format, formats_by_suffix
from amiss.readers.registry import FORMATS
from amiss.readers.source import Source


def test_each_format_has_one_name_and_suffixes_of_its_own():
    suffixes = [suffix for each in FORMATS.values() for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes)) == len(formats_by_suffix())
    assert all(name == each.name and each.description for name, each in FORMATS.items())


@pytest.mark.parametrize(
    ("path", "name", "found"),
    [
        ("t.csv", None, "csv"),
        ("T.TXT.GZ", None, "csv"),
        ("t.tab", None, "tsv"),
        ("t.libsvm", None, "svmlight"),
        ("t.pq", None, "parquet"),
        ("t.XLSM", None, "excel"),
        ("t.sqlite3", None, "sqlite"),
        ("t.duckdb", None, "duckdb"),
        ("t.feather", None, "arrow"),
        ("t.ndjson.gz", None, "jsonl"),
        ("t.json", None, "json"),
        ("t.csv", "arff", "arff"),
        ("-", None, "csv"),
        ("-", "npz", "npz"),
    ],
)
def test_a_name_comes_before_the_suffix(path, name, found):
    assert find_format(Source(path), name).name == found


def test_unknown_formats_and_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"no\.csv: there is no such file"):
        amiss.read(tmp_path / "no.csv", outputs="y")
    with pytest.raises(DataError, match="this is a folder"):
        amiss.read(tmp_path, outputs="y", format="csv")
    with pytest.raises(DataError, match="this is a folder"):
        amiss.read(tmp_path, outputs="y")
    with pytest.raises(DataError, match=r"t\.docx: unknown suffix; use one of \.arff, \.arrow, \.csv"):
        amiss.read(tmp_path / "t.docx", outputs="y")
    with pytest.raises(DataError, match="there is no format 'word'; choose one of csv, tsv"):
        amiss.read(tmp_path / "t.csv", outputs="y", format="word")
    with pytest.raises(DataError, match="at least one file"):
        amiss.read(outputs="y")

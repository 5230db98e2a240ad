"""amiss check, then amiss find, on one table as other programs write it (tests/tables), without editing it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

TABLES = Path(__file__).parents[1] / "tables"
ENCODINGS = {"excel-de-de.csv": "cp1252", "excel-en-us.csv": "cp1252", "excel-ja-jp.csv": "cp932"}
FILES = sorted(path.name for path in TABLES.iterdir() if path.is_file() and path.suffix not in (".py", ".md"))
ROLES = {
    "patient": ("id", ""),
    "age": ("input", "number"),
    "ward": ("input", "category"),
    "seen": ("input", "date"),
    "tag_a": ("output", "binary"),
    "tag_b": ("output", "binary"),
}


@pytest.mark.parametrize("name", FILES)
def test_it_is_checked_and_its_rows_are_ranked(amiss, tmp_path, name):
    shutil.copy(TABLES / name, tmp_path)
    asked = [name, "--outputs", "tag_*", "--id", "patient"]
    asked += ["--encoding", ENCODINGS[name]] if name in ENCODINGS else []
    checked = json.loads(amiss("check", *asked, "--json").out)
    assert {each["column"]: (each["role"], each["kind"]) for each in checked["columns"]} == ROLES
    done = amiss("find", *asked, "-o", "found.csv")
    assert done.code == 0, done.err
    assert "12 rows, 4 inputs, 2 outputs" in done.out and "seen (dates as" in done.out
    assert len((tmp_path / "found.csv").read_text().splitlines()) == 13

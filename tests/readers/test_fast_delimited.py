"""The fast reader of CSV files reads what the careful one reads, or leaves the file to it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.fuzz_fast_csv import outcome

import amiss
from amiss.readers import fast_delimited
from amiss.readers.delimited import read_with_care
from amiss.readers.fast_delimited import read_fast
from amiss.readers.select import Selection
from amiss.readers.source import Source

HERE = Path(__file__).parents[1]
SELECTION = Selection.of("tag_*", "name")


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Small files are read as large ones are, in several blocks."""
    monkeypatch.setattr(fast_delimited, "WORTH_IT", 0)
    monkeypatch.setattr(fast_delimited, "BLOCK", 512)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "name": [f"é {i}" for i in range(200)],
            "age": rng.normal(size=200) * 10.0 ** rng.integers(-12, 12, 200),
            "whole": rng.integers(10**17, size=200),
            "ward": rng.choice(["eyes", " skin", "NA", "ear "], 200),
            "nothing": np.nan,
            "day": "2026-11-19",
            "true": rng.random(200) < 0.5,
            "tag_a": rng.integers(2, size=200),
            "tag_b": np.where(rng.random(200) < 0.1, np.nan, rng.integers(2, size=200)),
        }
    )


def both(path, selection=SELECTION):
    source = Source(str(path))
    return (outcome(read, source, selection) for read in (read_fast, read_with_care))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_both_readers_read_alike(tmp_path, table, separator, ending):
    table.to_csv(tmp_path / "t.csv", index=False, sep=separator, lineterminator=ending)
    for selection in (SELECTION, Selection.of("tag_*", drop="name", categorical="whole")):
        fast, careful = both(tmp_path / "t.csv", selection)
        assert fast == careful
        assert not isinstance(fast, str) and fast is not None


def test_gzip_and_a_byte_order_mark(tmp_path, table):
    content = table.to_csv(index=False).encode()
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + content))
    fast, careful = both(tmp_path / "t.csv.gz")
    assert fast == careful is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"eyes", b'"eyes"'),
        (b"eyes", b"eyes,"),
        (b"\n", b"\n\n"),
        (b"\n", b"\r"),
        (b"eyes", b"\xff"),
        (b"eyes", b"\0"),
        (b"eyes", b"7"),  # a number among texts
        (b"eyes", b"x" * 100_001),
    ],
)
def test_what_might_be_read_otherwise_is_left_to_the_careful_reader(tmp_path, table, old, new):
    content = table.to_csv(index=False).encode()
    assert old in content
    (tmp_path / "t.csv").write_bytes(content.replace(old, new, 60))
    assert read_fast(Source(str(tmp_path / "t.csv")), SELECTION, None) is None


def test_a_broken_cell_is_told_by_its_line_as_ever(tmp_path, table):
    lines = table.to_csv(index=False).splitlines()
    lines[150] = lines[150].replace("2026-11-19", "2026-11-19,")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with pytest.raises(amiss.DataError, match=r"t\.csv, line 151: the row has 10 cells, but 9 columns are named"):
        amiss.read(tmp_path / "t.csv", outputs="tag_*", id="name")


def test_pandas_is_not_imported():
    code = (
        "import pathlib, sys, tempfile\n"
        "from amiss.readers import fast_delimited as f; f.WORTH_IT = 0\n"
        "path = pathlib.Path(tempfile.mkdtemp()) / 't.csv'\n"
        "path.write_text('a,b,c\\n1,x,0\\n,y,1\\n')\n"
        "from amiss.readers.select import Selection; from amiss.readers.source import Source\n"
        "assert f.read_fast(Source(str(path)), Selection.of('c'), None) is not None\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def fuzzed(inputs, seed):
    command = [sys.executable, "-m", "support.fuzz_fast_csv", "--inputs", str(inputs), "--seed", str(seed)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_mutated_files_are_read_alike():
    counts = fuzzed(2000, 0)
    assert counts["read"] > 100 and counts["left"] > 100


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_a_million_mutated_files_are_read_alike(seed):
    counts = fuzzed(100_000, seed)
    print(counts)
    assert counts["read"] > 1000

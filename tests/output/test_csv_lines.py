"""Lists as CSV are what Python's csv module writes."""

from __future__ import annotations

import csv
import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from amiss.output.arrow_lines import arrow_lines
from amiss.output.list_columns import Coded
from amiss.output.list_formats import csv_lines, csv_texts, harmless

texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(['"', "a,b", "a\rb", "=1", "\n", ""])
cells = st.none() | st.integers() | st.floats(allow_nan=False) | texts


@given(st.lists(st.tuples(cells, cells, st.floats(allow_nan=False)), max_size=20))
def test_lines_are_those_of_the_csv_module(rows):
    stream = io.StringIO()
    # The module quotes a cell with a line end of either kind only if it ends its own lines by both.
    writer = csv.writer(stream, lineterminator="\r\n")
    written = []
    for row in rows:
        writer.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in row])
        written.append(stream.getvalue().removesuffix("\r\n") + "\n")
        stream.seek(0)
        stream.truncate()
    columns = {f"c{i}": [row[i] for row in rows] for i in range(3)}
    assert list(csv_lines(columns)) == written


@given(st.lists(st.tuples(texts, cells), min_size=1, max_size=20))
def test_what_is_written_is_read_again(rows):
    lines = csv_lines({"text": [row[0] for row in rows], "cell": [row[1] for row in rows]})
    read = csv.reader(io.StringIO("".join(lines), newline=""))
    assert [cells[0] for cells in read] == [harmless(row[0]) for row in rows]


numbers = st.floats(allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1e-5, 9.99999e-5, 1e-4, 12.0, 1234570.0, 1e9, 1e16]
)


@given(
    st.lists(st.tuples(numbers, st.integers(-(2**62), 2**62), st.integers(-1, 2), cells), min_size=1, max_size=20),
    st.lists(texts, min_size=3, max_size=3, unique=True),
)
def test_pyarrow_writes_the_same_bytes(rows, names):
    values, whole, codes, other = zip(*rows, strict=True)
    columns = {
        "number": np.array(values),
        "whole": np.array(whole),
        "name": Coded(np.array(codes), names),
        "cell": list(other),
    }
    assert arrow_lines(columns, csv_texts) == "".join(csv_lines(columns)).encode()
    assert arrow_lines({"cell": list(other)}, csv_texts) == "".join(csv_lines({"cell": list(other)})).encode()

"""A point between thousands, where it looks like the point before three decimals."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from support.files import read_text

import amiss
from amiss import DataError
from amiss.readers import fast_delimited

N = 60
GROUPED = [f"{1 + i % 9}.{i:03d}" if i % 3 else str(100 + i) for i in range(N)]
AMOUNTS = [float(cell.replace(".", "")) for cell in GROUPED]
WHOLE = [str(i * 37 % 101) for i in range(N)]


def written(delimiter, **columns):
    rows = zip(*columns.values(), (str(i % 2) for i in range(N)), strict=True)
    return "\n".join(delimiter.join(row) for row in [(*columns, "y"), *rows]) + "\n"


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("mark", ["12", "."])
def test_decimal_commas_elsewhere_make_the_point_one_of_thousands(tmp_path, delimiter, mark):
    commas = [f"{i},5" for i in range(N)]
    data = read_text(tmp_path, written(delimiter, cost=[mark, *GROUPED[1:]], size=commas))
    expected = [np.nan if mark == "." else 12.0, *AMOUNTS[1:]]
    np.testing.assert_array_equal(data.X.values, np.column_stack([expected, np.arange(N) + 0.5]))
    assert "cost (decimal comma, thousands point" in data.notes[0] and data.columns["cost"]["thousands"] == "."


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_points_elsewhere_make_it_one_of_decimals(tmp_path, delimiter):
    data = read_text(tmp_path, written(delimiter, cost=GROUPED, size=[f"{i}.5" for i in range(N)]))
    np.testing.assert_array_equal(data.X.values[:, 0], [float(cell) for cell in GROUPED])


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("fast", [False, True])
def test_where_nothing_decides_the_user_does(tmp_path, monkeypatch, delimiter, fast):
    monkeypatch.setattr(fast_delimited, "WORTH_IT", 0 if fast else 1 << 20)
    text = written(delimiter, cost=GROUPED, size=WHOLE)
    with pytest.raises(DataError, match=r"'cost': .*two ways.*\(decimal = \"\.\" or thousands = \"\.\" in"):
        read_text(tmp_path, text)
    for said, values in (
        ({"decimal": ","}, AMOUNTS),
        ({"thousands": "."}, AMOUNTS),
        ({"decimal": "."}, [float(cell) for cell in GROUPED]),
    ):
        data = read_text(tmp_path, text, columns={"cost": said})
        np.testing.assert_array_equal(data.X.values[:, 0], values)


@pytest.mark.parametrize(
    "cells",
    [
        ["0.500", *GROUPED[1:]],
        ["1345", *GROUPED[1:]],
        ["1.25", *GROUPED[1:]],
        ["1.234", "5.678", "9.876", "1.111", *WHOLE[4:]],
    ],
)
def test_plain_measurements_are_not_asked_about(tmp_path, cells):
    for delimiter in ";\t":
        data = read_text(tmp_path, written(delimiter, cost=cells, size=WHOLE))
        np.testing.assert_array_equal(data.X.values[:, 0], [float(cell) for cell in cells])


def test_a_file_with_commas_between_cells_is_read_as_ever(tmp_path):
    data = read_text(tmp_path, written(",", cost=GROUPED, size=WHOLE))
    np.testing.assert_array_equal(data.X.values[:, 0], [float(cell) for cell in GROUPED])


def test_thousands_of_different_amounts(tmp_path):
    rows = "".join(f"{1 + i // 1000}.{i % 1000:03d};{i},5;{i % 2}\n" for i in range(3000))
    data = read_text(tmp_path, f"cost;size;y\n{rows}")
    np.testing.assert_array_equal(data.X.values[:, 0], np.arange(3000) + 1000)


@pytest.mark.parametrize("said", [{"output": "number"}, {"kind": "number", "output": "number"}])
def test_an_output_that_is_said_to_be_a_number_is_read_as_one(tmp_path, said):
    pd.DataFrame({"a": np.arange(N) / 7, "dose": [str(i) for i in range(N)]}).to_excel(tmp_path / "t.xlsx")
    data = amiss.read(tmp_path / "t.xlsx", columns={"dose": {"role": "output", **said}})
    assert data.Y.values[:, 0].tolist() == list(range(N)) and data.Y.kinds[0].kind.name == "number"


@pytest.mark.parametrize("suffix", [".xlsx", ".json", ".sqlite"])
def test_numbers_of_the_file_beside_texts_with_a_comma_and_a_unit(tmp_path, suffix):
    weights = np.arange(N) + 50.3
    cells = [f"{each:.1f} kg".replace(".", ",") if i % 3 else float(each) for i, each in enumerate(weights)]
    frame, path = pd.DataFrame({"weight": cells, "y": np.arange(N) % 2}), tmp_path / f"t{suffix}"
    if suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif suffix == ".json":
        frame.to_json(path, orient="records")
    else:
        with closing(sqlite3.connect(path)) as database:
            database.execute("create table t (weight, y)")
            database.executemany("insert into t values (?, ?)", zip(cells, [i % 2 for i in range(N)], strict=True))
            database.commit()
    with pytest.raises(
        DataError, match=r"'weight': some numbers have the unit kg .*\(unit = \"kg\" in columns.toml"
    ):
        amiss.read(path, outputs="y")
    for said in ({"unit": "kg"}, {"unit": "kg", "decimal": ","}):
        data = amiss.read(path, outputs="y", columns={"weight": said})
        np.testing.assert_allclose(data.X.values[:, 0], weights)
    later = amiss.read(path, outputs="y", columns=data.columns, like=(data.input_names, data.output_names))
    np.testing.assert_allclose(later.X.values[:, 0], weights)

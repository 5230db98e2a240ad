"""A few texts that are not of the kind of their column: mistakes are refused, marks of missing cells are not."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

import amiss
from amiss import DataError

N = 100
EACH = np.arange(N)


@pytest.fixture
def read(tmp_path):
    def of(y, **columns):
        pd.DataFrame({"a": EACH / 7, "y": y, **columns}).to_csv(tmp_path / "t.csv", index=False)
        return lambda **options: amiss.read(tmp_path / "t.csv", **{"outputs": "y", **options})

    return of


def with_others(yes, no, *others):
    cells = [yes if i % 3 else no for i in range(N)]
    cells[10 : 10 + len(others)] = others
    return cells


@pytest.mark.parametrize("coding", ["ja/nein", "J/N", "yes/no", "oui/non"])
@pytest.mark.parametrize("marks", [["k.A.", "k.A.", "."], ["n.b."], ["unbekannt", "-"], ["Keine Angabe", "n/a"]])
def test_marks_of_missing_cells_among_yes_and_no_are_missing(read, coding, marks):
    yes, no = coding.split("/")
    read = read(with_others(yes, no, *marks))
    data = read()
    expected = (EACH % 3 > 0).astype(float)
    expected[10 : 10 + len(marks)] = np.nan
    np.testing.assert_array_equal(data.Y.values[:, 0], expected)
    assert data.Y.kinds == () and "missing" in data.notes[0]
    later = read(columns=data.columns, like=(data.input_names, data.output_names))
    np.testing.assert_array_equal(later.Y.values, data.Y.values)


@pytest.mark.parametrize("coding", ["ja/nein", "J/N", "yes/no"])
def test_a_text_beside_yes_and_no_is_refused_with_the_ways_on(read, tmp_path, coding):
    read = read(with_others(*coding.split("/"), "k.A.", "nien", "nien"))
    with pytest.raises(DataError) as caught:
        read()
    message = str(caught.value)
    assert "t.csv, line 13, column 'y': this is neither yes nor no (2 of 100 cells are neither);" in message
    assert 'missing = ["..."]' in message and "--kinds NAME=class" in message and "\n" not in message
    assert read(output_kinds={"y": "class"}).Y.kinds[0].kind.name == "class"
    assert read(columns={"y": {"missing": ["nien"]}}).Y.kinds == ()
    assert "line 13" in amiss.check(tmp_path / "t.csv", outputs="y").problem


def test_a_third_level_that_is_not_rare_makes_a_class(read):
    assert read(with_others("ja", "nein", *["offen"] * 6))().Y.kinds[0].kind.name == "class"


DAYS = [datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(N)]


def test_dates_of_which_some_are_written_otherwise_are_no_identifier(tmp_path):
    day = [
        f"{each:%d.%m.%Y}" if i % 8 == 7 else datetime.datetime(*each.timetuple()[:3])
        for i, each in enumerate(DAYS)
    ]
    table = pd.DataFrame({"a": EACH / 7, "y": EACH % 2, "day": day})
    table.to_excel(tmp_path / "t.xlsx", index=False)
    table.to_csv(tmp_path / "t.csv", index=False)
    for name in ("t.xlsx", "t.csv"):
        found = amiss.check(tmp_path / name, outputs="y")["day"]
        assert found.needs_decision and found.role == "input"
        assert found.seen == "88 dates, 12 texts in another form"
        with pytest.raises(DataError, match=r"'day': this is not a date.* 12 texts.*write all dates in one way"):
            amiss.read(tmp_path / name, outputs="y")


def test_a_date_is_no_output(read, tmp_path):
    with pytest.raises(DataError, match="column 'y': a date is no output; enter the number of days"):
        read(DAYS)()
    assert "a date is no output" in amiss.check(tmp_path / "t.csv", outputs="y").problem


def test_a_rare_level_that_looks_like_another_is_noted(read, tmp_path):
    cells = [("Pneumonie", "Sepsis", "COPD", "grade 10")[i % 4] for i in range(N)]
    cells[5:9] = ["Pneunomie", "copd", "copd", "grade 11"]
    [*_, note] = read(cells)().notes
    assert note == (
        "Output \"y\": level seen once that resembles another: 'Pneunomie' ('Pneumonie'); "
        "level seen twice that resembles another: 'copd' ('COPD')."
    )
    found = amiss.check(tmp_path / "t.csv", outputs="y")["y"]
    assert found.remark == note.removeprefix('Output "y": ').removesuffix(".")
    assert not any(
        "resembles" in each for each in read([each.replace("grade 11", "other") for each in "ab" * 50])().notes
    )


def test_an_output_of_counts_is_said_to_hold_whole_numbers(read, tmp_path):
    read(EACH % 7)
    assert amiss.check(tmp_path / "t.csv", outputs="y")["y"].seen == "whole numbers"

"""Columns of texts become numbers, dates, yes and no, or words; what needs a decision is said at once."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from support.files import read_text

import amiss
from amiss import DataError
from amiss.readers import fast_delimited

N = 60
DAYS = pd.date_range("2023-01-01", periods=N, freq="10D")


def table(**columns):
    return pd.DataFrame({"y": [i % 2 for i in range(N)], **columns})


@pytest.fixture(params=["careful", "fast", "gzip", "parquet"])
def read(request, tmp_path, monkeypatch):
    """Write a frame in some way and read it back."""

    def again(frame, **options):
        options = {"outputs": "y", **options}
        if request.param == "parquet":
            frame.to_parquet(tmp_path / "t.parquet")
            return amiss.read(tmp_path / "t.parquet", **options)
        content = frame.to_csv(index=False, sep="\t").encode()
        if request.param == "fast":
            monkeypatch.setattr(fast_delimited, "WORTH_IT", 0)
        name = "t.tsv.gz" if request.param == "gzip" else "t.tsv"
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        return amiss.read(tmp_path / name, **options)

    return again


def test_texts_of_many_kinds_become_numbers_in_every_format(read):
    kg, seconds = np.arange(N) / 2 + 50, np.arange(N) * 60
    data = read(
        table(
            weight=[f"{each:.1f} kg".replace(".", ",") for each in kg],
            income=[f"{1234567 + i:,}" for i in range(N)],
            day=[each.strftime("%d.%m.%Y") for each in DAYS],
            stay=[f"{int(each) // 3600} h {int(each) % 3600 // 60} min" for each in seconds],
            share=[f"{i} %" for i in range(N)],
            ward=["eyes" if i % 3 else "skin" for i in range(N)],
        )
    )
    assert data.input_names == (
        "weight", "income", "day", "day (month)", "day (weekday)", "stay", "share", "ward",
    )  # fmt: skip
    days = (DAYS - pd.Timestamp("1970-01-01")).days
    for name, expected in (
        ("weight", kg),
        ("income", 1234567 + np.arange(N)),
        ("day", days),
        ("stay", seconds),
        ("share", np.arange(N)),
    ):
        np.testing.assert_array_equal(data.X.column(data.input_names.index(name)), expected, name)
    decoded = pd.DataFrame(np.asarray(data.X), columns=data.input_names)
    assert decoded["day (month)"].tolist() == DAYS.strftime("%m %b").tolist()
    assert [text[2:] for text in decoded["day (weekday)"]] == DAYS.strftime("%a").tolist()
    assert sorted(data.columns) == ["day", "income", "share", "stay", "weight"]
    [note] = data.notes
    assert "weight (numbers in kg, decimal comma); income (thousands comma); day (dates as D.M.Y)" in note


@pytest.mark.parametrize("n_rows", [90, 9000])
@pytest.mark.parametrize("mark", [".", ".a", "-", "--", "n.a.", "missing"])
def test_marks_of_missing_cells_among_numbers_are_missing(tmp_path, n_rows, mark):
    cells = [mark if i == n_rows - 5 else f"{i}.5" for i in range(n_rows)]
    data = read_text(tmp_path, "a,y\n" + "\n".join(f"{cell},{i % 2}" for i, cell in enumerate(cells)))
    assert np.flatnonzero(np.isnan(data.X.values[:, 0])).tolist() == [n_rows - 5]
    assert data.notes == (f'Read as: a ("{mark}" is missing).',)


def test_a_mark_among_categories_is_a_category(tmp_path):
    rows = "".join(f"{'-' if i % 3 else 'skin'},{i % 2}\n" for i in range(30))
    data = read_text(tmp_path, f"a,y\n{rows}")
    assert data.X.levels == {0: ("-", "skin")} and data.notes == ()


def test_thousands_that_come_late_are_read_with_all_rows_before(tmp_path):
    """After a thousand different plain numbers the column counts as numeric, and the file is read again."""
    cells = [f"{i / 2}".replace(".", ",") for i in range(3000)] + ["1.234,5"]
    rows = "\n".join(f"{cell};{i % 2}" for i, cell in enumerate(cells))
    data = read_text(tmp_path, f"a;y\n{rows}")
    np.testing.assert_array_equal(data.X.values[:, 0], [*(np.arange(3000) / 2), 1234.5])


def test_many_columns_with_late_marks_are_read_again_only_a_few_times(tmp_path):
    frame = pd.DataFrame(np.arange(20_000).reshape(2000, 10) / 4, columns=list("abcdefghij")).astype(str)
    for place, name in enumerate(frame):
        frame.loc[1500 + place, name] = "."
    frame["y"] = [i % 2 for i in range(2000)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    values = amiss.read(tmp_path / "t.csv", outputs="y").X.values
    expected = np.arange(20_000).reshape(2000, 10) / 4
    expected[1500 + np.arange(10), np.arange(10)] = np.nan
    np.testing.assert_array_equal(values, expected)


def test_one_column_is_decided_over_all_files(tmp_path):
    for name, cells in (("1", ["1,5", "2,5"]), ("2", ["3", "4"])):
        pd.DataFrame({"a": cells, "y": [0, 1]}).to_csv(tmp_path / f"{name}.tsv", index=False, sep="\t")
    for names in (("1", "2"), ("2", "1")):
        data = amiss.read(*(tmp_path / f"{name}.tsv" for name in names), outputs="y")
        assert sorted(data.X.values[:, 0]) == [1.5, 2.5, 3, 4]


def test_every_column_that_needs_a_decision_is_in_one_message(tmp_path):
    frame = table(
        note=[f"seen on day {i} with fever" for i in range(N)],
        kg=["70 kg" if i % 2 else f"{i} lb" for i in range(N)],
        day=["03/04/2024", "05/06/2024"] * (N // 2),
        b=["x" if i == 7 else i for i in range(N)],
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError) as caught:
        amiss.read(tmp_path / "t.csv", outputs="y")
    assert str(caught.value).endswith(
        't.csv: 4 columns need a decision: "note" (free text), "kg" (several units), "day" (day or month first) '
        f'and "b" (numbers and texts); run amiss check {tmp_path}/t.csv'
    )
    said = {"note": {"role": "text"}, "kg": {"role": "drop"}, "day": {"kind": "date", "format": "M/D/Y"}}
    data = amiss.read(tmp_path / "t.csv", outputs="y", columns={**said, "b": {"kind": "number", "missing": ["x"]}})
    day = data.X.column(data.input_names.index("day"))
    assert set(day.tolist()) == {19786.0, 19849.0}  # 4 March and 6 May 2024
    assert np.flatnonzero(np.isnan(data.X.column(data.input_names.index("b")))).tolist() == [7]


@pytest.mark.parametrize(
    ("cell", "rest", "problem"),
    [
        ("12o", "{i}.5", "this is not a number"),
        ("12y", "{i}.5", "this is not a number"),
        ("1,5", "{i}.5", "this is not a number"),
        ("tomorrow", "2024-01-{i:02d}", "this is not a date"),
        ("2024-02-30", "2024-01-{i:02d}", "this is not a date"),
        ("heavy", "{i} kg", "this is not a number"),
        ("long", "{i} h 5 min", "this is not a duration"),
    ],
)
def test_one_stray_text_is_named_by_its_line(tmp_path, cell, rest, problem):
    cells = [cell if i == 27 else rest.format(i=i + 1) for i in range(31)]
    with pytest.raises(DataError, match=rf"t\.csv, line 29, column 'a': {problem}") as caught:
        read_text(tmp_path, "a\ty\n" + "".join(f"{each}\t{i % 2}\n" for i, each in enumerate(cells)))
    assert cell not in str(caught.value)


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("Y", "N"),
        ("yes", "no"),
        ("T", "F"),
        ("TRUE", "FALSE"),
        ("ja", "nein"),
        ("oui", "non"),
        ("sí", "no"),
        ("x", ""),
    ],
)
def test_outputs_of_yes_and_no_in_any_coding(read, yes, no):
    data = read(table(a=np.arange(N), y=[yes if i % 3 else no for i in range(N)]))
    assert data.Y.values[:, 0].tolist() == [float(i % 3 > 0) for i in range(N)]
    assert data.Y.kinds == ()


def test_inputs_of_yes_and_no_stay_categories(read):
    data = read(table(a=["ja" if i % 3 else "nein" for i in range(N)]))
    assert data.X.levels == {0: ("ja", "nein")}


def test_one_and_two_are_yes_and_no_if_said(read):
    frame = table(a=np.arange(N), y=[i % 2 + 1 for i in range(N)], z=[i % 2 for i in range(N)])
    data = read(frame, outputs="y,z", true="1", false="2")
    assert data.Y.values.tolist() == [[float(i % 2 == 0), float(i % 2)] for i in range(N)]


def test_yes_is_not_said_without_no(tmp_path):
    table(a=np.arange(N)).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match="give both"):
        amiss.read(tmp_path / "t.csv", outputs="y", true="1")


def test_identifiers_are_left_out_with_a_remark(tmp_path):
    frame = table(name=[f"case {i}" for i in range(N)], a=np.arange(N) ** 2)
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = amiss.read(tmp_path / "t.csv", outputs="y")
    assert data.input_names == ("a",) and data.left_out == ("name",)
    assert data.notes == (
        'Column "name" holds 60 different texts in 60 rows and looks like an identifier, so it is no input. To '
        "see it in the list, pass --id name.",
    )
    assert amiss.read(tmp_path / "t.csv", outputs="y", group="name").groups.names == ("name",)


def test_words_of_free_text_become_inputs(tmp_path):
    words = ["fever", "cough", "pain"]
    notes = [f"{words[i % 3]} since {['monday', 'friday'][i % 2]} case{i} now" for i in range(N)]
    frame = table(note=notes)
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = amiss.read(tmp_path / "t.csv", outputs="y", text="note")
    assert data.input_names == tuple(f"note: {word}" for word in ("cough", "fever", "friday", "monday", "pain"))
    expected = [[name.removeprefix("note: ") in note.split() for name in data.input_names] for note in notes]
    np.testing.assert_array_equal(data.X.values, expected)
    frame.assign(note="cough and more").to_csv(tmp_path / "new.csv", index=False)
    new = amiss.read(tmp_path / "new.csv", outputs="y", columns=data.columns)
    assert new.input_names == data.input_names and (new.X.values == [1, 0, 0, 0, 0]).all()


def test_what_was_told_reads_other_files_alike(tmp_path):
    frame = table(kg=[f"{i},5 kg" for i in range(N)], day=[each.strftime("%d/%m/%Y") for each in DAYS])
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    data = amiss.read(tmp_path / "t.tsv", outputs="y")
    pd.DataFrame({"y": [0], "kg": ["1.234,5 kg"], "day": ["03/04/2024"]}).to_csv(
        tmp_path / "new.tsv", index=False, sep="\t"
    )
    new = amiss.read(tmp_path / "new.tsv", outputs="y", columns=data.columns)
    assert new.input_names == data.input_names
    assert new.X.values[0, :2].tolist() == [1234.5, 19816]  # 3 April 2024
    for column, cell in (("kg", "7 lb"), ("kg", "1.5 kg"), ("day", "04/13/2024")):
        frame.assign(**{column: cell}).to_csv(tmp_path / "new.tsv", index=False, sep="\t")
        with pytest.raises(DataError, match=rf"new\.tsv, line 2, column '{column}': this is no (number|date)"):
            amiss.read(tmp_path / "new.tsv", outputs="y", columns=data.columns)


def test_options_win_over_what_is_said_of_columns(tmp_path):
    frame = table(a=np.arange(N), b=["eyes" if i % 3 else "skin" for i in range(N)])
    frame.assign(z=[i % 3 == 0 for i in range(N)]).to_csv(tmp_path / "t.csv", index=False)
    said = {"y": {"role": "output"}, "z": {"role": "output"}, "b": {"role": "id"}}
    data = amiss.read(tmp_path / "t.csv", columns=said)
    assert (data.output_names, data.input_names, data.id_column) == (("y", "z"), ("a",), "b")
    data = amiss.read(tmp_path / "t.csv", outputs="y", id="a", columns=said)
    assert (data.output_names, data.input_names, data.id_column) == (("y",), ("z",), "a")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("{i}.5", [0.5, 1.5]),
        ("2024-01-{i:02d}", [19723, 19724]),
        ("{i} kg", [0, 1]),
        ("ward {j}", ["ward 0", "ward 1"]),
    ],
)
def test_what_is_said_to_be_missing_is_missing_whatever_the_column_holds(tmp_path, cell, expected):
    cells = ["unknown" if i == 7 else cell.format(i=i % 28 + (cell[0] == "2"), j=i % 2) for i in range(N)]
    table(a=cells).to_csv(tmp_path / "t.csv", index=False)
    said = {"a": {"missing": ["Unknown"]}}
    data = amiss.read(tmp_path / "t.csv", outputs="y", columns=said)
    column = np.asarray(data.X)[:, 0]
    assert pd.isna(column).nonzero()[0].tolist() == [7] and data.columns["a"]["missing"] == ["Unknown"]
    assert column[:2].tolist() == expected
    new = amiss.read(tmp_path / "t.csv", outputs="y", columns=data.columns)
    np.testing.assert_array_equal(new.X.values, data.X.values)


@pytest.mark.parametrize(
    ("usual", "other", "problem"),
    [
        ("{i} kg", "7 lb", "the numbers have several units"),
        ("{i} kg", "7", "some numbers have the unit kg and some have none"),
        ("{i},5 kg", "1.5 kg", "the point and the comma each"),
    ],
)
def test_a_column_that_contradicts_itself_names_the_line_that_differs(tmp_path, usual, other, problem):
    table(a=[other if i in (20, 30) else usual.format(i=i) for i in range(N)]).to_csv(
        tmp_path / "t.csv", index=False
    )
    with pytest.raises(DataError, match=rf"t\.csv, line 22, column 'a': {problem}"):
        amiss.read(tmp_path / "t.csv", outputs="y")


def test_a_kind_that_is_said_is_insisted_on(tmp_path):
    table(a=["eyes" if i % 3 else "skin" for i in range(N)]).to_csv(tmp_path / "t.csv", index=False)
    for kind, noun in (
        ("number", "number"),
        ("date", "date"),
        ("duration", "duration"),
        ("percentage", "percentage"),
    ):
        with pytest.raises(DataError, match=rf"t\.csv, line 2, column 'a': this is no {noun}"):
            amiss.read(tmp_path / "t.csv", outputs="y", columns={"a": {"kind": kind}})


def test_a_column_that_is_not_there_is_said_with_the_nearest(tmp_path):
    table(weight=np.arange(N)).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match=r"no column matches 'wieght'; did you mean 'weight'"):
        amiss.read(tmp_path / "t.csv", outputs="y", columns={"wieght": {"unit": "kg"}})

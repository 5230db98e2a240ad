"""Kinds of outputs: told from their cells, or said; what is ambiguous is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from amiss.data.columns import Columns
from amiss.data.output_kinds import CLASS, NUMBER, OutputColumn, checked_kinds
from amiss.data.table import output_columns
from amiss.data.validation import as_outputs
from amiss.errors import DataError

N = 40
EACH = np.arange(N)
TAG, TEXTS = (EACH % 2).astype(float), np.array(["red", "green", "blue"])[EACH % 3]


def kinds_of(frame, **options):
    return {column.name: column.kind.name for column in output_columns(as_outputs(frame, **options))}


def test_kinds_are_told_from_the_cells():
    frame = pd.DataFrame(
        {
            "tag": TAG,
            "colour": TEXTS,
            "lesions": EACH % 7,
            "dose": EACH / 3,
            "balance": EACH - 20,
            "side": EACH % 2 + 1,
        }
    )
    assert kinds_of(frame) == {
        "tag": "binary", "colour": "class", "lesions": "count", "dose": "number", "balance": "number",
        "side": "class",
    }  # fmt: skip


def test_tables_of_tags_have_no_kinds_to_speak_of():
    assert as_outputs(np.column_stack([TAG, 1 - TAG])).kinds == ()


def test_missing_cells_stay_missing_whatever_the_kind():
    frame = pd.DataFrame(
        {"colour": pd.Series(TEXTS).where(EACH != 3), "dose": np.where(EACH == 4, np.nan, EACH / 3)}
    )
    values = as_outputs(frame).values
    assert np.argwhere(np.isnan(values)).tolist() == [[3, 0], [4, 1]]


@pytest.mark.parametrize("stray", [2, -1, 0.5])
def test_a_column_of_0_and_1_with_a_stray_value_is_refused_where_it_stands(stray):
    cells = TAG.copy()
    cells[17] = stray
    with pytest.raises(DataError, match=r"row 17, column 'y0': an output must be 0 or 1.*--kinds"):
        as_outputs(cells)
    assert kinds_of(cells, kinds={"y0": "number"}) == {"y0": "number"}


def test_a_number_that_is_mostly_0_and_once_1_is_no_tag():
    rain = np.zeros(500)
    rain[[3, 50, 120, 300]] = [0.1, 0.3, 0.2, 1.0]
    assert kinds_of(rain) == {"y0": "number"}


def test_a_tag_with_a_text_that_is_none_is_refused():
    with pytest.raises(DataError, match="row 5, column 'y': an output must be 0 or 1"):
        as_outputs(pd.DataFrame({"y": np.where(EACH == 5, "perhaps", np.where(TAG == 1, "yes", "no"))}))


def test_too_few_cells_tell_nothing_but_0_and_1():
    with pytest.raises(DataError, match="an output must be 0 or 1"):
        as_outputs(np.arange(10.0))


def test_texts_that_are_nearly_all_different_are_no_classes():
    frame = pd.DataFrame({"note": [f"note {i}" for i in range(200)]})
    with pytest.raises(DataError, match="200 different texts in 200 cells"):
        as_outputs(frame)
    assert kinds_of(frame, kinds={"note": "class"}) == {"note": "class"}


def test_levels_in_an_order_are_said_as_a_list():
    frame = pd.DataFrame({"grade": np.array(["mild", "severe", "none"])[EACH % 3]})
    table = as_outputs(frame, kinds={"grade": ("none", "mild", "severe")})
    assert table.values[:3, 0].tolist() == [1.0, 2.0, 0.0]
    with pytest.raises(DataError, match="row 1, column 'grade': the value is none of the 2 levels"):
        as_outputs(frame, kinds={"grade": ("none", "mild")})


def test_numbers_that_are_said_to_be_classes_are_levels_in_their_order():
    (column,) = output_columns(as_outputs((EACH % 3 * 10.0), kinds={"y0": "class"}))
    assert column == OutputColumn("y0", CLASS, ("0", "10", "20"))


@pytest.mark.parametrize(
    ("cells", "kind", "message"),
    [
        (EACH / 2, "count", "row 1, column 'y0': a count is a whole number"),
        (EACH - 1.0, "count", "row 0, column 'y0': a count is a whole number"),
        (np.where(EACH == 7, np.inf, EACH), None, "row 7, column 'y0': the value is infinite"),
        (EACH + 0.0, "binary", "row 2, column 'y0': an output must be 0 or 1"),
    ],
)
def test_values_that_are_not_of_the_kind_are_refused_where_they_stand(cells, kind, message):
    with pytest.raises(DataError, match=message):
        as_outputs(cells, kinds=None if kind is None else {"y0": kind})


def test_a_number_is_expected_where_texts_stand():
    with pytest.raises(DataError, match="column 'y': a number is expected, and the column holds texts"):
        as_outputs(pd.DataFrame({"y": TEXTS}), kinds={"y": "number"})


@pytest.mark.parametrize(
    "asked", [{"dose": "colour"}, {"grade": ["low"]}, {"grade": ["low", "low"]}, ["dose"], {"dose": 3}]
)
def test_what_is_no_kind_is_refused(asked):
    with pytest.raises(ValueError, match="output_kinds"):
        checked_kinds(asked)


def test_kinds_of_outputs_that_are_not_there_are_refused():
    with pytest.raises(DataError, match="names 'dose', which is not an output"):
        as_outputs(TAG, kinds={"dose": "number"})


def test_later_rows_are_coded_as_in_the_fit():
    frame = pd.DataFrame({"colour": TEXTS, "dose": EACH / 3})
    columns, _, outputs = Columns.of(np.zeros((N, 1)), frame)
    _, later = columns.align(np.zeros((3, 1)), pd.DataFrame({"dose": [1, 2, 3], "colour": ["red", "pink", None]}))
    assert later.kinds == outputs.kinds
    red = outputs.kinds[0].levels.index("red")
    np.testing.assert_array_equal(later.values, [[red, 1], [3, 2], [np.nan, 3]])
    assert later.kinds[0].text(3.0) == "a value that the fit had not"


def test_a_tag_of_the_fit_stays_a_tag():
    columns, _, _ = Columns.of(np.zeros((N, 1)), np.column_stack([TAG, EACH / 3]))
    with pytest.raises(DataError, match="row 1, column 'y0': an output must be 0 or 1"):
        columns.align(np.zeros((2, 1)), np.array([[1.0, 2.0], [3.0, 2.0]]))


def test_checked_outputs_are_not_looked_at_again():
    table = as_outputs(pd.DataFrame({"dose": EACH / 3}))
    assert as_outputs(table) is table and as_outputs(table, known=table.kinds) is table
    assert as_outputs(table[:5]).kinds == (OutputColumn("dose", NUMBER),)


@pytest.mark.parametrize(
    ("value", "text", "plain"), [(0.25, "0.25", 0.25), (np.nan, "missing", None), (1e7, "1e+07", 1e7)]
)
def test_values_are_written_for_people_and_for_programs(value, text, plain):
    column = OutputColumn("dose", NUMBER)
    assert column.text(value) == text and column.plain(value) == plain


def test_numbers_with_a_few_texts_are_refused_by_the_first_text():
    cells = [str(i) if i % 10 else "none" for i in range(1, 101)]
    with pytest.raises(DataError, match=r"row 9, column 'y': this is not a number, .*\(10 of 100 cells are"):
        as_outputs(pd.DataFrame({"y": cells}))
    with pytest.raises(DataError, match="row 0, column 'y': 100 different texts in 100 cells"):
        as_outputs(pd.DataFrame({"y": [f"t{i}" for i in range(100)]}))

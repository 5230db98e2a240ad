"""columns.toml: what is written is read back, and what is wrong in it is one line."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amiss.errors import DataError
from amiss.readers.columns.columns_file import read_columns, toml_text
from amiss.readers.columns.spec import KINDS, ROLES, ColumnSpec

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
lists = st.lists(texts, max_size=4).map(tuple)


@st.composite
def specs(draw):
    kind = draw(st.sampled_from(["", *KINDS]))
    form = {"date": ["", "D.M.Y"], "duration": ["", "m:s"]}.get(kind, [""])
    return ColumnSpec(
        role=draw(st.sampled_from(["", *ROLES])),
        kind=kind,
        unit=draw(texts),
        decimal=draw(st.sampled_from(["", "."])),
        thousands=draw(st.sampled_from(["", ",", "'"])),
        format=draw(st.sampled_from(form)),
        true=draw(lists),
        missing=draw(lists),
        levels=draw(st.lists(texts, min_size=2, max_size=4, unique=True).map(tuple)),
    )


@given(st.dictionaries(texts, specs(), max_size=4), texts)
def test_what_is_written_is_read_back(columns, comment):
    text = toml_text(columns, dict.fromkeys(columns, comment))
    assert read_columns(tomllib.loads(text)) == columns
    assert read_columns({name: spec.to_dict() for name, spec in columns.items()}) == columns


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[age]\nrolle = 'input'", r"c\.toml, column 'age': there is no key 'rolle'; did you mean 'role'\?"),
        ("[age]\nrole = 'imput'", r"column 'age': role is one of 'input', 'output', 'id'"),
        ("[age]\nkind = 'date'\nformat = 'DMY'", r"format is one of 'Y-M-D'"),
        ("[age]\nformat = 'D.M.Y'", r"format is for a column of kind = \"date\""),
        ("[age]\nmissing = [true]", r"missing is a list of texts"),
        ("[age]\nunit = 3", r"unit is a text in quotes"),
        ("[age]\ndecimal = ','\nthousands = ','", "the same mark"),
        ("[age]\ntrue = ['1']\nfalse = ['1']", "a value is in true and in false"),
        ("[age]\nlevels = ['a']", "levels are at least two"),
        ("age = 3", r"column 'age': write a table"),
        ("[age\n", r"c\.toml: this is not TOML \(at line 1, column 5\)"),
        (b"\xff", r"c\.toml: the file is not UTF-8"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, content, message):
    (tmp_path / "c.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message) as caught:
        read_columns(tmp_path / "c.toml")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_says_how_to_make_one(tmp_path):
    with pytest.raises(DataError, match=r"no such file; amiss check FILE --save"):
        read_columns(tmp_path / "none.toml")

"""Rows of embeddings find their rows of the table: by position, or by id in any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from support.files import written

import amiss
from amiss.errors import DataError

TABLE = "name,age,y\nann,30,0\nbob,40,1\neve,50,1\n"
X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.fixture
def table(tmp_path):
    return written(tmp_path / "t.csv", TABLE)


def read_with(tmp_path, table, arrays, **options):
    np.savez(tmp_path / "e.npz", **arrays)
    return amiss.read(table, outputs="y", inputs=tmp_path / "e.npz", **{"id": "name", **options})


@st.composite
def shuffled_tables(draw):
    """Distinct ids, the order of the rows in the file of the embeddings, and whether the table has an input."""
    letters = st.characters(codec="utf-8", exclude_characters="\x00", exclude_categories=["Cc", "Zs", "Cs"])
    ids = draw(st.lists(st.text(letters, min_size=1, max_size=5), min_size=1, max_size=12, unique_by=str.strip))
    return ids, draw(st.permutations(range(len(ids)))), draw(st.booleans())


@given(shuffled_tables())
def test_by_id_any_order_gives_the_same_dataset(tmp_path_factory, drawn):
    ids, order, with_input = drawn
    folder = tmp_path_factory.mktemp("matching")
    matrix = np.arange(2.0 * len(ids), dtype="float32").reshape(-1, 2)
    quoted = ['"' + row_id.replace('"', '""') + '"' for row_id in ids]
    lines = [f"{row_id},{n},{n % 2}" if with_input else f"{row_id},{n % 2}" for n, row_id in enumerate(quoted)]
    table = written(folder / "t.csv", "\n".join(["name,age,y" if with_input else "name,y", *lines]) + "\n")
    plain = read_with(folder, table, {"X": matrix})
    chosen = np.array(order)
    found = read_with(folder, table, {"X": matrix[chosen], "ids": np.array(ids)[chosen]})
    assert found.ids == plain.ids and found.input_names == plain.input_names
    assert found.X.values.dtype == plain.X.values.dtype == np.float32
    np.testing.assert_array_equal(found.X.values, plain.X.values)
    np.testing.assert_array_equal(found.X.values[:, with_input:], matrix)
    np.testing.assert_array_equal(found.Y.values, plain.Y.values)


@pytest.mark.parametrize("ids", [[7, 8, 9], np.array([b"7", b"8", b"9"]), [" 7", "8 ", "9"]])
def test_ids_are_compared_as_texts_without_blanks_around_them(tmp_path, ids):
    table = written(tmp_path / "t.csv", "name,y\n9,0\n 8,1\n7,1\n")
    assert read_with(tmp_path, table, {"X": X, "ids": ids}).X.values.tolist() == X[::-1].tolist()


def test_ids_of_only_one_of_the_two_are_not_compared(tmp_path, table):
    by_place = read_with(tmp_path, table, {"X": X, "ids": ["eve", "bob", "ann"]}, id=None, drop="name")
    assert by_place.X.values[:, 1:].tolist() == X.tolist()
    assert read_with(tmp_path, table, {"X": X}).X.values[:, 1:].tolist() == X.tolist()
    with pytest.raises(DataError, match=r"e\.npz: there are 2 rows, but 3 in .*t\.csv"):
        read_with(tmp_path, table, {"X": X[:2], "ids": ["ann", "bob"]}, id=None, drop="name")


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["ann", "bob", "zoe"], "t.csv, line 4: the row's id is not in e.npz; each row of the one needs"),
        (["zoe", "bob", "kim"], "t.csv, line 2: the row's id is not in e.npz, nor is that of 1 more row;"),
        (["ann", "bob", "bob"], "e.npz, row 3: the row has the same id as e.npz, row 2; rows are matched by id"),
        (["ann", "zoe", "bob", "kim", "eve"], "e.npz, row 2: the row's id is not in t.csv, nor is that of 1 more"),
        (
            ["zoe", "ann", "yan", "bob", "kim", "eve"],
            "e.npz, row 1: the row's id is not in t.csv, nor are those of 2",
        ),
        (["ann", "eve"], "t.csv, line 3: the row's id is not in e.npz; each"),
    ],
)
def test_ids_that_do_not_match_are_counted_and_never_quoted(tmp_path, table, ids, message):
    with pytest.raises(DataError) as caught:
        read_with(tmp_path, table, {"X": np.ones((len(ids), 2)), "ids": ids})
    assert str(caught.value).replace(f"{tmp_path}/", "").startswith(message)
    assert not any(name in str(caught.value) for name in ("ann", "bob", "eve", "zoe", "kim", "yan"))


def test_an_id_that_the_table_has_twice_is_refused(tmp_path):
    table = written(tmp_path / "t.csv", "name,y\nann,0\nbob,1\nann,1\n")
    with pytest.raises(DataError, match=r"t\.csv, line 4: the row has the same id as .*t\.csv, line 2"):
        read_with(tmp_path, table, {"X": X, "ids": ["ann", "bob", "eve"]})
    assert len(read_with(tmp_path, table, {"X": X})) == 3  # by position


def test_a_column_that_both_have_is_refused(tmp_path):
    table = written(tmp_path / "t.csv", "name,e1,y\nann,1,0\nbob,2,1\neve,3,1\n")
    with pytest.raises(DataError, match=r"e\.npz: column 'e1' is also in the table; drop it there \(--drop\)"):
        read_with(tmp_path, table, {"X": X})
    assert read_with(tmp_path, table, {"X": X}, drop="e1").input_names == ("e0", "e1")


def test_an_infinite_input_is_told_where_it_is(tmp_path):
    table = written(tmp_path / "t.csv", "name,age,y\nann,1,0\nbob,inf,1\neve,3,1\n")
    with pytest.raises(DataError, match=r"t\.csv, line 3, column 'age': the value is infinite"):
        read_with(tmp_path, table, {"X": X})
    with pytest.raises(DataError, match=r"e\.npz, row 1, column 'e1': the value is infinite"):
        read_with(tmp_path, table, {"X": [[1, -np.inf], [0, 0], [0, 0]], "ids": ["eve", "bob", "ann"]})


def test_several_tables_are_joined_before_they_are_matched(tmp_path, table):
    more = written(tmp_path / "u.csv", "name,age,y\nkim,60,0\n")
    np.save(tmp_path / "all.npy", np.arange(8.0).reshape(4, 2))
    one = amiss.read(table, more, outputs="y", id="name", inputs=tmp_path / "all.npy")
    np.save(tmp_path / "a.npy", np.arange(6.0).reshape(3, 2))
    np.save(tmp_path / "b.npy", np.array([[6, 7]], dtype="float32"))
    two = amiss.read(table, more, outputs="y", id="name", inputs=[tmp_path / "a.npy", tmp_path / "b.npy"])
    assert one.X.values[:, 1:].tolist() == two.X.values[:, 1:].tolist() == np.arange(8.0).reshape(4, 2).tolist()
    with pytest.raises(DataError, match=r"a\.npy: there are 3 rows, but 4 in .*t\.csv, .*u\.csv;"):
        amiss.read(table, more, outputs="y", id="name", inputs=tmp_path / "a.npy")
    np.savez(tmp_path / "b.npz", X=np.ones((1, 2)), ids=["kim"])
    with pytest.raises(DataError, match=r"a\.npy: there are no ids here, but in another file"):
        amiss.read(table, more, outputs="y", id="name", inputs=[tmp_path / "a.npy", tmp_path / "b.npz"])
    np.save(tmp_path / "b.npy", np.ones((1, 3)))
    with pytest.raises(DataError, match=r"b\.npy: column 'e2' is not in .*a\.npy"):
        amiss.read(table, more, outputs="y", id="name", inputs=[tmp_path / "a.npy", tmp_path / "b.npy"])


def test_several_files_by_id_name_the_file_of_a_row(tmp_path, table):
    np.savez(tmp_path / "a.npz", X=X[:2], ids=["eve", "ann"])
    np.savez(tmp_path / "b.npz", X=X[2:], ids=["bob"])
    both = [tmp_path / "a.npz", tmp_path / "b.npz"]
    assert amiss.read(table, outputs="y", id="name", inputs=both).X.values[:, 1].tolist() == [3.0, 5.0, 1.0]
    np.savez(tmp_path / "b.npz", X=X[2:], ids=["eve"])
    with pytest.raises(DataError, match=r"b\.npz, row 1: the row has the same id as .*a\.npz, row 1;"):
        amiss.read(table, outputs="y", id="name", inputs=both)


def test_a_sparse_table_stays_sparse(tmp_path):
    table = written(tmp_path / "t.svm", "1 3:2.5\n2 1:1\n1,2 \n")
    np.save(tmp_path / "e.npy", X.astype("float32"))
    data = amiss.read(table, inputs=tmp_path / "e.npy")
    assert sparse.issparse(data.X.values) and data.input_names == ("x1", "x2", "x3", "e0", "e1")
    assert data.X.values.toarray().tolist() == [[0, 0, 2.5, 1, 2], [1, 0, 0, 3, 4], [0, 0, 0, 5, 6]]
    labels = written(tmp_path / "labels.svm", "1\n2\n1,2\n")
    assert amiss.read(labels, inputs=tmp_path / "e.npy").X.values.tolist() == X.tolist()
    new = written(tmp_path / "new.svm", "1 2:1\n2 2:1\n2 2:1\n")
    like = (("x1", "x2", "x3", "e0", "e1"), ("1", "2"))
    assert amiss.read(new, inputs=tmp_path / "e.npy", like=like).X.shape == (3, 5)


def test_an_archive_of_outputs_needs_no_inputs_of_its_own(tmp_path):
    np.savez(tmp_path / "t.npz", Y=np.array([[0], [1], [1]]), ids=["a", "b", "c"])
    np.savez(tmp_path / "e.npz", X=X, ids=["c", "b", "a"])
    data = amiss.read(tmp_path / "t.npz", inputs=tmp_path / "e.npz")
    assert data.X.values.tolist() == X[::-1].tolist() and data.output_names == ("y0",)
    with pytest.raises(DataError, match="there is no array X"):
        amiss.read(tmp_path / "t.npz")


def test_tables_of_which_only_some_have_ids_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", X=X, Y=np.ones((3, 1)), ids=["a", "b", "c"])
    np.savez(tmp_path / "b.npz", X=X, Y=np.ones((3, 1)))
    with pytest.raises(DataError, match=r"b\.npz: there are no ids here, but in another file"):
        amiss.read(tmp_path / "a.npz", tmp_path / "b.npz")

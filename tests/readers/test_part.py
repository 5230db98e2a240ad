"""Rows of several files become one dataset."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from support.files import written

import amiss
from amiss.errors import DataError


def test_rows_of_several_files_are_joined_by_column_name(tmp_path):
    one = written(tmp_path / "1.csv", "a,kind,y\n1,red,0\n2,blue,1\n")
    two = written(tmp_path / "2.csv", "y,kind,a\n1,green,3\n")
    data = amiss.read(one, two, outputs="y")
    np.testing.assert_array_equal(data.X.values[:, 0], [1, 2, 3])
    assert list(np.asarray(data.X)[:, 1]) == ["red", "blue", "green"]
    np.testing.assert_array_equal(data.Y.values[:, 0], [0, 1, 1])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("a,y\n1,0\n", r"2\.csv: column 'b' of .*1\.csv is missing here"),
        ("a,b,c,y\n1,2,3,0\n", r"2\.csv: column 'c' is not in"),
        ("a,b,y\n1,2,0\n1,2,7\n", r"2\.csv, line 3, column 'y': an output must be"),
        ("a,b,y\n1,red,0\n", r"1\.csv, column 'b': it holds numbers here and texts in another"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, second, message):
    one = written(tmp_path / "1.csv", "a,b,y\n1,2,0\n2,3,1\n")
    with pytest.raises(DataError, match=message):
        amiss.read(one, written(tmp_path / "2.csv", second), outputs="y")


def test_joined_sparse_files_with_other_levels_stay_sparse(tmp_path):
    text = "@relation r\n@attribute kind {{{}}}\n@attribute w numeric\n@attribute y {{0,1}}\n@data\n{}\n"
    one = written(tmp_path / "1.arff", text.format("red,green,blue", "{0 blue,2 1}\n{1 2}"))
    two = written(tmp_path / "2.arff", text.format("blue,green", "{0 green}\n{2 1}"))
    data = amiss.read(one, two, outputs="y")
    assert sparse.issparse(data.X.values)
    assert list(np.asarray(data.X)[:, 0]) == ["blue", "red", "green", "blue"]


def test_pictures_of_several_files(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        written(tmp_path / name / "t.csv", "a,file,y\n1,x.png,0\n2,,1\n")
    data = amiss.read(tmp_path / "one/t.csv", tmp_path / "two/t.csv", outputs="y", pictures="file")
    assert data.pictures == (str(tmp_path / "one/x.png"), "", str(tmp_path / "two/x.png"), "")

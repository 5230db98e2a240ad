"""svmlight: sparse rows of labels and numbered inputs."""

from __future__ import annotations

import io

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from support.files import read_text, written

import amiss
from amiss.errors import DataError
from amiss.readers import svmlight


def test_svmlight_is_read_as_scikit_learn_reads_it(tmp_path):
    text = "1,3 1:0.5 4:2\n 2:1\n3 1:1 # a comment\n# only a comment\n10 3:-1e3\n"
    data = read_text(tmp_path, text, ".svm", outputs=None)
    X, labels = load_svmlight_file(io.BytesIO(text.encode()), multilabel=True)
    np.testing.assert_array_equal(data.X.values.toarray(), X.toarray())
    assert data.input_names == ("x1", "x2", "x3", "x4")
    assert data.output_names == ("1", "3", "10")
    assert [tuple(float(data.output_names[i]) for i in np.flatnonzero(row)) for row in data.Y.values] == labels


def test_svmlight_from_zero_with_a_shape_and_in_several_files(tmp_path):
    one = written(tmp_path / "1.svm", "3 4 2\n0 0:1 3:2\n1 1:1\n")
    two = written(tmp_path / "2.svm", "2 3:1 5:7\n")
    data = amiss.read(one, two)
    assert data.input_names == ("x0", "x1", "x2", "x3", "x4", "x5")
    np.testing.assert_array_equal(data.X.values.toarray()[2], [0, 0, 0, 1, 0, 7])
    assert data.output_names == ("0", "1", "2")
    np.testing.assert_array_equal(data.Y.values, np.eye(3))


@pytest.mark.parametrize("text", ["1 a:1\n", "1 1:x\n", "1 -2:1\n", "1 3\n"])
def test_bad_svmlight_is_refused_by_line(tmp_path, text):
    with pytest.raises(DataError, match=r"t\.svm, line 2: inputs must be written"):
        read_text(tmp_path, "1 1:1\n" + text, ".svm", outputs=None)


def test_svmlight_has_no_ids(refused):
    assert "leave these options out" in refused("0 1:1\n", "t.svm", id="x")


def test_too_many_labels_are_refused(refused, monkeypatch):
    monkeypatch.setattr(svmlight, "MOST_CELLS", 10)
    assert "4 labels in 4 rows, which is too many" in refused("0 1:1\n1 1:1\n2 1:1\n3 1:1\n", "t.svm")

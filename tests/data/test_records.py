"""Rows as dictionaries and as Hugging Face datasets: as X, as Y, and as new rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from support.tables import make_table

import amiss
from amiss.data.columns import Columns
from amiss.data.records import are_records
from amiss.data.validation import as_inputs, as_outputs

PEOPLE = [{"age": 3, "ward": "a"}, {"ward": "b", "ill": True}, {"age": None, "ward": "a", "ill": False}]


def test_dictionaries_are_the_rows_of_a_table():
    table = as_inputs(PEOPLE)
    assert table.names == ("age", "ward", "ill") and table.named
    np.testing.assert_array_equal(table.values, [[3, 0, np.nan], [np.nan, 1, 1], [np.nan, 0, 0]])
    assert table.levels == {1: ("a", "b")}


def test_a_tuple_of_dictionaries_is_as_good_as_a_list():
    np.testing.assert_array_equal(as_inputs(tuple(PEOPLE)).values, as_inputs(PEOPLE).values)


def test_outputs_may_be_dictionaries():
    outputs = as_outputs([{"ill": 1, "dead": "no"}, {"dead": "yes"}, {"ill": False, "dead": None}])
    assert outputs.names == ("ill", "dead")
    np.testing.assert_array_equal(outputs.values, [[1, 0], [np.nan, 1], [0, np.nan]])


def test_dictionaries_are_not_taken_for_lists_of_labels():
    assert (
        are_records(PEOPLE) and not are_records([["cat"], ["dog"]]) and not are_records([]) and not are_records({})
    )
    columns, _, _ = Columns.of([{"x": 1}, {"x": 2}], [{"cat": 1, "dog": 0}, {"cat": 0}])
    assert columns.outputs == ("cat", "dog") and not columns.label_lists
    columns, _, _ = Columns.of([[1.0], [2.0]], [["cat"], ["cat", "dog"]])
    _, outputs = columns.align([[1.0]], [{"dog": 1, "cat": 0}])
    np.testing.assert_array_equal(outputs.values, [[0, 1]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"a": 1}, [1]], "row 1 is not a dictionary"),
        ([{"a": 1, 1: 2, "1": 3}], "duplicate column name '1'"),
        ([{"a": np.inf}], "row 0, column 'a': the value is infinite"),
    ],
)
def test_what_is_wrong_with_dictionaries_is_said_in_one_line(rows, message):
    with pytest.raises(amiss.DataError, match=message):
        as_inputs(rows)


def test_dictionaries_give_the_scores_that_their_frame_gives():
    X, Y = make_table(80)
    frame, outputs = pd.DataFrame(X).add_prefix("in"), pd.DataFrame(Y).add_prefix("tag")
    rows, tags = frame.to_dict("records"), outputs.to_dict("records")
    detector = amiss.MCODE().fit(rows, tags)
    expected = amiss.MCODE().fit(frame, outputs)
    np.testing.assert_array_equal(detector.decision_scores_, expected.decision_scores_)
    assert detector.input_names_ == tuple(frame.columns) and detector.output_names_ == tuple(outputs.columns)
    backwards = [dict(reversed(row.items())) for row in rows[:5]]
    np.testing.assert_array_equal(detector.decision_function(backwards, tags[:5]), detector.decision_scores_[:5])


class ClassLabel:
    """As ``datasets.ClassLabel``: numbers with names."""

    def __init__(self, names):
        self.names = names


class StandIn:
    """What of ``datasets.Dataset`` is used; the real one is tested below, where it is installed."""

    def __init__(self, columns, features=None):
        self.table, self.features = pa.table(columns), features
        self.column_names = self.table.column_names

    def with_format(self, name):
        assert name == "arrow"
        return self

    def __getitem__(self, rows):
        return self.table[rows]

    def __len__(self):
        return len(self.table)


def test_a_dataset_is_a_frame():
    table = as_inputs(StandIn({"age": [3, None, 5], "ward": ["a", "b", None]}))
    assert table.names == ("age", "ward") and table.levels == {1: ("a", "b")}
    np.testing.assert_array_equal(table.values, [[3, 0], [np.nan, 1], [5, np.nan]])


def test_classes_of_a_dataset_are_categories_and_two_of_them_are_0_and_1():
    columns = {"size": [2, 0, -1], "ill": [1, 0, -1]}
    dataset = StandIn(columns, {"size": ClassLabel(["s", "m", "l"]), "ill": ClassLabel(["well", "ill"])})
    table = as_inputs(dataset)
    assert table.levels == {0: ("l", "s")}
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 0], [np.nan, np.nan]])
    outputs = as_outputs(StandIn({"ill": [1, 0, -1]}, {"ill": ClassLabel(["well", "ill"])}))
    np.testing.assert_array_equal(outputs.values, [[1], [0], [np.nan]])


def test_several_splits_and_streams_are_refused():
    class Splits(dict):
        column_names, with_format = property(dict), None

    class Stream:
        column_names, features, with_format = ["a"], {}, None

    with pytest.raises(amiss.DataError, match=r"several splits; pass one of them, such as dataset\['train'\]"):
        as_inputs(Splits(train=1))
    with pytest.raises(amiss.DataError, match="streamed; load it with streaming=False"):
        as_inputs(Stream())


@pytest.fixture
def datasets():
    return pytest.importorskip("datasets", reason="Hugging Face's datasets is not installed")


def test_a_hugging_face_dataset_is_fitted_scored_and_loaded(datasets, tmp_path):
    X, Y = make_table(80)
    frame = pd.DataFrame(X).add_prefix("in").join(pd.DataFrame(Y.astype(int)).add_prefix("tag"))
    inputs, outputs = [f"in{i}" for i in range(X.shape[1])], [f"tag{i}" for i in range(Y.shape[1])]
    dataset = datasets.Dataset.from_pandas(frame)
    detector = amiss.MCODE().fit(dataset.select_columns(inputs), dataset.select_columns(outputs))
    expected = amiss.MCODE().fit(frame[inputs], frame[outputs])
    np.testing.assert_array_equal(detector.decision_scores_, expected.decision_scores_)
    some = dataset.select([7, 3, 5])  # picked by an index; the table below still has all rows
    detector.save(tmp_path / "model.amiss")
    scores = amiss.load(tmp_path / "model.amiss").decision_function(
        some.select_columns(inputs), some.select_columns(outputs)
    )
    np.testing.assert_array_equal(scores, detector.decision_scores_[[7, 3, 5]])


def test_features_and_columns_of_a_hugging_face_dataset(datasets):
    kinds = {
        "size": datasets.ClassLabel(names=["s", "m", "l"]),
        "ill": datasets.ClassLabel(names=["well", "ill"]),
        "tags": datasets.Sequence(datasets.Value("string")),
    }
    rows = {"size": [2, 0, -1], "ill": [1, 0, -1], "tags": [["cat"], [], ["cat", "dog"]]}
    dataset = datasets.Dataset.from_dict(rows, features=datasets.Features(kinds))
    np.testing.assert_array_equal(as_inputs(dataset.select_columns(["size"])).values, [[0], [1], [np.nan]])
    np.testing.assert_array_equal(as_outputs(dataset.select_columns(["ill"])).values, [[1], [0], [np.nan]])
    columns, _, outputs = Columns.of(dataset.select_columns(["size"]), dataset["tags"])
    assert columns.label_lists and outputs.names == ("cat", "dog")
    with pytest.raises(amiss.DataError, match="several splits"):
        as_inputs(datasets.DatasetDict(train=dataset))
    with pytest.raises(amiss.DataError, match="streamed"):
        as_inputs(dataset.to_iterable_dataset())

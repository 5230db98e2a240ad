"""Outputs of several kinds become columns."""

from __future__ import annotations

import numpy as np
import pytest

from amiss.data.output_kinds import BINARY, CLASS, COUNT, NUMBER, ORDINAL, OutputColumn
from amiss.models.mixed.layout import OutputLayout, coded
from amiss.models.ties import Ties

COLUMNS = (
    OutputColumn("tag", BINARY),
    OutputColumn("colour", CLASS, ("a", "b", "c")),
    OutputColumn("dose", NUMBER),
    OutputColumn("grade", ORDINAL, ("low", "high")),
    OutputColumn("lesions", COUNT),
)
Y = np.column_stack(
    [np.arange(12) % 2, np.arange(12) % 3, np.arange(12) / 2, np.arange(12) % 2, np.arange(12)]
).astype(float)
LAYOUT = OutputLayout.of(COLUMNS, Y)


def test_a_class_has_a_column_per_level_and_anything_else_one():
    assert [span.stop - span.start for span in LAYOUT.spans] == [1, 3, 1, 2, 1]
    assert LAYOUT.is_amount.tolist() == [False, False, False, False, True, False, False, True]
    U = LAYOUT.expanded(Y)
    np.testing.assert_array_equal(U[:, 1:4], np.eye(3)[np.arange(12) % 3])
    np.testing.assert_array_equal(U[:, [0, 4, 7]], Y[:, [0, 2, 4]])


def test_a_missing_output_is_missing_in_all_of_its_columns():
    gone = Y.copy()
    gone[3, 1] = np.nan
    U = LAYOUT.expanded(gone)
    assert np.isnan(U[3, 1:4]).all() and np.isnan(U).sum() == 3


def test_an_unseen_level_has_no_column():
    new = Y[:1].copy()
    new[0, 1] = 3.0
    assert LAYOUT.expanded(new)[0, 1:4].tolist() == [0, 0, 0]


def test_rare_levels_share_a_column_with_unseen_ones():
    column = (OutputColumn("colour", CLASS, tuple("abcd")),)
    values = np.array([0.0] * 5 + [1.0] * 5 + [2.0, 3.0, 3.0])[:, None]
    layout = OutputLayout.of(column, values)
    assert layout.level_column[0].tolist() == [0, 1, 2, 2, 2]
    np.testing.assert_array_equal(layout.expanded(np.array([[3.0], [4.0]])), [[0, 0, 1], [0, 0, 1]])


def test_one_rare_level_stays_by_itself():
    layout = OutputLayout.of((OutputColumn("colour", CLASS, tuple("ab")),), np.array([0.0] * 5 + [1.0])[:, None])
    assert layout.level_column[0].tolist() == [0, 1, -1]


def test_levels_of_a_class_are_one_choice_and_do_not_see_each_other():
    visible = LAYOUT.visible(~np.eye(5, dtype=bool))
    assert LAYOUT.ties(Ties()).classes == ((1, 2, 3), (4, 5))
    assert not visible[1:4, 1:4].any() and not visible[4:, 4:].any()
    assert visible[0, 1:].all() and visible[1:4, 4:].all()


def test_ties_of_tags_are_those_of_their_columns():
    columns = (COLUMNS[1], OutputColumn("t", BINARY), OutputColumn("u", BINARY))
    layout = OutputLayout.of(columns, np.column_stack([Y[:, 1], Y[:, 0], Y[:, 0]]))
    assert layout.ties(Ties(copies=((1, 2),))).copies == ((3, 4),)


def test_amounts_are_seen_on_one_scale_and_not_far_out():
    far = LAYOUT.expanded(Y[:2])
    far[0, 4] = 1e9
    seen = LAYOUT.amounts_seen(far)
    assert seen[0, 0] == 2.0 and np.abs(LAYOUT.amounts_seen(LAYOUT.expanded(Y))).max() <= 2.0


@pytest.mark.parametrize("column", range(5))
def test_only_tags_keep_their_values_in_the_scores(column):
    found = coded(Y, COLUMNS)
    expected = Y[:, column] if COLUMNS[column].kind is BINARY else np.ones(12)
    np.testing.assert_array_equal(found[:, column], expected)

"""Predictions of the user's that speak against themselves, and groups of rows in every form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from support.tables import make_table

import amiss
from amiss import DataError
from amiss.data.row_roles import as_groups, as_probabilities, doubts_about, log_odds_as_chances, log_odds_table
from amiss.data.validation import as_outputs

N_OUTPUTS = 3
SEEN, MIXED_UP = "have probably seen these rows", "Are the columns in the order of the outputs?"


@pytest.fixture(scope="module")
def table():
    return make_table(300, 5, N_OUTPUTS, seed=2)


def forest():
    return RandomForestClassifier(n_estimators=30, min_samples_leaf=1, random_state=0)


def in_sample(model, X, Y):
    return np.column_stack([model.fit(X, y).predict_proba(X)[:, 1] for y in Y.T])


def out_of_fold(model, X, Y):
    return np.column_stack([cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1] for y in Y.T])


def doubts(P, Y):
    outputs = as_outputs(Y)
    return doubts_about(*log_odds_as_chances(log_odds_table(as_probabilities(P, outputs.names)), outputs))


def test_predictions_of_a_forest_that_saw_the_rows_are_reported(table):
    X, Y = table
    (note,) = doubts(in_sample(forest(), X, Y), Y)
    assert SEEN in note and "cross_val_predict" in note
    detector = amiss.MCODE.from_probabilities(in_sample(forest(), X, Y), Y, n_neighbors=20)
    assert detector.fitted_.notes[0] == note


def test_predictions_out_of_fold_are_not_reported(table):
    X, Y = table
    for model in (LogisticRegression(), forest()):
        P = out_of_fold(model, X, Y)
        assert doubts(P, Y) == []
        assert doubts(expit(0.3 * logit(np.clip(P, 1e-3, 1 - 1e-3))), Y) == []  # not confident enough
        assert doubts(expit(3.0 * logit(np.clip(P, 1e-3, 1 - 1e-3))), Y) == []  # too confident


def test_columns_in_another_order_are_reported():
    """Outputs that exclude each other, so that the wrong column says the opposite."""
    rng = np.random.default_rng(0)
    chosen = np.arange(300) % 3
    Y = np.eye(3)[chosen]
    P = np.clip(0.1 + 0.75 * Y + 0.1 * rng.normal(size=Y.shape), 0.01, 0.99)
    P[:30] = P[:30, [1, 2, 0]]  # some surprise
    assert doubts(P, Y) == []
    assert [MIXED_UP in note for note in doubts(P[:, [1, 2, 0]], Y)] == [True]


def test_rows_without_an_output_have_no_say(table):
    X, Y = table
    P = out_of_fold(LogisticRegression(), X, Y)
    surprising = (P > 0.5) != (Y == 1)
    assert any(SEEN in note for note in doubts(P, np.where(surprising, np.nan, Y)))


def test_a_small_table_may_agree_by_chance(table):
    X, Y = table
    P = in_sample(forest(), X, Y)
    assert doubts(P[:40], Y[:40]) == []


@pytest.mark.parametrize(
    "form",
    [
        list, tuple, np.asarray, pd.Series, pl.Series, lambda found: pd.Series(found, dtype="category"),
        lambda found: pd.DataFrame({"group": found}), lambda found: np.asarray(found)[:, None],
    ],
)  # fmt: skip
@pytest.mark.parametrize("entries", [[3, 1, 3, 2, 1], ["c", "a", "c", "b", "a"], [0.5, -1.0, 0.5, 0.0, -1.0]])
def test_groups_come_as_numbers_or_texts_in_any_form(form, entries):
    assert as_groups(form(entries), 5).tolist() == [2, 0, 2, 1, 0]


@pytest.mark.parametrize("entries", [["a", None, "a", None], [1.0, np.nan, 1.0, np.nan]])
@pytest.mark.parametrize("form", [list, lambda found: np.asarray(found, dtype=object), pd.Series, pl.Series])
def test_a_row_without_a_group_is_a_group_of_its_own(form, entries):
    found = as_groups(form(entries), 4)
    assert found[0] == found[2] and len(set(found.tolist())) == 3


@given(st.lists(st.integers(-5, 5) | st.none(), min_size=2, max_size=30))
def test_two_rows_are_together_if_and_only_if_their_entries_are_equal(entries):
    distinct = len({entry for entry in entries if entry is not None}) + entries.count(None)
    if distinct < 2:
        with pytest.raises(DataError, match="all rows are in one group"):
            as_groups(entries, len(entries))
        return
    found = as_groups(entries, len(entries))
    assert sorted(set(found.tolist())) == list(range(distinct))
    for i, one in enumerate(entries):
        for j, other in enumerate(entries):
            assert (found[i] == found[j]) == (i == j or (one == other and one is not None))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2, 3], r"groups must hold one entry per row; they have the shape \(3, 1\), and there are 60 rows"),
        (np.zeros((60, 2)), r"they have the shape \(60, 2\)"),
        ([7] * 60, "all rows are in one group"),
        (["patient"] * 60, "all rows are in one group"),
        ("patient", "groups must hold one entry per row, or be 'auto'"),
    ],
)
def test_groups_that_cannot_be_are_refused_in_one_line(groups, message):
    X, Y = make_table(60)
    with pytest.raises(DataError, match=message) as refused:
        amiss.MCODE(n_neighbors=5).fit(X, Y, groups=groups)
    assert "\n" not in str(refused.value)

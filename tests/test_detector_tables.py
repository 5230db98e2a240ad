"""Kinds of tables the detector takes, and outputs that are missing in them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from support.tables import SCORES, fitted, frame, make_table

import amiss
from amiss.errors import DataError

# Kinds of tables


@pytest.mark.parametrize("score", SCORES)
def test_every_kind_of_table_gives_the_same_scores(score):
    X, Y = make_table()
    expected = fitted(X, Y, rule=score).decision_scores_
    X_pd, Y_pd = frame(X, Y)
    kinds = [
        (X.tolist(), Y.astype(int).tolist()),
        (X.astype(np.float64), Y.astype(bool)),
        (sparse.csr_matrix(X), sparse.csc_array(Y)),
        (X_pd, Y_pd),
        (X_pd, Y_pd.astype("Int8")),
        (pl.from_pandas(X_pd), pl.from_pandas(Y_pd.astype(bool))),
        (pa.table(X_pd), pa.table(Y_pd)),
        (amiss.Table(X, tuple("abcde")), amiss.Table(Y, tuple("wxyz"))),
        (X, [{f"tag{i}" for i in np.flatnonzero(row)} for row in Y]),
    ]
    for inputs, outputs in kinds:
        np.testing.assert_array_equal(fitted(inputs, outputs, rule=score).decision_scores_, expected)


def test_names_come_from_the_frame():
    X, Y = frame(*make_table())
    model = fitted(X, Y)
    assert model.output_names_ == ("tag0", "tag1", "tag2", "tag3")
    assert model.input_names_ == ("in0", "in1", "in2", "in3", "in4")
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.n_features_in_ == 5


def test_label_lists_name_the_outputs():
    X, Y = make_table()
    labels = [[name for name, value in zip("abcd", row, strict=True) if value] for row in Y]
    model = fitted(X, labels)
    assert model.output_names_ == tuple("abcd")
    np.testing.assert_allclose(
        model.decision_function(X[:5], labels[:5]), fitted(X, Y).decision_function(X[:5], Y[:5])
    )
    with pytest.raises(DataError, match="row 1 has a label"):
        model.decision_function(X[:2], [["a"], ["stranger"]])


def test_label_lists_stay_label_lists_in_new_rows_whatever_they_look_like():
    X, Y = make_table()
    model = fitted(X, [{i for i, value in enumerate(row) if value} for row in Y[:, :2]])
    assert model.output_names_ == ("0", "1")
    plain = fitted(X, Y[:, :2])
    for labels, row in (([1, 0], [1, 1]), ([], [0, 0]), ([1], [0, 1])):
        np.testing.assert_allclose(
            model.decision_function(X[:1], [labels]), plain.decision_function(X[:1], np.array([row]))
        )


def test_categories_and_missing_inputs_are_used():
    rng = np.random.default_rng(0)
    ward = rng.choice(["surgery", "maternity", "eyes"], size=400)
    age = rng.normal(50, 20, size=400)
    Y = np.column_stack([ward == "maternity", (age > 50) ^ (rng.random(400) < 0.1)]).astype(float)
    Y[11, 0] = 1 - Y[11, 0]
    age[rng.random(400) < 0.1] = np.nan
    people = pd.DataFrame({"ward": ward, "age": age})
    people.loc[5, "ward"] = None
    model = fitted(people, Y)
    assert np.argmax(model.decision_scores_) == 11
    np.testing.assert_array_equal(fitted(pl.from_pandas(people), Y).decision_scores_, model.decision_scores_)
    as_categories = people.assign(ward=people["ward"].astype("category"))
    np.testing.assert_array_equal(fitted(as_categories, Y).decision_scores_, model.decision_scores_)


def test_frames_of_every_dialect():
    X, Y = make_table()
    expected = fitted(X, Y).decision_scores_
    table = pa.table({f"in{i}": X[:, i] for i in range(5)})
    for inputs in (pd.DataFrame(X), table.to_batches()[0], np.ma.masked_array(X)):
        np.testing.assert_array_equal(fitted(inputs, Y).decision_scores_, expected)
    one = fitted(X, Y[:, 0]).decision_scores_
    for series in (pd.Series(Y[:, 0], name="flag"), pl.Series("flag", Y[:, 0]), pa.chunked_array([Y[:, 0]])):
        np.testing.assert_array_equal(fitted(X, series).decision_scores_, one)


def test_numbers_declared_as_categories_are_categories():
    month = np.arange(200) % 7
    Y = np.isin(month, [1, 4, 5]).astype(float)[:, None]
    texts = pd.DataFrame({"month": [f"{m}" for m in month]})
    codes = pd.DataFrame({"month": pd.Categorical(month)})
    chunks = pa.table({"month": pa.array(month).dictionary_encode()})
    expected = fitted(texts, Y).decision_scores_
    for inputs in (codes, chunks):
        np.testing.assert_array_equal(fitted(inputs, Y).decision_scores_, expected)


def test_missing_texts_and_truths_of_pandas():
    X, Y = make_table()
    words = pd.Series(np.where(X[:, 0] > 0, "a", "b"), dtype="string").mask(np.arange(240) % 5 == 0)
    plain = words.astype(object).where(words.notna(), None)
    flags = pd.Series(Y[:, 0] == 1, dtype="boolean", name="flag").mask(np.arange(240) % 7 == 0)
    np.testing.assert_array_equal(
        fitted(pd.DataFrame({"w": words}), flags).decision_scores_,
        fitted(pd.DataFrame({"w": plain}), flags.to_numpy(dtype=float, na_value=np.nan)).decision_scores_,
    )


def test_low_cardinality_tables_are_modelled():
    """Copies of a row must not be kept out of one another's training: there may be nothing else."""
    rng = np.random.default_rng(0)
    ward, sex = rng.integers(0, 5, 1000), rng.integers(0, 2, 1000)
    X = pd.DataFrame({"ward": [f"w{w}" for w in ward], "sex": [f"s{s}" for s in sex]})
    Y = np.column_stack([ward < 2, sex, (ward == 3)]).astype(float)
    rows = rng.choice(1000, 10, replace=False)
    Y[rows, rng.integers(0, 3, 10)] = 1 - Y[rows, rng.integers(0, 3, 10)]
    model = fitted(X, Y)
    assert (model.output_quality_.skill > 0.8).all()


def test_a_single_output_may_be_a_vector():
    X, Y = make_table()
    np.testing.assert_array_equal(fitted(X, Y[:, 0]).decision_scores_, fitted(X, Y[:, :1]).decision_scores_)
    named = fitted(X, pd.Series(Y[:, 0], name="flag"))
    assert named.output_names_ == ("flag",)


# Missing outputs


def with_holes(seed=0, share=0.15):
    X, Y = make_table(300, seed=seed)
    holes = np.random.default_rng(seed).random(Y.shape) < share
    return X, np.where(holes, np.nan, Y), holes


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("parents", ["others", "chain", "none"])
def test_missing_outputs_count_nowhere(score, parents):
    X, Y, holes = with_holes()
    Y[3] = np.nan
    holes[3] = True
    model = fitted(X, Y, rule=score, parents=parents)
    assert np.isfinite(model.decision_scores_).all()
    assert np.isnan(model.rho_[holes]).all()
    assert np.isfinite(model.rho_[~holes]).all()
    assert (model.contributions_[holes] == 0).all()
    assert model.decision_scores_[3] == 0
    np.testing.assert_array_equal(model.output_quality_.observed, (~holes).sum(axis=0))


def test_a_missing_output_enters_as_a_parent_by_its_expected_value_given_the_inputs():
    """y1 copies y0, and y0 is told by x: where y0 is missing, y1's odds follow what x says of y0."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 1))
    y0 = (x[:, 0] > 0).astype(float)
    Y = np.column_stack([y0, np.where(rng.random(600) < 0.02, 1 - y0, y0)])
    Y[rng.random(600) < 0.2, 0] = np.nan
    model = fitted(x, Y, rule="prod", crossfit=False)
    asked, gone = np.array([[-2.0], [2.0]]), np.array([[np.nan, 1.0], [np.nan, 1.0]])
    low, high = -model.decision_function(asked, gone) / 2
    known = -model.contributions(asked, np.array([[0.0, 1.0], [1.0, 1.0]]))[:, 1]
    np.testing.assert_allclose([low, high], known, atol=0.3)
    assert high - low > 2


def test_a_missing_output_does_not_let_another_predict_itself():
    """x is noise and y0 says little of y1; were y0 filled in with y1's help, y1 would seem well predicted."""
    rng = np.random.default_rng(0)
    x, y1 = rng.normal(size=(600, 2)), (rng.random(600) < 0.5).astype(float)
    y0 = np.where(rng.random(600) < 0.3, 1 - y1, y1)
    skills = []
    for share in (0.0, 0.9):
        Y = np.column_stack([np.where(rng.random(600) < share, np.nan, y0), y1])
        skills.append(fitted(x, Y, crossfit=True, rule="prod").output_quality_["y1"]["skill"])
    assert skills[1] < skills[0]


@pytest.mark.parametrize("score", ["prod", "rw"])
def test_rows_with_holes_score_alike_in_the_fit_and_as_new_rows(score):
    X, Y, _ = with_holes()
    model = fitted(X, Y, rule=score, crossfit=False)
    np.testing.assert_allclose(model.decision_function(X, Y), model.decision_scores_, atol=1e-8)


def test_rows_with_and_without_holes_compare():
    X, Y, _ = with_holes(share=0.5)
    scores = fitted(X, Y, rule="prod").decision_scores_
    present = (~np.isnan(Y)).sum(axis=1)
    few, many = scores[(present > 0) & (present <= 1)], scores[present >= 3]
    assert 0.5 < np.mean(few) / np.mean(many) < 2


def test_an_output_that_is_missing_everywhere_is_refused_by_name():
    X, Y = frame(*make_table())
    Y["tag2"] = np.nan
    with pytest.raises(DataError, match="'tag2' is missing in every row"):
        fitted(X, Y)

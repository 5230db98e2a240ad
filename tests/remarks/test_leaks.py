"""Inputs that give outputs away: found in every form that they come in, and only then."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from support.tables import fitted, frame, make_table

from amiss.arrays import average_ranks
from amiss.data.remark import Code
from amiss.data.validation import as_inputs, as_outputs
from amiss.remarks.leaks import LeakSearch, Target, targets
from amiss.remarks.probes import Probe, probes, probes_of

CELL = st.tuples(st.integers(-3, 3), st.sampled_from([0.0, 1.0, np.nan]))


@given(st.lists(CELL, min_size=4, max_size=40))
def test_what_a_column_tells_of_a_tag_is_its_auc(cells):
    x, y = np.array(cells, dtype=float).T
    seen = ~np.isnan(y)
    told = Target(0, y, False).told_by(average_ranks(x), np.arange(len(x)))
    if len(np.unique(y[seen])) < 2:
        assert told == 0
    else:
        assert told == pytest.approx(abs(2 * roc_auc_score(y[seen], x[seen]) - 1), abs=1e-12)


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 5)), min_size=4, max_size=40))
def test_what_a_column_tells_of_an_amount_is_its_rank_correlation(cells):
    x, y = np.array(cells, dtype=float).T
    told = Target(0, y, True).told_by(average_ranks(x), np.arange(len(x)))
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert told == pytest.approx(abs(spearmanr(x, y).statistic), abs=1e-9)
    else:
        assert told == 0


def test_many_probes_at_once_are_told_as_one_by_one():
    X, Y = make_table(300)
    asked = targets(as_outputs(Y), X.shape[1])
    rows = np.arange(300)
    found = list(probes(as_inputs(X), rows, np.arange(X.shape[1])))
    search = LeakSearch(asked, rows, X.shape[1])
    search.look(found)
    expected = [[target.told_by(probe.ranks, rows) for target in asked] for probe in found]
    np.testing.assert_allclose(search.told, expected, atol=1e-12)


def of_code(detector, code):
    return [remark.text for remark in detector.fitted_.remarks if remark.code == code]


def leaky(kind, y, rng):
    """A column that tells y: by its size, by a level, by a gap, against the order."""
    if kind == "number":
        return y + 0.3 * rng.random(len(y))
    if kind == "reversed":
        return -5 * y
    if kind == "gap":
        return np.where(y == 1, np.nan, rng.normal(size=len(y)))
    return np.where(y == 1, "done", rng.choice(["open", "waiting"], len(y)))


@pytest.mark.parametrize("kind", ["number", "reversed", "gap", "level"])
@pytest.mark.parametrize("wrong", [0, 1])
def test_an_input_that_gives_an_output_away_is_named(kind, wrong):
    X, Y = frame(*make_table(400))
    X["result"] = leaky(kind, Y["tag2"].to_numpy(), np.random.default_rng(0))
    Y.loc[Y.index < wrong, "tag2"] = 1 - Y["tag2"]  # an error makes it no less a leak
    (said,) = of_code(fitted(X, Y), Code.LEAK)
    assert said.startswith("One input alone gives an output away: result tells tag2. ") and "--drop" in said


def test_columns_that_only_help_are_no_leaks():
    for seed in range(5):
        X, Y = make_table(400, seed=seed)
        assert of_code(fitted(X, Y), Code.LEAK) == []


def test_few_rows_and_many_columns_make_no_leak():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(24, 400)), np.repeat([[0.0, 1.0], [1.0, 0.0]], 12, axis=0)
    assert np.abs(2 * np.array([roc_auc_score(Y[:, 0], x) for x in X.T]) - 1).max() > 0.6
    assert of_code(fitted(X, Y, n_neighbors=5), Code.LEAK) == []


def test_codes_of_a_class_and_another_unit_of_a_number_are_leaks():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4))
    ward = np.argmax(x[:, :3] + 0.5 * rng.normal(size=(300, 3)), axis=1)
    Y = pd.DataFrame({"ward": np.array(["eyes", "heart", "knees"])[ward], "dose": 20 + x[:, 3].round(3)})
    X = pd.DataFrame(x + 0.5 * rng.normal(size=x.shape), columns=list("abcd"))
    assert of_code(fitted(X, Y), Code.LEAK) == []
    X["code"], X["fahrenheit"] = np.array([2, 0, 1])[ward], Y["dose"] * 1.8 + 32
    (said,) = of_code(fitted(X, Y), Code.LEAK)
    assert "code tells ward and fahrenheit tells dose" in said


def test_sparse_inputs_are_looked_at_too():
    rng = np.random.default_rng(0)
    X = sparse.random_array((400, 30), density=0.2, rng=rng).tolil()
    Y = (rng.random((400, 2)) < 0.3).astype(float)
    X[:, [7]] = 3 * Y[:, [1]]
    (said,) = of_code(fitted(X.tocsr(), Y), Code.LEAK)
    assert "x7 tells y1" in said


def test_the_users_own_predictions_are_no_leak():
    X, Y = make_table(300)
    P = np.clip(0.99 * Y + 0.005, 0, 1)
    assert of_code(fitted(X, Y).fit(X, Y, probabilities=P), Code.LEAK) == []


def test_a_column_that_hardly_varies_shows_nothing():
    cells = np.zeros(100)
    cells[:9] = 1
    assert list(probes_of(0, cells, False)) == []
    cells[9] = 1
    (probe,) = probes_of(0, cells, False)
    assert isinstance(probe, Probe) and probe.by_rank

"""The detector as a user meets it: hard cases, invariances, new rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import LinearSVC
from support.tables import SCORES, fitted, frame, make_table

from amiss.errors import DataError

# Hard cases: a finite score, or an error that names the column

HARD = {
    "constant outputs": lambda X, Y: (X, np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))])),
    "only constant outputs": lambda X, Y: (X, np.zeros_like(Y)),
    "constant inputs": lambda X, Y: (np.column_stack([X, np.full(len(X), 7.0)]), Y),
    "only constant inputs": lambda X, Y: (np.ones_like(X), Y),
    "all-zero inputs": lambda X, Y: (np.zeros_like(X), Y),
    "one positive": lambda X, Y: (X, np.column_stack([Y, np.arange(len(Y)) == 4])),
    "one negative": lambda X, Y: (X, np.column_stack([Y, np.arange(len(Y)) != 4])),
    "an output observed once": lambda X, Y: (
        X,
        np.column_stack([Y, np.where(np.arange(len(Y)) == 4, 1, np.nan)]),
    ),
    "duplicate rows": lambda X, Y: (np.repeat(X[:5], 40, axis=0), np.repeat(Y[:5], 40, axis=0)),
    "all rows alike": lambda X, Y: (np.repeat(X[:1], 40, axis=0), np.repeat(Y[:1], 40, axis=0)),
    "equal outputs": lambda X, Y: (X, np.column_stack([Y, Y, 1 - Y])),
    "separable": lambda X, Y: (X, (X[:, :4] > 0).astype(float)),
    "fewer rows than k": lambda X, Y: (X[:12], Y[:12]),
    "two rows": lambda X, Y: (X[:2], Y[:2]),
    "one row": lambda X, Y: (X[:1], Y[:1]),
    "more columns than rows": lambda X, Y: (np.random.default_rng(0).normal(size=(40, 300)), Y[:40]),
    "huge scale": lambda X, Y: (X * 1e300, Y),
    "tiny scale": lambda X, Y: (X * 1e-300, Y),
    "mixed scales": lambda X, Y: (X * 10.0 ** np.arange(-200, 300, 100), Y),
    "collinear": lambda X, Y: (np.column_stack([X, X, X.sum(axis=1)]), Y),
    "an input missing everywhere": lambda X, Y: (np.column_stack([X, np.full(len(X), np.nan)]), Y),
    "float32": lambda X, Y: (X.astype(np.float32), Y.astype(np.float32)),
    "an empty sparse row": lambda X, Y: (sparse.csr_array(X * (np.arange(len(X)) != 3)[:, None]), Y),
}


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("case", HARD)
def test_hard_cases_have_finite_scores(case, score):
    X, Y = HARD[case](*make_table())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(X, Y, rule=score)
        new = model.decision_function(X, Y)
    assert np.isfinite(model.decision_scores_).all()
    assert (model.decision_scores_ >= 0).all()
    assert np.isfinite(new).all()
    assert set(model.labels_) <= {0, 1}


@pytest.mark.parametrize("scaling", ["none", "standard", "maxabs", "log-unit"])
@pytest.mark.parametrize("case", HARD)
def test_hard_cases_have_finite_scores_in_every_scaling(case, scaling):
    X, Y = HARD[case](*make_table(80))
    try:
        model = fitted(X, Y, scaling=scaling, strengths=(1.0,))
    except DataError as refused:
        assert scaling == "none"
        assert "too large to fit unscaled" in str(refused)
        return
    assert np.isfinite(model.decision_scores_).all()


@given(
    st.integers(1, 12), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10_000),
    st.sampled_from([1e-200, 1.0, 1e200]), st.floats(0, 0.6), st.sampled_from([0.5, True, False]),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_no_table_however_odd_has_a_score_that_is_not_finite(n, m, d, seed, scale, holes, crossfit):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, m)) < holes, np.nan, rng.integers(-2, 3, size=(n, m)) * scale)
    Y = np.where(rng.random((n, d)) < holes, np.nan, rng.integers(0, 2, size=(n, d)))
    try:
        model = fitted(X, Y, crossfit=crossfit, strengths=(1.0, 0.01))
    except DataError as refused:
        assert "missing in every row" in str(refused)
        return
    assert np.isfinite(model.decision_scores_).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X.assign(in2=np.inf), Y), "row 0, column 'in2': the value is infinite"),
        (lambda X, Y: (X, Y.assign(tag1=2.0)), "row 0, column 'tag1': an output must be 0 or 1"),
        (lambda X, Y: (X, Y.assign(tag1="maybe")), "column 'tag1': an output must be"),
        (lambda X, Y: (X, Y.iloc[:-1]), "X has 240 rows and Y has 239"),
        (lambda X, Y: (pd.concat([X, X[["in0"]]], axis=1).to_numpy(), Y.iloc[:0]), "rows"),
        (lambda X, Y: (X.assign(name=[f"p{i}" for i in range(240)]), Y), "'name'.*looks like an identifier"),
    ],
)
def test_bad_tables_are_refused_by_place(change, message):
    X, Y = frame(*make_table())
    with pytest.raises(DataError, match=message):
        fitted(*change(X, Y))


def test_messages_hold_no_cells():
    X, Y = frame(*make_table())
    with pytest.raises(DataError) as refused:
        fitted(X, Y.assign(tag1="secret"))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"parents": "all"}, {"rule": "sum"}, {"crossfit": "no"}, {"crossfit": "half"}, {"crossfit": 2},
        {"scaling": "robust"}, {"neighbor_space": "outputs"}, {"weighting": "mean"}, {"contamination": 0},
        {"contamination": 0.7}, {"contamination": "some"}, {"fdr": 0}, {"fdr": 1}, {"fdr": "low"},
        {"parent_penalty": 0}, {"cv": 1}, {"cv": 2.5}, {"exclude": 1}, {"order": [3, 2, 1, 0]},
        {"n_neighbors": 2.5}, {"n_neighbors": -1}, {"strengths": ()}, {"strengths": (0.0,)}, {"order": [0, 1]},
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_at_fit(parameters):
    X, Y = make_table(40)
    (name,) = parameters
    with pytest.raises(ValueError, match=name):
        fitted(X, Y, **parameters)


# Invariances


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("crossfit", [0.5, False])
def test_row_order_changes_nothing(score, crossfit):
    X, Y = make_table()
    X = np.round(X)  # many ties and copies
    X[100:120], Y[100:120] = X[:20], Y[:20]
    order = np.random.default_rng(1).permutation(len(X))
    one, other = (fitted(X[o], Y[o], rule=score, crossfit=crossfit) for o in (slice(None), order))
    np.testing.assert_allclose(other.decision_scores_, one.decision_scores_[order], rtol=1e-12)
    np.testing.assert_allclose(other.rho_, one.rho_[order], rtol=1e-12)
    np.testing.assert_allclose(one.decision_scores_[100:120], one.decision_scores_[:20], rtol=1e-9)


def test_calling_twice_changes_nothing():
    X, Y = make_table()
    model = fitted(X, Y)
    first = model.decision_scores_.copy(), model.decision_function(X, Y)
    again = model.decision_function(X, Y)
    np.testing.assert_array_equal(first[1], again)
    np.testing.assert_array_equal(first[0], model.decision_scores_)
    np.testing.assert_array_equal(first[0], model.fit(X, Y).decision_scores_)


@pytest.mark.parametrize("density", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("score", SCORES)
def test_dense_and_sparse_agree(density, score):
    X, Y = make_table()
    X = np.abs(X) * (np.random.default_rng(0).random(X.shape) < density)
    dense, thin = fitted(X, Y, rule=score), fitted(sparse.csr_array(X), sparse.csr_array(Y), rule=score)
    np.testing.assert_allclose(dense.decision_scores_, thin.decision_scores_, atol=1e-6)


@pytest.mark.parametrize("score", SCORES)
def test_batches_of_new_rows_are_scored_like_the_whole(score):
    X, Y = make_table()
    Y[5, 1] = np.nan
    model = fitted(X, Y, rule=score)
    whole = model.decision_function(X, Y)
    parts = [model.decision_function(X[a : a + 7], Y[a : a + 7]) for a in range(0, len(X), 7)]
    np.testing.assert_allclose(np.concatenate(parts), whole, atol=1e-9)


@pytest.mark.parametrize("score", ["prod", "rw"])
def test_in_sample_scores_are_those_of_the_same_rows_as_new(score):
    X, Y = make_table()
    model = fitted(X, Y, rule=score, crossfit=False)
    np.testing.assert_allclose(model.decision_function(X, Y), model.decision_scores_, atol=1e-9)


# New rows


def test_new_rows_are_matched_by_name():
    X, Y = frame(*make_table())
    model = fitted(X, Y)
    expected = model.decision_function(X, Y)
    np.testing.assert_allclose(model.decision_function(X[X.columns[::-1]], Y[Y.columns[::-1]]), expected)
    np.testing.assert_allclose(model.decision_function(X.to_numpy(), Y.to_numpy()), expected)
    numbered = X.set_axis([f"x{i}" for i in range(5)], axis=1)
    other = fitted(numbered, Y)
    np.testing.assert_allclose(other.decision_function(numbered[numbered.columns[::-1]], Y), expected)
    with pytest.raises(DataError, match=r"input columns.*missing 'in3'; unknown 'other'"):
        model.decision_function(X.rename(columns={"in3": "other"}), Y)
    with pytest.raises(DataError, match=r"output columns.*missing 'tag0'"):
        model.decision_function(X, Y[["tag1", "tag2", "tag3"]])


def test_flags_follow_the_threshold():
    X, Y = make_table()
    model = fitted(X, Y, contamination=0.05)
    assert model.labels_.sum() == 12
    np.testing.assert_array_equal(model.labels_, model.decision_scores_ > model.threshold_)
    np.testing.assert_array_equal(model.predict(X, Y), model.decision_function(X, Y) > model.threshold_)
    np.testing.assert_array_equal(model.fit_predict(X, Y), model.labels_)


def test_flipped_outputs_are_found():
    X, Y = make_table(600, seed=5)
    rng = np.random.default_rng(0)
    rows = rng.choice(600, 6, replace=False)
    Y[rows] = 1 - Y[rows]
    model = fitted(X, Y)
    assert len(set(np.argsort(-model.decision_scores_)[:6]) & set(rows)) >= 4


def test_a_chain_follows_its_order_by_name_or_number():
    X, Y = frame(*make_table())
    by_name = fitted(X, Y, parents="chain", order=["tag3", "tag0", "tag2", "tag1"], crossfit=False)
    by_number = fitted(X, Y, parents="chain", order=[3, 0, 2, 1], crossfit=False)
    np.testing.assert_array_equal(by_name.decision_scores_, by_number.decision_scores_)
    between = by_name.fitted_.models.model.coef[5:]
    assert (between[:, 3] == 0).all()
    assert np.count_nonzero(between[:, 1]) == 3


@pytest.mark.parametrize("seed", [None, np.random.RandomState(3), np.random.default_rng(3), np.int64(4)])
def test_any_kind_of_seed(seed):
    X, Y = make_table(60)
    assert np.isfinite(fitted(X, Y, random_state=seed).decision_scores_).all()


def test_a_classifier_that_fails_is_named_with_its_output():
    X, Y = frame(*make_table())
    Y["rare"] = (np.arange(240) == 3).astype(float)
    with pytest.raises(DataError, match="output 'rare', which is 1 in 1 rows and 0 in 239"):
        fitted(X, Y, model=CalibratedClassifierCV(LinearSVC(), cv=3), crossfit=False)


def test_progress_is_shown_on_standard_error(capsys, monkeypatch):
    monkeypatch.setattr("amiss.progress.DELAY", 0.0)
    X, Y = make_table()
    fitted(X, Y, verbose=True)
    shown = capsys.readouterr()
    assert "fitting outputs" in shown.err
    assert "finding neighbours" in shown.err
    assert shown.out == ""
    fitted(X, Y)
    assert capsys.readouterr().err == ""


def test_the_recall_of_an_earlier_fit_does_not_linger(table):
    detector = fitted(*table)
    assert detector.neighbor_recall_ == 1
    assert not hasattr(detector.set_params(rule="rw").fit(*table), "neighbor_recall_")

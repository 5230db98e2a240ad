"""A classifier of the user's sees the inputs as they came, where it can take them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import amiss
from amiss.data.convert import as_table
from amiss.encoding.as_given import AsGiven
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.models.classifiers import NOT_AS_GIVEN

SEEN: list[object] = []


class Recorder(ClassifierMixin, BaseEstimator):
    """Notes what it is shown, and predicts the base rate."""

    def fit(self, X, y):
        SEEN.append(X)
        self.classes_, self.rate_ = np.array([0, 1]), np.mean(y)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.rate_, self.rate_], (X.shape[0], 1))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    wards = rng.choice(["a", "b", "c"], 120)
    X = pd.DataFrame({"age": rng.normal(50, 20, 120), "ward": wards, "dose": rng.random(120)})
    X.loc[::7, "age"] = np.nan
    X.loc[::11, "ward"] = None
    Y = pd.DataFrame({"ill": (X["age"].fillna(50) > 50).astype(int), "old": (X["dose"] > 0.5).astype(int)})
    return X, Y


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_encoded_rows_are_shown_as_they_came(table, library):
    X, _ = table
    given = as_table(X)
    encoder = fit_encoder(given, SCALINGS["none"])
    shown = AsGiven(encoder, library).of(encoder.transform(given), np.ones((120, 1)), ("seen",))
    frame = shown if library == "pandas" else pd.DataFrame(shown, columns=[*X.columns, "seen"])
    if library == "polars":
        assert isinstance(shown, pl.DataFrame)
        frame = shown.to_pandas()
    for name in ("age", "dose"):
        np.testing.assert_array_equal(frame[name].astype(float), X[name])  # to the last bit, NaN where it was
    assert [None if pd.isna(each) else each for each in frame["ward"]] == [
        None if pd.isna(each) else each for each in X["ward"]
    ]
    assert (frame["seen"] == 1).all()


def test_an_estimator_is_shown_a_frame_with_missing_cells_and_categories(table):
    X, Y = table
    SEEN.clear()
    amiss.MCODE(model=Recorder(), n_jobs=1, crossfit=False, rule="prod").fit(X, Y)
    for frame in SEEN:
        assert isinstance(frame, pd.DataFrame)
        assert isinstance(frame["ward"].dtype, pd.CategoricalDtype) and frame["age"].isna().any()
    inputs = ("age", "ward", "dose")
    assert {tuple(frame.columns) for frame in SEEN} >= {(*inputs, "old"), (*inputs, "ill")}


def test_a_pipeline_that_knows_the_columns_by_name_works_and_explains(table):
    X, Y = table
    by_name = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["ward"]), remainder="passthrough")
    model = make_pipeline(by_name, HistGradientBoostingClassifier(max_iter=5, random_state=0))
    detector = amiss.MCODE(model=model, n_neighbors=20, cv=3).fit(X, Y)
    assert NOT_AS_GIVEN not in detector.fitted_.notes
    scores = detector.decision_function(X.iloc[:5], Y.iloc[:5])
    np.testing.assert_array_equal(scores, detector.decision_scores_[:5])
    assert np.isfinite(detector.decision_function(X.iloc[:5], 1 - Y.iloc[:5])).all()
    suspect = detector.explain(3).suspects[0]
    assert suspect.score_if_changed is not None


def test_an_estimator_that_refuses_missing_cells_sees_encoded_ones_and_a_note_says_so(table):
    X, Y = table
    detector = amiss.MCODE(model=LogisticRegression(), n_neighbors=20, cv=3).fit(X, Y)
    assert NOT_AS_GIVEN in detector.fitted_.notes and np.isfinite(detector.decision_scores_).all()


def test_numbers_are_shown_unscaled_and_neighbours_are_scaled():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3)) * [1.0, 1e4, 1e-4]
    Y = (X[:, :2] > 0).astype(int)
    SEEN.clear()
    detector = amiss.MCODE(model=Recorder(), n_jobs=1).fit(X, Y)
    assert all(np.isin(shown[:, 1], X[:, 1]).all() for shown in SEEN)
    scaled = amiss.MCODE(model=GaussianNB(), scaling="rank").fit(X, Y)
    ours, theirs = (each.fitted_.scorer.local.neighborhood.neighbors for each in (detector, scaled))
    assert np.mean([len(set(a) & set(b)) for a, b in zip(ours, theirs, strict=True)]) > 99  # of 100


def test_a_sparse_table_stays_sparse_for_those_who_take_it():
    rng = np.random.default_rng(2)
    X = sparse.random_array((150, 40), density=0.05, rng=rng, format="csr")
    Y = (X[:, [0]].toarray() > 0).astype(int) | rng.integers(0, 2, (150, 2))
    for model in (make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), GaussianNB()):
        assert np.isfinite(amiss.MCODE(model=model, cv=3).fit(X, Y).decision_scores_).all()


def test_a_worse_estimator_is_remarked_on_and_a_better_one_is_not():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    linear = (X.sum(axis=1, keepdims=True) + rng.normal(size=(300, 1)) > 0).astype(int)
    product = (X[:, [0]] * X[:, [1]] > 0).astype(int)
    worse = amiss.MCODE(model=RandomForestClassifier(5, random_state=0), cv=3).fit(X, linear)
    better = amiss.MCODE(model=HistGradientBoostingClassifier(max_iter=30), cv=3).fit(X, product)
    assert any("worse than linear models" in note for note in worse.fitted_.notes)
    assert not any("worse than linear models" in note for note in better.fitted_.notes)

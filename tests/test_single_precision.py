"""Inputs in single precision: the same results as in double, in a fraction of the memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.stats import spearmanr

import amiss
from amiss.data.convert import as_table
from amiss.data.fingerprints import fingerprints
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.leading_axes import is_wide
from amiss.encoding.scalings import SCALINGS


def embedding(n_rows, n_columns, n_outputs=6, n_factors=24, seed=0):
    """Float32 inputs whose columns vary together, and outputs that depend on what they share."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((n_rows, n_factors))
    spread = 1 / np.sqrt(1 + np.arange(n_factors))
    X = (factors * spread) @ rng.standard_normal((n_factors, n_columns)) / np.sqrt(n_columns)
    X += rng.normal(scale=0.1 / np.sqrt(n_columns), size=X.shape)
    log_odds = 2 * factors @ rng.standard_normal((n_factors, n_outputs)) - 1
    Y = (rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(float)
    return X.astype(np.float32), Y


def with_gaps(X):
    X = X.copy()
    X[::7, 2] = np.nan
    X[5, :4] = np.nan
    return X


@pytest.fixture(scope="module")
def wide():
    """A fit of a wide table: along leading axes."""
    X, Y = embedding(1600, 300)
    assert is_wide(X)
    return X, Y, amiss.MCODE().fit(X, Y)


# Single precision has 7 digits. What is learned of columns is the same in both, the encoded inputs are rounded
# once, and the models' log-odds are sums of dozens of them: about five digits of the scores remain.
@pytest.mark.parametrize("scaling", ["auto", *SCALINGS])
@pytest.mark.parametrize("change", [lambda X: X, with_gaps])
def test_single_and_double_precision_give_the_same_scores(scaling, change):
    X, Y = embedding(400, 12, n_outputs=3)
    X = change(X)
    single, double = (amiss.MCODE(scaling=scaling).fit(inputs, Y) for inputs in (X, X.astype(np.float64)))
    assert single.fitted_.models.training_rows.design.dtype == np.float32
    np.testing.assert_allclose(single.decision_scores_, double.decision_scores_, rtol=1e-4, atol=1e-5)
    new = X[:40] + np.float32(0.01)
    scores = [fit.decision_function(new, Y[:40]) for fit in (single, double)]
    np.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)


def test_models_of_wide_tables_are_the_same_in_either_precision():
    X, Y = embedding(1600, 300)
    single, double = (amiss.MCODE(n_neighbors=0).fit(inputs, Y) for inputs in (X, X.astype(np.float64)))
    np.testing.assert_allclose(single.decision_scores_, double.decision_scores_, rtol=1e-2, atol=1e-3)
    assert spearmanr(single.decision_scores_, double.decision_scores_).statistic > 0.99999


# Neighbours of wide rows are found along the leading axes, so some of them are others, and local weights differ.
def test_wide_tables_have_the_same_ranking_in_either_precision(wide):
    X, Y, single = wide
    double = amiss.MCODE().fit(X.astype(np.float64), Y)
    assert spearmanr(single.decision_scores_, double.decision_scores_).statistic > 0.995
    top = [set(np.argsort(fit.decision_scores_)[-50:]) for fit in (single, double)]
    assert len(top[0] & top[1]) >= 45


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int32, bool])
def test_fingerprints_are_of_the_numbers_not_of_their_precision(kind):
    values = np.array([[0, 1, 3], [1, 0, 7], [2, 2, 0]]).astype(kind)
    table = as_table(values)
    assert table.values.dtype == (np.float32 if kind in (np.float16, np.float32) else np.float64)
    assert np.array_equal(fingerprints(table.values, 3), fingerprints(values.astype(np.float64), 3))


def test_rows_of_the_fit_are_recognised_in_either_precision(wide):
    X, Y, fit = wide
    batch = fit.score_batch(X[:30].astype(np.float64), Y[:30])
    assert np.array_equal(batch.in_fit, np.arange(30))
    assert np.array_equal(batch.scores, fit.decision_scores_[:30])


def test_frames_of_single_precision_stay_single():
    import pandas as pd
    import polars as pl

    X, _ = embedding(20, 4)
    names = [f"c{i}" for i in range(4)]
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        assert as_table(frame).values.dtype == np.float32
        assert np.array_equal(as_table(frame).values, X)
    mixed = pd.DataFrame(X, columns=names).assign(more=np.pi)
    assert as_table(mixed).values.dtype == np.float64


def test_the_users_array_is_neither_copied_nor_changed():
    X, Y = embedding(300, 10)
    assert np.shares_memory(as_table(X).values, X)
    before = X.copy()
    fit = amiss.MCODE().fit(X, Y)
    assert X.flags.writeable and np.array_equal(X, before)
    scores = fit.decision_function(before + np.float32(0.1), Y)
    X[:] = 0  # what was fitted is no longer that array
    assert np.array_equal(fit.decision_function(before + np.float32(0.1), Y), scores)


@pytest.mark.parametrize("scaling", ["rank", "block", "standard"])
def test_the_encoder_is_the_same_for_the_same_numbers(scaling):
    X, _ = embedding(3000, 40)
    single, double = (fit_encoder(as_table(values), SCALINGS[scaling]) for values in (X, X.astype(np.float64)))
    for name in ("means", "low", "high", "unit", "centre", "scale"):
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), rtol=1e-12, atol=1e-14)
    assert np.array_equal(single.distribution.at, double.distribution.at)
    np.testing.assert_allclose(
        single.transform(as_table(X)), double.transform(as_table(X.astype(float))), atol=1e-6
    )
    few, all_rows = single.transform(as_table(X[:3])), single.transform(as_table(X))[:3]
    np.testing.assert_allclose(few, all_rows, rtol=1e-6)


def test_no_matrix_of_the_size_of_the_table_is_made_in_double_precision():
    def peak(X, Y):
        tracemalloc.start()
        amiss.MCODE(n_neighbors=0, scaling="block", strengths=[1.0]).fit(X, Y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    peak(*embedding(300, 10))  # modules that are imported at the first fit are not counted
    X, Y = embedding(6000, 600, n_outputs=2)
    # The rows in their order, which become the encoded rows, take as much as X; the rest is covariances and
    # blocks, which do not grow with the rows. In double precision it is ten times X.
    assert peak(X, Y) < 4.5 * X.nbytes


def test_a_saved_model_of_single_precision_scores_the_same_to_the_last_bit(wide, tmp_path):
    X, Y, fit = wide
    fit.save(tmp_path / "m.amiss")
    loaded = amiss.load(tmp_path / "m.amiss")
    assert loaded.fitted_.models.training_rows.design.dtype == np.float32
    new = X[:60] + np.float32(1e-3)
    assert np.array_equal(loaded.decision_scores_, fit.decision_scores_)
    assert np.array_equal(loaded.decision_function(new, Y[:60]), fit.decision_function(new, Y[:60]))
    assert str(loaded.explain(7)) == str(fit.explain(7))


def test_batches_of_single_precision_are_compared_with_the_fit(wide):
    X, Y, fit = wide
    rounded = X[:200].astype(np.float16).astype(np.float32)
    assert fit.score_batch(rounded, Y[:200]).findings.near_copies > 100
    shifted = X[:200].copy()
    shifted[:, 3] += 100
    batch = fit.score_batch(shifted, Y[:200])
    assert [each.column for each in batch.findings.shifts] == ["x3"]
    assert [(each.column, each.kind) for each in batch.findings.unseen] == [("x3", "scale")]

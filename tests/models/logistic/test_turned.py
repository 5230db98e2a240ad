"""Wide inputs in single precision are turned along their principal axes without a copy of them."""

from __future__ import annotations

import numpy as np
import pytest

from amiss.encoding.leading_axes import axes_of, covariance_of, is_wide, orthonormal, sampled_axes
from amiss.models.folds import stratified_folds
from amiss.models.logistic import fit as fitting
from amiss.models.logistic.blocks import DenseBlocks, Layout, Running
from amiss.models.logistic.fit import fit_logistic
from amiss.models.logistic.pool import Pool
from amiss.models.logistic.turned import TurnedBlocks, TurnedRows

STRENGTHS = (0.1, 1.0, 10.0)


def table(n_rows, n_columns, told_by=(0, 3), offset=0.0, n_outputs=2, seed=0):
    """Float32 inputs of falling variance along random axes; the outputs depend on the axes ``told_by``."""
    rng = np.random.default_rng(seed)
    places = rng.standard_normal((n_rows, n_columns))
    axes = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0]
    X = (places / np.sqrt(1 + np.arange(n_columns))) @ axes.T / 3 + offset
    log_odds = 3 * places[:, list(told_by)] @ rng.standard_normal((len(told_by), n_outputs))
    Y = (rng.random(log_odds.shape) < 1 / (1 + np.exp(-log_odds))).astype(float)
    return X.astype(np.float32), Y


def fitted(X, Y, alone=None):
    others = ~np.eye(Y.shape[1], dtype=bool)
    folds = stratified_folds(Y, 5)
    return fit_logistic(X, Y, np.ones_like(others, shape=Y.shape), others, STRENGTHS, folds, n_jobs=1, alone=alone)


def test_what_is_wide():
    assert is_wide(np.empty((1024, 256), dtype=np.float32))
    assert not is_wide(np.empty((1023, 256), dtype=np.float32)) and not is_wide(np.empty((1024, 256)))
    assert not is_wide(np.empty((5000, 255), dtype=np.float32))


def test_the_leading_axes_hold_what_the_principal_axes_hold():
    X, _ = table(1500, 300)
    covariance = covariance_of(X, X.mean(axis=0, dtype=float))
    np.testing.assert_allclose(covariance, np.cov(X.T.astype(float), bias=True) * len(X), rtol=1e-4, atol=1e-3)
    axes, variance = axes_of(covariance, 40, 1.0), np.linalg.eigvalsh(covariance)
    np.testing.assert_allclose(axes.T @ axes, np.eye(40), atol=1e-10)
    assert np.trace(axes.T @ covariance @ axes) > 0.995 * variance[-40:].sum()
    assert axes_of(covariance, 40, 0.1).shape[1] < 5
    along = sampled_axes(X, 40, 1.0, n_sampled=800).along(X)
    assert along.shape == (1500, 40) and along.dtype == np.float32


def test_directions_without_any_length_are_left_out():
    assert orthonormal(np.eye(5)[:, [0, 1, 0]]).shape == (5, 2)


@pytest.mark.parametrize("offset", [0.0, 2.0])
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_products_are_those_of_the_turned_matrix(offset, precision):
    X, Y = table(1300, 260, offset=offset)
    turned = TurnedRows.of(X, Y, 2.0)
    np.testing.assert_allclose(turned.axes.T @ turned.axes, np.eye(260), atol=1e-10)
    Z = np.hstack([(X - turned.centre) @ turned.axes * 2.0, Y]).astype(precision)
    rng, layout, pool = np.random.default_rng(1), Layout.of(turned), Pool()
    np.testing.assert_allclose(turned.mean(axis=0, dtype=float), Z.mean(axis=0, dtype=float), atol=1e-5)
    coef, offsets = rng.normal(size=(262, 3)).astype(precision), rng.normal(size=3).astype(precision)
    signs = rng.normal(size=(1300, 3)).astype(precision)
    found = []
    for blocks in (
        TurnedBlocks(turned, layout, 0, pool, np.dtype(precision)),
        DenseBlocks(Z, layout, 0, pool, Z.dtype),
    ):
        running = Running.into(np.empty((263, 3), dtype=precision), len(layout.shards(3)))
        margins = np.empty((1300, 3))

        def turn(rows, f, margins=margins):
            margins[rows] = f
            f *= signs[rows]
            return (f.sum(axis=0),)

        blocks.products(coef, offsets, turn, running)
        running.finish()
        moments = [()] * len(layout.shards(3))
        blocks.moments(np.abs(signs), moments)
        found.append((margins, running.products[0], *(sum(each) for each in zip(*moments, strict=True))))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3 * np.abs(theirs).max())


@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_the_fit_is_that_of_the_same_numbers_in_double_precision(offset):
    X, Y = table(1600, 300, told_by=(0, 3, 280), offset=offset)
    single, double = (fitted(inputs, Y, alone=np.zeros(2, dtype=bool)) for inputs in (X, X.astype(np.float64)))
    assert single.converged.all() and np.array_equal(single.strength, double.strength)
    for ours, theirs in ((single, double), (single.alone, double.alone)):
        np.testing.assert_allclose(ours.in_sample, theirs.in_sample, atol=2e-3)
        np.testing.assert_allclose(ours.out_of_fold, theirs.out_of_fold, atol=0.03)  # folds stop early


def test_coefficients_on_the_columns_give_the_log_odds_of_the_fit():
    X, Y = table(1400, 300)
    fit = fitted(X, Y)
    assert fit.model.coef.shape == (302, 2)
    np.testing.assert_allclose(fit.model.log_odds(X, Y), fit.in_sample, atol=1e-4)
    np.testing.assert_array_equal(fit.in_sample + fit.fold_models.shifts(X, Y), fit.out_of_fold)


def test_columns_of_very_different_scales_are_not_turned():
    X, Y = table(1300, 260)
    X[:, 0] *= 1e5
    assert TurnedRows.of(X, Y, 1.0) is None
    fit, double = fitted(X, Y), fitted(X.astype(np.float64), Y)
    np.testing.assert_allclose(fit.in_sample, double.in_sample, atol=0.05)


def test_some_rows_choose_the_strengths_of_many(monkeypatch):
    X, Y = table(4000, 300, told_by=(0, 3, 7))
    whole = fitted(X, Y)
    monkeypatch.setattr(fitting, "ENOUGH_ROWS", 2000)
    monkeypatch.setattr(fitting, "ROWS_PER_COLUMN", 1)
    chosen = []
    plain = fitting.choose_strengths

    def counted(rows, *how, **more):
        chosen.append(rows.layout.n_rows)
        return plain(rows, *how, **more)

    monkeypatch.setattr(fitting, "choose_strengths", counted)
    some = fitted(X, Y)
    assert chosen == [2000] and np.array_equal(some.strength, whole.strength)
    np.testing.assert_allclose(some.in_sample, whole.in_sample, atol=1e-3)
    Y[:, 1] = 0
    Y[:40, 1] = 1  # too rare to be judged by some rows
    fitted(X, Y)
    assert chosen == [2000, 4000]

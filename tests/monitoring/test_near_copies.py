"""Rows that differ from rows of the fit only by rounding are noticed, and others are not."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.monitoring.near_copies import NearCopies


@pytest.mark.parametrize("thin", [False, True])
def test_a_table_of_the_fit_with_fewer_digits_is_noticed(thin):
    X, Y = make_table(150, n_inputs=40, n_outputs=3)
    if thin:
        X *= np.random.default_rng(0).random(X.shape) < 0.08
    new_X, new_Y = make_table(60, n_inputs=40, n_outputs=3, seed=1)
    detector = fitted(X, Y)
    some = X[:8].round(5)
    assert detector.score_batch(np.vstack([some, new_X]), np.vstack([Y[:8], new_Y])).findings.near_copies == 8
    assert detector.score_batch(new_X, new_Y).findings.near_copies == 0


def test_rows_that_lie_near_by_nature_are_not_called_copies():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(3000, 1)), rng.normal(size=(100, 1))
    detector = MCODE(n_neighbors=10).fit(X, X > 0)
    batch = detector.score_batch(new, new > 0)
    rows = detector.fitted_.models.rows
    alike = NearCopies.of(rows.design, rows.Y).among(batch.encoded.design, batch.encoded.Y)
    assert alike.mean() > 0.5 and batch.findings.near_copies == 0


def test_what_the_encoding_hides_is_no_rounding():
    """A column that was constant has no scale, and beyond the highest value all ranks are alike."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), np.full(300, 2024.0), rng.normal(size=300)])
    Y = (rng.random((300, 2)) < 0.5).astype(float)
    detector = fitted(X, Y)
    next_year, far = X[:50].copy(), X[:50].copy()
    next_year[:, 1] = 2025
    far[:, 0] = X[:, 0].max() + rng.random(50)
    for new in (next_year, far):
        assert detector.score_batch(new, Y[:50]).findings.near_copies == 0


def test_chance_makes_hardly_any_near_copy():
    """Rows in a plane lie near one another now and then."""

    def world(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 2))
        return X, (X[:, :1] > 0).astype(float)

    detector = MCODE(n_neighbors=5, strengths=[1.0]).fit(*world(3000, 0))
    told = [detector.score_batch(*world(1000, seed)).findings.near_copies for seed in range(1, 21)]
    assert sum(each > 0 for each in told) <= 1, told

"""Injection and metrics, exactly as DESIGN.md defines them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import LocalOutlierFactor
from support.tables import make_table

from amiss import MCODE
from amiss.evaluation import atpar, inject, tpar, tpar_curve
from amiss.evaluation.baselines import lof, lof_of_fit

shapes = st.tuples(st.integers(1, 300), st.integers(1, 40))


def half_up(number):
    return max(1, int(np.floor(number + 0.5)))


@given(shapes, st.floats(0.001, 1), st.floats(0.001, 1), st.integers(0, 10_000))
def test_injection_flips_exactly_what_it_says(shape, ratio, dimensionality, seed):
    Y = (np.random.default_rng(seed).random(shape) < 0.3).astype(int)
    before = Y.copy()
    perturbed, touched = inject(Y, ratio, dimensionality, seed)
    np.testing.assert_array_equal(Y, before)
    assert set(np.unique(perturbed)) <= {0, 1}
    assert perturbed.dtype == Y.dtype
    changed = (perturbed != Y).sum(axis=1)
    np.testing.assert_array_equal(changed > 0, touched)
    assert touched.sum() == half_up(ratio * shape[0])
    assert (changed[touched] == half_up(dimensionality * shape[1])).all()
    again, _ = inject(Y, ratio, dimensionality, seed)
    np.testing.assert_array_equal(again, perturbed)


def test_the_draws_are_those_of_the_published_table():
    """What an earlier version drew for complete outputs: the reported seeds mean the same flips."""
    rng = np.random.default_rng(3)
    rows = rng.choice(700, size=7, replace=False)
    expected = np.zeros((700, 26))
    for row in rows:
        expected[row, rng.choice(26, size=3, replace=False)] = 1
    perturbed, _ = inject(np.zeros((700, 26)), 0.01, 0.1, 3)
    np.testing.assert_array_equal(perturbed, expected)


@given(st.integers(0, 1000))
def test_missing_outputs_are_never_flipped(seed):
    rng = np.random.default_rng(seed)
    Y = np.where(rng.random((40, 6)) < 0.5, np.nan, rng.integers(0, 2, (40, 6)))
    Y[:3] = np.nan
    perturbed, touched = inject(Y, 0.5, 0.4, seed)
    np.testing.assert_array_equal(np.isnan(perturbed), np.isnan(Y))
    changed = ((perturbed != Y) & ~np.isnan(Y)).sum(axis=1)
    present = (~np.isnan(Y)).sum(axis=1)
    np.testing.assert_array_equal(changed[touched], np.minimum(2, present[touched]))
    assert (changed[~touched] == 0).all()
    assert not touched[present == 0].any()


def test_halves_are_rounded_up():
    perturbed, touched = inject(np.zeros((250, 10)), ratio=0.01, dimensionality=0.25, random_state=0)
    assert touched.sum() == 3
    assert perturbed.sum() == 9


@given(st.integers(1, 400), st.floats(0.001, 1), st.integers(0, 1000))
def test_precisions_are_what_a_loop_counts(n_rows, rate, seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, size=n_rows).astype(float)
    wrong = rng.random(n_rows) < 0.2
    ranking = sorted(range(n_rows), key=lambda row: (-scores[row], row))
    top = half_up(rate * n_rows)
    precisions = [sum(wrong[row] for row in ranking[:count]) / count for count in range(1, top + 1)]
    assert tpar(scores, wrong, rate) == pytest.approx(precisions[-1])
    assert atpar(scores, wrong, rate) == pytest.approx(np.mean(precisions))
    rates, curve = tpar_curve(scores, wrong, rate)
    np.testing.assert_allclose(rates, np.arange(1, top + 1) / n_rows)
    np.testing.assert_allclose(curve, precisions)


def test_lof_takes_what_the_detector_takes():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), (rng.random((60, 2)) < 0.5).astype(float)
    Y[0, 0] = np.nan
    X[5] = 30
    assert np.argmax(lof(X, Y, n_neighbors=20, scaling="none")) == 5


def test_lof_is_scikit_learns_and_shares_the_detectors_search():
    X, Y = make_table(150)
    twin = LocalOutlierFactor(n_neighbors=20).fit(np.hstack([X, Y]))
    ours = lof(X, Y, n_neighbors=20, scaling="none")
    np.testing.assert_allclose(ours, -twin.negative_outlier_factor_, rtol=1e-9)
    detector = MCODE(n_neighbors=20, scaling="none").fit(X, Y)
    models, neighborhood = detector.fitted_.models, detector.fitted_.scorer.local.neighborhood
    np.testing.assert_allclose(lof_of_fit(models, neighborhood), ours, rtol=1e-9)
    with pytest.raises(ValueError, match="LOF needs neighbours; n_neighbors is 0"):
        lof_of_fit(models, None)

"""Errors made on purpose: legal values, the right number of rows, and nothing where something is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amiss.data.output_kinds import BINARY
from amiss.evaluation import inject
from amiss.evaluation.registry import ERROR_KINDS, OF_TAGS


def outputs(seed, n_rows=60, n_outputs=6):
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_outputs)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.1] = np.nan
    return Y


@pytest.mark.parametrize("kind", [name for name, kind in ERROR_KINDS.items() if BINARY in kind.made_in])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), ratio=st.sampled_from([0.02, 0.1, 0.3]))
def test_values_stay_legal_and_the_mask_is_right(kind, seed, ratio):
    Y = outputs(seed)
    made, wrong = inject(Y, ratio, 0.2, seed, kind=kind)
    assert set(np.unique(made[~np.isnan(made)])) <= {0.0, 1.0}
    if kind != "swap":  # where missing outputs move with the rest of their row
        np.testing.assert_array_equal(np.isnan(made), np.isnan(Y))
    changed = ((made != Y) & ~np.isnan(Y)).any(axis=1)
    np.testing.assert_array_equal(wrong, changed)
    assert wrong.sum() <= max(2, round(ratio * 60) + 1)
    again, _ = inject(Y, ratio, 0.2, seed, kind=kind)
    np.testing.assert_array_equal(again, made)


def test_each_kind_does_what_it_says():
    Y = np.nan_to_num(outputs(1, 200))
    change = {kind: inject(Y, 0.1, 0.2, 3, kind=kind)[0] - Y for kind in OF_TAGS}
    assert change["omission"].max() == 0 and change["omission"].sum() == -20
    assert change["commission"].min() == 0 and change["commission"].sum() == 20
    replaced = change["replacement"][change["replacement"].any(axis=1)]
    assert len(replaced) == 20 and (replaced.sum(axis=1) == 0).all() and (np.abs(replaced).sum(axis=1) == 2).all()
    confused = change["confusion"][change["confusion"].any(axis=1)]
    assert len(np.unique(confused, axis=0)) <= 3  # always the same pairs
    blank = (Y + change["blank"])[change["blank"].any(axis=1)]
    assert not blank.any() and len(blank) == 20
    swapped = np.flatnonzero(change["swap"].any(axis=1))
    rows = {tuple(row) for row in Y}
    assert all(tuple((Y + change["swap"])[row]) in rows for row in swapped)


def test_a_kind_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="kind must be one of 'flip', 'omission'"):
        inject(np.eye(5), kind="typo")

"""The filter of a model without rows: it recognises a batch of the fit, and no single row."""

from __future__ import annotations

import numpy as np

from amiss.monitoring.membership import BITS_PER_ROW, MembershipFilter


def fingerprints(n_rows, seed):
    return np.random.default_rng(seed).integers(0, 2**64, n_rows, dtype=np.uint64)


def test_a_batch_of_the_fit_is_recognised():
    known = fingerprints(1000, 0)
    found = MembershipFilter.of(known)
    assert found.estimated_members(known) == 1000
    half = np.concatenate([known[:100], fingerprints(100, 1)])
    assert abs(found.estimated_members(half) - 100) <= 15


def test_rows_that_were_not_in_the_fit_are_hardly_ever_taken_for_members():
    found = MembershipFilter.of(fingerprints(1000, 0))
    estimates = [found.estimated_members(fingerprints(200, seed)) for seed in range(1, 201)]
    assert sum(estimate > 0 for estimate in estimates) <= 2


def test_one_row_alone_is_never_told():
    """The filter lets one in ten strangers pass, so it says nothing about a single person."""
    known = fingerprints(1000, 0)
    found = MembershipFilter.of(known)
    assert found.estimated_members(known[:1]) == 0
    passes = found.bits[fingerprints(5000, 3) % np.uint64(len(found.bits))].mean()
    assert 0.5 / BITS_PER_ROW < passes < 1.5 / BITS_PER_ROW

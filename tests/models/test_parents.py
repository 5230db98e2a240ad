"""Which other outputs the model of an output sees."""

from __future__ import annotations

import numpy as np

from amiss.models.registry import PARENTS


def test_parents_are_what_the_paper_says():
    others, none = PARENTS["others"].visible(3, None), PARENTS["none"].visible(3, None)
    np.testing.assert_array_equal(others, ~np.eye(3, dtype=bool))
    assert not none.any()
    chain = PARENTS["chain"].visible(3, [2, 0, 1])
    assert {(j, i) for j, i in zip(*np.nonzero(chain), strict=True)} == {(2, 0), (2, 1), (0, 1)}


def test_without_an_order_the_chain_is_that_of_the_columns():
    np.testing.assert_array_equal(PARENTS["chain"].visible(4, None), np.triu(np.ones((4, 4), dtype=bool), 1))

"""The k nearest rows are those of scikit-learn; ties go by order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from amiss.neighbors import NearestRows


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_nearest_rows_are_scikit_learns(form, monkeypatch):
    monkeypatch.setattr("amiss.neighbors.BLOCK_BYTES", 8 * 150 * 7)
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(150, 5)), rng.normal(size=(20, 5))
    twin = NearestNeighbors(n_neighbors=10).fit(rows)
    found = NearestRows(form(rows))
    np.testing.assert_array_equal(found.find(10, n_jobs=2), twin.kneighbors(return_distance=False))
    np.testing.assert_array_equal(
        found.find(10, form(queries)), twin.kneighbors(queries, return_distance=False)
    )


def test_a_row_is_not_its_own_neighbour_even_among_copies():
    rows = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    found = NearestRows(rows).find(4)
    for row, near in enumerate(found):
        assert row not in near
        assert set(near) == set(range(row // 5 * 5, row // 5 * 5 + 5)) - {row}


def test_ties_go_to_the_row_that_stands_first():
    rows = np.array([[0.0], [1.0], [-1.0], [1.0], [2.0]]) / 3
    np.testing.assert_array_equal(NearestRows(rows).find(2)[0], [1, 2])
    np.testing.assert_array_equal(NearestRows(rows + 1e6).find(2)[0], [1, 2])


def test_there_are_no_more_neighbours_than_rows():
    rows = np.arange(3.0)[:, None]
    assert NearestRows(rows).find(100).shape == (3, 2)
    assert NearestRows(rows).find(100, rows).shape == (3, 3)
    assert NearestRows(rows[:1]).find(100).shape == (1, 0)


def test_identical_rows_everywhere():
    found = NearestRows(np.zeros((10, 2))).find(3)
    assert [list(near) for near in found[:5]] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]

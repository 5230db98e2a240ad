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
    np.testing.assert_array_equal(found.find(10, form(queries)), twin.kneighbors(queries, return_distance=False))


def test_a_row_is_not_its_own_neighbour_even_among_copies():
    rows = np.repeat(np.arange(4.0)[:, None], 5, axis=0)
    found = NearestRows(rows).find(4)
    for row, near in enumerate(found):
        assert row not in near
        assert set(near) == set(range(row // 5 * 5, row // 5 * 5 + 5)) - {row}


def test_ties_go_to_the_row_that_stands_first():
    rows = np.array([[0.0], [1.0], [-1.0], [1.0], [2.0]]) / 3
    np.testing.assert_array_equal(NearestRows(rows).find(2)[0], [1, 2])


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_an_offset_costs_no_neighbours(offset):
    rows = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32).astype(float)
    rows = np.round(rows * 64) / 64  # exact at any of the offsets
    far = np.column_stack([rows + offset, np.full(80, 1.6e9)])
    np.testing.assert_array_equal(NearestRows(far).find(5), NearestRows(rows).find(5))
    clusters = np.vstack([rows, rows + offset])
    np.testing.assert_array_equal(NearestRows(clusters).find(5)[:80], NearestRows(rows).find(5))


def test_a_query_is_answered_alike_in_any_company():
    rng = np.random.default_rng(0)
    rows, queries = rng.normal(size=(60, 3)), rng.normal(size=(4, 3))
    wild = np.vstack([queries, np.full((1, 3), 1e8)])
    found = NearestRows(rows)
    np.testing.assert_array_equal(found.find(5, wild)[:4], found.find(5, queries))


def test_there_are_no_more_neighbours_than_rows():
    rows = np.arange(3.0)[:, None]
    assert NearestRows(rows).find(100).shape == (3, 2)
    assert NearestRows(rows).find(100, rows).shape == (3, 3)
    assert NearestRows(rows[:1]).find(100).shape == (1, 0)


def test_identical_rows_everywhere():
    found = NearestRows(np.zeros((10, 2))).find(3)
    assert [list(near) for near in found[:5]] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2], [0, 1, 2]]

"""The k nearest rows are those of scikit-learn; ties go by order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.neighbors import NearestNeighbors
from support.tables import make_table

from amiss import MCODE
from amiss.output.summary import remarks
from amiss.scoring import clustered_neighbors, searches
from amiss.scoring.clustered_neighbors import ClusteredRows
from amiss.scoring.equal_rows import distinct_rows
from amiss.scoring.neighbors import NearestRows
from amiss.scoring.registry import SEARCHES, SPACES


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_nearest_rows_are_scikit_learns(form, monkeypatch):
    monkeypatch.setattr("amiss.scoring.neighbors.BLOCK_BYTES", 8 * 150 * 7)
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


def clustered(seed, n_rows=700, n_columns=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(9, n_columns))[rng.integers(9, size=n_rows)] * 5 + rng.normal(size=(n_rows, n_columns))


@pytest.fixture
def sifting(monkeypatch):
    """Few rows are searched the way many are."""
    monkeypatch.setattr("amiss.scoring.neighbors.WORTH_SIFTING", 10)
    monkeypatch.setattr("amiss.scoring.neighbors.QUERIES", 64)
    monkeypatch.setattr("amiss.scoring.neighbors.CHUNK", 100)


def plainly(rows, k, queries=None):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("amiss.scoring.neighbors.WORTH_SIFTING", 10**9)
        return NearestRows(rows).find(k, queries)


@given(st.integers(0, 10_000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_sifting_in_single_precision_misses_nothing(sifting, seed):
    rows = clustered(seed)
    queries = rows[::7] + 0.1
    np.testing.assert_array_equal(NearestRows(rows).find(20, n_jobs=2), plainly(rows, 20))
    np.testing.assert_array_equal(NearestRows(rows).find(20, queries), plainly(rows, 20, queries))


def test_sifting_keeps_ties_copies_and_offsets_apart(sifting):
    grid = np.random.default_rng(0).integers(0, 3, size=(500, 4)).astype(float)
    np.testing.assert_array_equal(NearestRows(grid).find(5), plainly(grid, 5))
    far = np.vstack([clustered(1), clustered(2) + 1e6])
    np.testing.assert_array_equal(NearestRows(far).find(5), plainly(far, 5))
    np.testing.assert_array_equal(NearestRows(np.zeros((300, 2))).find(3), plainly(np.zeros((300, 2)), 3))


def test_the_nearest_in_a_sorted_table_are_found(sifting):
    line = np.arange(1000.0)[:, None]
    np.testing.assert_array_equal(NearestRows(line).find(4), plainly(line, 4))


def test_distances_are_those_of_the_rows_found():
    rows = clustered(0, 100)
    near = NearestRows(rows).find(5)
    expected = np.linalg.norm(rows[near] - rows[:, None], axis=2)
    np.testing.assert_allclose(NearestRows(rows).distances(near), expected)
    np.testing.assert_allclose(NearestRows(sparse.csr_array(rows)).distances(near), expected)
    assert (np.diff(expected, axis=1) >= -1e-9).all()


@pytest.fixture
def small_clusters(monkeypatch):
    """Few rows fall into clusters as many do."""
    monkeypatch.setattr(clustered_neighbors, "COMPARED", 600)


def test_the_recall_of_the_approximate_search_is_what_it_says(small_clusters):
    rows = clustered(3, 6000)
    found, exact = ClusteredRows(rows, 10), NearestRows(rows).find(10)
    near = found.find(10, n_jobs=2)
    assert near.shape == exact.shape
    assert (near != np.arange(6000)[:, None]).all()
    recall = np.mean([len(set(a) & set(b)) for a, b in zip(near, exact, strict=True)]) / 10
    assert 0.9 <= found.recall < 1
    assert recall == pytest.approx(found.recall, abs=0.02)


def test_a_query_of_the_approximate_search_is_answered_alike_in_any_company(small_clusters):
    rows = clustered(3, 3000)
    found, queries = ClusteredRows(rows, 10), rows[:50] + 0.01
    together = found.find(10, queries, n_jobs=2)
    assert together.shape == (50, 10)
    one_by_one = np.vstack([found.find(10, queries[[i]]) for i in range(50)])
    np.testing.assert_array_equal(together, one_by_one)


def test_an_approximate_search_that_compares_all_rows_finds_the_nearest_to_single_precision():
    rows = clustered(5, 2500)
    exact = NearestRows(rows)
    found = exact.distances(ClusteredRows(rows, 10).find(10))
    np.testing.assert_allclose(found, exact.distances(exact.find(10)), rtol=1e-4)


def test_the_approximate_search_finds_as_many_as_it_is_asked_for(small_clusters):
    rows = np.vstack([clustered(0, 900), np.full((3, 6), 1e3) + np.eye(3, 6), np.zeros((700, 6))])
    for k in (10, 400):
        near = ClusteredRows(rows, k).find(k)
        assert near.shape == (1603, k) and near.min() >= 0
        assert all(len(set(each)) == k for each in near)
    assert {901, 902} <= set(ClusteredRows(rows, 10).find(10)[900])


@given(seed=st.integers(0, 2**32 - 1), n_values=st.integers(1, 4), k=st.integers(1, 30))
@settings(max_examples=40, deadline=None)
def test_equal_rows_are_searched_once_with_the_same_result(seed, n_values, k):
    rows = np.random.default_rng(seed).integers(n_values, size=(80, 3)) / 3.0
    found = NearestRows(rows)
    one_by_one = found._found(min(k, 79), found.rows, True, None, lambda n: None)
    np.testing.assert_array_equal(found.find(k), one_by_one)


def test_rows_that_differ_in_the_sign_of_zero_are_equal():
    first, of = distinct_rows(np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, 1.0], [2.0, 1.0]]))
    assert (len(first), of[0], of[1]) == (2, of[2], of[0])


def test_exact_is_the_default_and_always_there():
    rows = clustered(0)
    assert type(SEARCHES["auto"].prepared(rows, 5)) is NearestRows
    assert type(SEARCHES["exact"].prepared(rows, 5)) is NearestRows
    assert type(SEARCHES["approximate"].prepared(rows, 5)) is ClusteredRows
    for search in SEARCHES.values():
        assert type(search.prepared(sparse.csr_array(rows), 5)) is NearestRows


def test_very_many_rows_are_searched_approximately_if_nothing_else_is_asked_for(monkeypatch):
    rows = clustered(0)
    monkeypatch.setattr(searches, "MANY_ROWS", len(rows))
    assert type(SEARCHES["auto"].prepared(rows, 5)) is ClusteredRows
    assert type(SEARCHES["auto"].prepared(rows[1:], 5)) is NearestRows
    assert type(SEARCHES["auto"].prepared(sparse.csr_array(rows), 5)) is NearestRows


def test_a_space_with_outputs_tells_rows_with_other_outputs_apart():
    inputs, outputs = clustered(0)[:5], np.eye(5)
    for space in SPACES.values():
        moved = space.of(inputs, 1 - outputs) != space.of(inputs, outputs)
        assert moved.any() == space.has_outputs
        np.testing.assert_array_equal(space.of(inputs, outputs)[:, : inputs.shape[1]], inputs)


@given(st.integers(0, 10_000), st.integers(1, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_a_single_query_is_answered_as_in_a_batch(monkeypatch, seed, k):
    monkeypatch.setattr("amiss.scoring.neighbors.WORTH_A_SHADOW", 10)
    monkeypatch.setattr("amiss.scoring.neighbors.AXES", 2)
    rows = clustered(seed)
    found, queries = NearestRows(rows), np.vstack([rows[:3], rows[3:6] + 0.3, np.full((1, 6), 1e4)])
    together = found.find(k, queries)
    for query, near in zip(queries, together, strict=True):
        np.testing.assert_array_equal(found.find(k, query[None])[0], near)


@pytest.mark.parametrize("scale", [1e-22, 1e-10, 1e10, 1e20, 1e25])
def test_the_scale_of_the_rows_costs_no_neighbours(sifting, monkeypatch, scale):
    monkeypatch.setattr("amiss.scoring.neighbors.WORTH_A_SHADOW", 10)
    monkeypatch.setattr("amiss.scoring.neighbors.AXES", 2)
    rows = clustered(4)
    expected = plainly(rows, 20)
    np.testing.assert_array_equal(NearestRows(rows * scale).find(20), expected)
    queries = rows[:5] + 0.25
    expected = plainly(rows, 20, queries)
    for query, near in zip(queries, expected, strict=True):
        np.testing.assert_array_equal(NearestRows(rows * scale).find(20, query[None] * scale)[0], near)


def test_one_row_far_away_does_not_undo_the_sieve(sifting):
    rows = clustered(5)
    rows[17] = 1e4
    found = NearestRows(rows)
    sifted = found._sieve.candidates(found.rows[:64], found.squares[:64], 20, np.arange(64))
    assert (~sifted.told).sum() <= 3  # row 17 itself, and a freak or two
    np.testing.assert_array_equal(found.find(20), plainly(rows, 20))


def by_brute_force(rows, k, queries, own=None):
    """All differences to each query, sorted, ties to the row that stands first; ``own`` rows are not found."""
    result = []
    for place, query in enumerate(queries):
        squared = ((rows - query) ** 2).sum(axis=1)
        if own is not None:
            squared[own[place]] = np.inf
        result.append(np.argsort(squared, kind="stable")[:k])
    return np.array(result)


@pytest.mark.parametrize("n_columns", [2, 12])
@pytest.mark.parametrize("kind", ["clustered", "uniform", "one far away", "sorted"])
def test_as_many_rows_as_are_sifted_have_the_neighbours_of_brute_force(kind, n_columns):
    """Without any constant changed: from 6,000 rows on single precision does the first part of the work."""
    rng = np.random.default_rng(n_columns)
    rows = clustered(1, 6100, n_columns) if kind == "clustered" else rng.random((6100, n_columns))
    if kind == "one far away":
        rows[17] = 1e5
    if kind == "sorted":
        rows = rows[np.argsort(rows[:, 0])]
    some = np.r_[0:40, 3000:3040, 6060:6100]
    queries = rows[some] + rng.normal(scale=1e-3, size=(len(some), n_columns))
    found = NearestRows(rows)
    np.testing.assert_array_equal(found.find(25, n_jobs=2)[some], by_brute_force(rows, 25, rows[some], some))
    np.testing.assert_array_equal(found.find(25, queries), by_brute_force(rows, 25, queries))


def test_the_summary_says_what_an_approximate_search_changes(monkeypatch):
    monkeypatch.setattr(clustered_neighbors, "COMPARED", 200)
    X, Y = make_table(800)
    detector = MCODE(neighbor_search="approximate", n_neighbors=20).fit(X, Y)
    said = next(line for line in remarks(detector.fitted_) if line.startswith("Neighbours"))
    assert f"{detector.neighbor_recall_:.1%} of the nearest rows" in said
    exact = MCODE(neighbor_search="exact", n_neighbors=20).fit(X, Y)
    expected = spearmanr(detector.decision_scores_, exact.decision_scores_).statistic
    # Exact neighbours change what is learned of the table, too, so the two are not quite the same.
    assert float(said.split("rank correlation ")[1].rstrip(").")) == pytest.approx(expected, abs=0.01)
    assert expected > 0.99

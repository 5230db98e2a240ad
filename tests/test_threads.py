"""Threads: how many there are."""

from __future__ import annotations

from multiprocessing.pool import ThreadPool

import numpy as np
import pytest
from joblib import cpu_count, parallel_config

from amiss import threads
from amiss.threads import in_large_blocks, in_order, summed, taken, thread_count, usable_cores


@pytest.mark.parametrize(("n_jobs", "count"), [(None, 1), (1, 1), (3, 3), (-1, cpu_count()), (-1000, 1)])
def test_they_are_counted_as_scikit_learn_does_wherever_it_is_asked(n_jobs, count):
    assert thread_count(n_jobs) == count
    with ThreadPool(1) as pool, parallel_config(n_jobs=2):
        assert thread_count(n_jobs) == pool.apply(thread_count, (n_jobs,)) == count


def test_cores_are_counted_as_joblib_does():
    assert usable_cores() == cpu_count()


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "max 100000\n"}, 8),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, 8),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
        ({"cpu.max": "torn"}, 8),
        ({}, 8),
    ],
)
def test_a_container_grants_what_its_quota_says(tmp_path, monkeypatch, files, cores):
    (tmp_path / "cpu").mkdir()
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(threads, "CONTAINER", tmp_path)
    monkeypatch.setattr(threads.os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert usable_cores() == cores


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_come_in_the_order_of_the_items(n_jobs):
    assert list(in_order(lambda item: item * item, iter(range(50)), n_jobs)) == [item * item for item in range(50)]
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda item: 1 // item, [2, 1, 0, 3], n_jobs))


@pytest.mark.parametrize("n_rows", [0, 7, 25])
def test_rows_are_taken_and_summed_in_blocks_as_in_one_piece(monkeypatch, n_rows):
    monkeypatch.setattr(threads, "LARGE_BLOCK", 10)
    values = np.arange(60.0).reshape(30, 2)
    rows = np.random.default_rng(0).permutation(30)[:n_rows]
    np.testing.assert_array_equal(taken(values, rows, 2), values[rows])
    parts = in_large_blocks(n_rows, lambda some: (values[some].sum(axis=0),), 2)
    np.testing.assert_array_equal(summed(parts)[0], values[:n_rows].sum(axis=0))

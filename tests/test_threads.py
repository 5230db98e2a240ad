"""Threads: how many there are."""

from __future__ import annotations

from multiprocessing.pool import ThreadPool

import pytest
from joblib import cpu_count, parallel_config

from amiss import threads
from amiss.threads import thread_count, usable_cores


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

"""Threads: how many there are."""

from __future__ import annotations

from multiprocessing.pool import ThreadPool

import pytest
from joblib import cpu_count, parallel_config

from amiss.threads import thread_count


@pytest.mark.parametrize(("n_jobs", "count"), [(None, 1), (1, 1), (3, 3), (-1, cpu_count()), (-1000, 1)])
def test_they_are_counted_as_scikit_learn_does_wherever_it_is_asked(n_jobs, count):
    assert thread_count(n_jobs) == count
    with ThreadPool(1) as pool, parallel_config(n_jobs=2):
        assert thread_count(n_jobs) == pool.apply(thread_count, (n_jobs,)) == count

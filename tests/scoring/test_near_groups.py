"""Near copies within a table: who is one, what keeping them together does, and who is whose neighbour then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score
from support.tables import fitted, make_table

import amiss
from amiss import DataError
from amiss.scoring.near_groups import near_groups
from amiss.scoring.neighbors import NearestRows
from amiss.scoring.shares import Found

N_ROWS, N_COPIED = 200, 30


def jittered(seed=0, size=1e-3, n_inputs=8, n_rows=N_ROWS, n_copied=N_COPIED, times=2):
    """A random table whose first rows have near copies at its end; and which rows are together."""
    X, Y = make_table(n_rows, n_inputs, 3, seed)
    rng = np.random.default_rng(seed)
    copied = np.tile(np.arange(n_copied), times)
    X = np.vstack([X, X[copied] + size * rng.normal(size=(len(copied), n_inputs))])
    return X, np.vstack([Y, Y[copied]]), np.concatenate([np.arange(n_rows), copied])


def groups_of(X, Y, k=20):
    return near_groups(X, Y, NearestRows(np.hstack([X, Y])).find(k))


def partition(groups):
    """The groups with more than one row, as sets of rows."""
    found = [frozenset(np.flatnonzero(groups == group).tolist()) for group in np.unique(groups)]
    return {group for group in found if len(group) > 1}


@pytest.mark.parametrize("seed", range(5))
def test_jittered_copies_are_found_and_only_they(seed):
    X, Y, together = jittered(seed)
    assert partition(groups_of(X, Y)) == partition(together)


def test_rows_with_other_outputs_are_no_copies():
    X, Y, _ = jittered()
    Y[N_ROWS:] = 1 - Y[N_ROWS:]
    found = groups_of(X, Y)
    for group in partition(found):
        assert len(np.unique(Y[list(group)], axis=0)) == 1
        assert min(group) >= N_ROWS  # the two copies of a row are still alike


def test_a_random_table_has_none():
    X, Y = make_table(300, 8, 3)
    assert groups_of(X, Y) is None
    assert amiss.MCODE(n_neighbors=20).fit(X, Y).fitted_.notes == ()


@pytest.mark.parametrize("n_inputs", [1, 2, 3, 4])
@pytest.mark.parametrize("k", [20, 100])
def test_rows_with_few_inputs_are_near_by_chance_and_no_copies(n_inputs, k):
    """Along a line the nearest of twenty neighbours is always much nearer than the last."""
    X, Y = make_table(400, n_inputs, 3)
    X = X / X.std(axis=0)
    found = groups_of(X, Y, k)
    together = 0 if found is None else sum(map(len, partition(found)))
    assert together <= 0.02 * len(X)
    assert fitted(X, Y, n_neighbors=k, strengths=(1.0,)).fitted_.notes == ()
    copied = np.vstack([X, X[:20] + 1e-6]), np.vstack([Y, Y[:20]])
    assert {frozenset({row, 400 + row}) for row in range(20)} <= partition(groups_of(*copied, k))


def test_exact_copies_and_tables_of_categories_have_none():
    X, Y, _ = jittered(size=0.0)
    assert groups_of(X, Y) is None
    rng = np.random.default_rng(0)
    categories = np.eye(4)[rng.integers(0, 4, 200)]
    assert (
        groups_of(np.hstack([categories, rng.integers(0, 2, (200, 3))]), (rng.random((200, 2)) < 0.5) * 1.0)
        is None
    )


def test_too_few_neighbours_say_nothing():
    X, Y, _ = jittered()
    assert groups_of(X, Y, k=1) is None


def test_the_order_of_the_rows_does_not_matter():
    X, Y, _ = jittered()
    order = np.random.default_rng(1).permutation(len(X))
    shuffled = groups_of(X[order], Y[order])
    back = np.empty(len(X), dtype=int)
    back[order] = shuffled
    assert partition(back) == partition(groups_of(X, Y))


def kept(detector):
    """The groups of a detector in the order of the user's rows."""
    rows = detector.fitted_.models.training_rows
    return rows.groups[rows.place]


@pytest.fixture(scope="module")
def copies():
    """A table with copies, and the detectors that know nothing of them and that find them."""
    X, Y, together = jittered(seed=3, size=2e-2)
    return X, Y, together, fitted(X, Y), amiss.MCODE(n_neighbors=30).fit(X, Y, groups="auto")


def test_automatic_groups_are_the_copies(copies):
    X, Y, together, _, automatic = copies
    known = amiss.MCODE(n_neighbors=30).fit(X, Y, groups=together)
    assert partition(kept(automatic)) == partition(together) == partition(kept(known))
    np.testing.assert_array_equal(automatic.decision_scores_, known.decision_scores_)


def test_errors_that_copies_share_are_found_better_where_copies_are_kept_together():
    """On average over three tables in which some rows, and the four copies of each, have the same error."""
    found = []
    for seed in range(3):
        X, Y, together = jittered(seed, 2e-2, n_inputs=30, n_rows=120, n_copied=40, times=4)
        wrong = np.isin(together, np.arange(0, 40, 4))
        Y[wrong, 0] = 1 - Y[wrong, 0]
        found.append(
            [
                average_precision_score(
                    wrong, amiss.MCODE(n_neighbors=30).fit(X, Y, groups=groups).decision_scores_
                )
                for groups in (None, "auto")
            ]
        )
    apart, together = np.mean(found, axis=0)
    assert together > apart + 0.05


def test_the_user_is_told_of_copies_and_of_their_keeping(copies):
    *_, plain, automatic = copies
    (note,) = plain.fitted_.notes
    assert note.startswith("90 rows have the same outputs as another row, and nearly the same inputs.")
    assert "--group" in note
    assert automatic.fitted_.notes == ("90 rows are near copies of others; copies were kept together.",)


def test_a_detector_without_copies_is_the_same_with_automatic_groups():
    X, Y = make_table(150, 8, 3)
    plain, automatic = fitted(X, Y), amiss.MCODE(n_neighbors=30).fit(X, Y, groups="auto")
    np.testing.assert_array_equal(automatic.decision_scores_, plain.decision_scores_)
    assert automatic.fitted_.models.training_rows.groups is None and automatic.fitted_.notes == ()


@pytest.mark.parametrize("parameters", [{"n_neighbors": 0}, {"rule": "prod"}])
def test_without_neighbours_no_copies_can_be_found(parameters):
    X, Y, _ = jittered()
    with pytest.raises(DataError, match="groups='auto' looks at each row's neighbours, and there are none"):
        amiss.MCODE(**parameters).fit(X, Y, groups="auto")


@pytest.mark.parametrize("space", ["joint", "inputs"])
def test_rows_of_a_group_are_not_neighbours_and_only_one_of_another_group_is(space):
    X, Y, together = jittered(seed=4)
    detector = amiss.MCODE(n_neighbors=15, neighbor_space=space).fit(X, Y, groups=together)
    rows = detector.fitted_.models.training_rows
    neighbors = detector.fitted_.scorer.local.neighborhood.neighbors
    assert neighbors.shape == (len(X), 15)
    points = np.hstack([rows.design, rows.Y]) if space == "joint" else rows.design
    for row, near in enumerate(neighbors):
        groups = rows.groups[near]
        assert rows.groups[row] not in groups and len(set(groups.tolist())) == 15
        apart = ((points - points[row]) ** 2).sum(axis=1)
        nearest = {}
        for other in np.argsort(apart, kind="stable"):  # of each other group its nearest row
            if rows.groups[other] != rows.groups[row]:
                nearest.setdefault(int(rows.groups[other]), apart[other])
        np.testing.assert_allclose(apart[near], sorted(nearest.values())[:15], rtol=1e-9)


def test_a_changed_row_keeps_strangers_for_neighbours(copies):
    """score_if_changed looks for neighbours anew."""
    *_, automatic = copies
    scorer, models = automatic.fitted_.scorer, automatic.fitted_.models
    rows, own = models.training_rows, np.array([0, 5, 40])
    known = scorer.local.neighborhood.neighbors[own]
    np.testing.assert_array_equal(scorer.neighbors(rows.design[own], rows.Y[own], own), known)
    for row, near in zip(own, scorer.neighbors(rows.design[own], 1 - rows.Y[own], own), strict=True):
        assert rows.groups[row] not in rows.groups[near]


def test_a_group_counts_once_where_shares_of_errors_are_learned(copies):
    X, Y, together, *_ = copies
    models = amiss.MCODE(n_neighbors=30).fit(X, Y, groups=together).fitted_.models
    nothing = np.zeros_like(Y)
    found = Found(models, nothing, nothing, np.ones(3), None, np.ones(3, dtype=bool))
    groups = models.training_rows.groups
    assert len(found.units) == len(np.unique(together)) == N_ROWS
    assert len(set(groups[found.units].tolist())) == N_ROWS
    for unit in found.units:
        assert unit == np.flatnonzero(groups == groups[unit])[0]
    alone = replace(found, models=amiss.MCODE(n_neighbors=30).fit(X, Y).fitted_.models)
    np.testing.assert_array_equal(alone.units, np.arange(len(Y)))

"""Categories, scales and missing values that the fit has not seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from support.tables import fitted, make_table

from amiss.data.table import Table
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.monitoring.unseen import remarks, unseen_values


def columns(**cells):
    return pd.DataFrame(cells)


def seen_table():
    rng = np.random.default_rng(1)
    X = columns(
        kg=rng.uniform(50, 90, 100),
        ward=rng.choice(["a", "b", "c"], 100),
        flat=np.full(100, 7.0),
        age=np.arange(100.0),
    )
    X.loc[3, "age"] = np.nan
    return X, (rng.random((100, 2)) < 0.4).astype(int)


def test_new_categories_scales_and_gaps_are_reported():
    X, Y = seen_table()
    detector = fitted(X, Y)
    new = columns(
        kg=[70.0, 95.0, 64000.0, 80.0],  # 95 is a new highest value, but no new scale
        ward=["a", "d", None, "e"],
        flat=[7.0, 7.0, 7.5, 7.0],
        age=[1.0, np.nan, 50.0, -150.0],
    )
    batch = detector.score_batch(new, Y[:4])
    found = {(each.column, each.kind): each.rows.tolist() for each in batch.findings.unseen}
    assert found == {
        ("kg", "scale"): [2],
        ("ward", "category"): [1, 3],
        ("ward", "missing"): [2],
        ("flat", "constant"): [2],
        ("age", "scale"): [3],
    }
    said = " ".join(batch.remarks())
    assert "Input ward: 2 values of a category that the fit has not seen (treated as missing)." in said
    assert "Input kg: 1 value far outside those of the fit" in said
    assert "64000" not in said and "'d'" not in said
    assert np.isfinite(batch.scores).all()
    assert not detector.score_batch(X.iloc[:50], Y[:50]).findings.unseen


def test_what_is_new_is_the_same_in_sparse_tables():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 30)) < 0.1, rng.integers(1, 5, (50, 30)), 0.0)
    X[:, 4] = rng.uniform(10, 12, 50)  # never zero
    new = X[:6].copy()
    new[1, 2], new[2, 4], new[3, 5], new[4, 4] = 500.0, 0.0, np.nan, np.nan
    names = tuple(f"x{i}" for i in range(30))
    tables = [(Table(X, names), Table(new, names))]
    tables.append(tuple(Table(sparse.csr_array(each.values), names) for each in tables[0]))
    results = []
    for old, rows in tables:
        encoding = fit_encoder(old, SCALINGS.named("rank"))
        results.append({(each.column, each.kind, tuple(each.rows)) for each in unseen_values(encoding, rows)})
    assert results[0] == results[1]
    assert results[0] == {
        ("x2", "scale", (1,)), ("x4", "scale", (2,)), ("x5", "missing", (3,)), ("x4", "missing", (4,)),
    }  # fmt: skip


def test_a_column_that_was_empty_in_the_fit():
    X, Y = make_table(50)
    X[:, 2] = np.nan
    new = X[:5].copy()
    new[3, 2] = 1e9
    found = fitted(X, Y).score_batch(new, Y[:5]).findings.unseen
    assert [(each.column, each.kind, each.rows.tolist()) for each in found] == [("x2", "present", [3])]


def test_many_new_columns_are_not_all_told():
    X, Y = make_table(100, n_inputs=12)
    told = remarks(list(fitted(X, Y).score_batch(X + 1000, Y).findings.unseen))
    assert len(told) == 6 and told[-1] == "And 7 more findings of this kind."


def test_a_category_never_seen_is_not_the_missing_one_of_a_row_of_the_fit():
    X, Y = seen_table()
    X.loc[5, "ward"] = None
    detector = fitted(X, Y)
    new = X.iloc[[5, 5]].copy()
    new.iloc[1, new.columns.get_loc("ward")] = "brand new"
    batch = detector.score_batch(new, Y[[5, 5]])
    assert batch.in_fit.tolist() == [5, -1] and batch.findings.near_copies == 0
    X["bed"] = X["ward"]  # two at once
    new = X.iloc[[5, 5]].copy()
    new.iloc[1, [new.columns.get_loc(name) for name in ("ward", "bed")]] = "brand new"
    assert fitted(X, Y).score_batch(new, Y[[5, 5]]).in_fit.tolist() == [5, -1]

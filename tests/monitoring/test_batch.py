"""New rows: columns matched by name, what the fit has not seen, rows it has seen, drift."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.tables import fitted, frame, make_table

from amiss import MCODE, DataError
from amiss.data.table import Table
from amiss.data.validation import as_inputs
from amiss.decisions.calibration import ErrorLevels
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.scalings import SCALINGS
from amiss.monitoring.batch import Drift
from amiss.monitoring.unseen import novelties, remarks


@pytest.fixture
def named():
    X, Y = make_table()
    return frame(X, Y)


def test_columns_may_come_in_any_order(named):
    X, Y = named
    detector = fitted(X, Y)
    new_X, new_Y = X.iloc[:20] + 0.01, Y.iloc[:20]
    expected = detector.decision_function(new_X, new_Y)
    turned = detector.decision_function(new_X[X.columns[::-1]], new_Y[Y.columns[::-1]])
    np.testing.assert_array_equal(expected, turned)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, Y: (X.drop(columns="in2"), Y), r"input columns .* missing 'in2'$"),
        (lambda X, Y: (X.assign(extra=1.0), Y), r"input columns .* unknown 'extra'$"),
        (lambda X, Y: (X.rename(columns={"in0": "IN0"}), Y), r"input columns .* missing 'in0'; unknown 'IN0'$"),
        (lambda X, Y: (X, Y.drop(columns="tag1")), r"output columns .* missing 'tag1'$"),
        (lambda X, Y: (X, Y.assign(tag9=0)), r"output columns .* unknown 'tag9'$"),
        (lambda X, Y: (X.iloc[:5], Y), "X has 5 rows and Y has"),
        (lambda X, Y: (X.to_numpy()[:, :3], Y), "X has 3 features"),
        (lambda X, Y: (X.assign(in0="text"), Y), "column 'in0' held numbers in the fit and holds texts now"),
    ],
)
def test_other_columns_are_refused_by_name(named, change, message):
    detector = fitted(*named)
    with pytest.raises(DataError, match=message):
        detector.score_batch(*change(*named))


def test_a_row_of_the_fit_keeps_its_score():
    """Its own models would find it usual, and it would be its own neighbour."""
    X, Y = make_table(200)
    Y[17] = 1 - Y[17]
    detector = fitted(X, Y)
    np.testing.assert_array_equal(detector.decision_function(X, Y), detector.decision_scores_)
    batch = detector.score_batch(X[[17, 3]], Y[[17, 3]])
    assert batch.in_fit.tolist() == [17, 3]
    assert batch.remarks()[-1] == "The same as rows of the fit, and with their score: 2 of 2 rows."
    # Taken for new it would score far less: that must not happen unnoticed, whatever the number of digits.
    assert detector.decision_function(X[[17]] + 1e-9, Y[[17]])[0] < 0.9 * detector.decision_scores_[17]
    for moved in (X[[17]] + 1e-9, X[[17]].astype(np.float32), X[[17]].round(4)):
        batch = detector.score_batch(moved, Y[[17]])
        assert batch.in_fit.tolist() == [-1] and batch.lookalikes == 1
        assert "The same as rows of the fit but for rounding: 1 of 1 row." in batch.remarks()[-1]
    assert not detector.score_batch(X[[17]] + 0.1, Y[[17]]).lookalikes  # another row
    assert not detector.score_batch(X[[17]].round(4), 1 - Y[[17]]).lookalikes
    why = detector.explain(X[[17]], Y[[17]])
    assert why.score == detector.decision_scores_[17] and why.rank == detector.explain(17).rank


def test_rows_of_the_fit_are_known_in_any_form():
    X, Y = make_table(60)
    detector = fitted(X, Y)
    some = slice(10, 20)
    for inputs, outputs in (
        (sparse.csr_array(X[some]), Y[some]),
        (X[some].astype(object), Y[some].astype(bool)),
        (pd.DataFrame(X[some]), sparse.csr_array(Y[some])),
    ):
        assert detector.score_batch(inputs, outputs).in_fit.tolist() == list(range(10, 20))


def test_categories_are_known_by_name_not_by_number():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"ward": rng.choice(["eyes", "nose", "throat"], 80), "age": rng.normal(size=80)})
    Y = (rng.random((80, 2)) < 0.5).astype(int)
    detector = fitted(X, Y)
    few = X[X.ward != "eyes"].iloc[:10]  # numbered otherwise, as one of them is missing
    assert detector.score_batch(few, Y[few.index]).in_fit.tolist() == few.index.tolist()


def test_batches_of_any_size_agree():
    X, Y = make_table(150)
    new_X, new_Y = make_table(64, seed=9)
    for parameters in ({}, {"score": "rw"}, {"n_neighbors": 0}):
        detector = fitted(X, Y, **parameters)
        whole = detector.decision_function(new_X, new_Y)
        for size in (1, 7, 63):
            parts = [
                detector.decision_function(new_X[i : i + size], new_Y[i : i + size]) for i in range(0, 64, size)
            ]
            np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-9)


# What the fit has not seen.


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
    found = {(each.column, each.kind): each.rows.tolist() for each in batch.novelties}
    assert found == {
        ("kg", "scale"): [2],
        ("ward", "category"): [1, 3],
        ("ward", "missing"): [2],
        ("flat", "constant"): [2],
        ("age", "scale"): [3],
    }
    said = " ".join(batch.remarks())
    assert "Input ward: 2 values of a category that the fit has not seen (taken for missing)." in said
    assert "Input kg: 1 value far outside those of the fit" in said
    assert "64000" not in said and "'d'" not in said
    assert np.isfinite(batch.scores).all()
    assert not detector.score_batch(X.iloc[:50], Y[:50]).novelties


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
        results.append({(each.column, each.kind, tuple(each.rows)) for each in novelties(encoding, rows)})
    assert results[0] == results[1]
    assert results[0] == {
        ("x2", "scale", (1,)), ("x4", "scale", (2,)), ("x5", "missing", (3,)), ("x4", "missing", (4,)),
    }  # fmt: skip


def test_a_column_that_was_empty_in_the_fit():
    X, Y = make_table(50)
    X[:, 2] = np.nan
    new = X[:5].copy()
    new[3, 2] = 1e9
    found = fitted(X, Y).score_batch(new, Y[:5]).novelties
    assert [(each.column, each.kind, each.rows.tolist()) for each in found] == [("x2", "present", [3])]


def test_many_new_columns_are_not_all_told():
    X, Y = make_table(100, n_inputs=12)
    told = remarks(list(fitted(X, Y).score_batch(X + 1000, Y).novelties))
    assert len(told) == 6 and told[-1] == "And 7 more findings of this kind."


def test_a_model_of_label_lists_takes_matrices_too():
    X, Y = make_table(60)
    detector = fitted(X, [[f"t{i}" for i in np.flatnonzero(row)] for row in Y])
    np.testing.assert_array_equal(detector.decision_function(X, Y), detector.decision_scores_)
    assert detector.calibrate(X, Y).calibration_ is not None


# Drift.


def levels(mean, deviation, count):
    return ErrorLevels(*(np.array(each, dtype=float) for each in (mean, deviation, count)))


def test_drift_is_told_from_chance():
    usual = levels([0.1, 0.1, 0.1, 0.0], [0.2, 0.2, 0.2, 0.0], [1000, 1000, 1000, 1000])
    found = levels([0.11, 0.2, 0.9, 0.0], [0.2, 0.2, 0.2, 0.0], [200, 200, 2, 200])
    drift = Drift.between(tuple("abcd"), usual, found)
    assert drift.drifted.tolist() == [False, True, False, False]  # two rows tell nothing, however bad
    np.testing.assert_allclose(drift.z[1], 0.1 / (0.2 * np.sqrt(1 / 1000 + 1 / 200)))
    assert drift.z[3] == 0
    assert "b 20% (usually 10%)" in drift.remarks()[0] and "c" not in drift.remarks()[0].partition(":")[2]
    assert drift.to_dict()[1]["drifted"] is True and drift.to_dict()[0]["usual_error"] == 0.1


def test_an_output_that_was_never_wrong_and_now_is():
    drift = Drift.between(("a", "b"), levels([0, 0], [0, 0], [50, 50]), levels([0.5, 0], [0.5, 0], [40, 0]))
    assert drift.drifted.tolist() == [True, False]
    assert drift.to_dict()[0]["z"] is None  # infinite
    assert drift.to_dict()[1] == {
        "output": "b", "usual_error": 0.0, "error": None, "rows": 0, "z": 0.0, "drifted": False,
    }  # fmt: skip


def test_drift_of_a_batch():
    """The same world does not drift; another one does, in the output that has changed."""
    slopes = np.random.default_rng(0).normal(size=(5, 4))

    def world(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 5))
        return X, (X @ slopes + rng.normal(size=(n_rows, 4)) > 0).astype(float)

    X, Y = world(600, 1)
    detector = fitted(X, Y).calibrate(X, Y)
    false_alarms = sum(detector.score_batch(*world(300, 10 + seed)).drift.drifted.any() for seed in range(20))
    assert false_alarms <= 2
    new_X, new_Y = world(300, 2)
    new_Y[:, 2] = np.random.default_rng(3).permutation(new_Y[:, 2])
    drift = detector.score_batch(new_X, new_Y).drift
    assert drift.drifted[2] and drift.found[2] > 2 * drift.usual[2]
    # Models whose errors on unseen rows nobody knows cannot tell.
    blind = fitted(X, Y, crossfit=False, strengths=[1.0]).score_batch(*world(300, 10)).drift
    assert not blind.drifted.any() and blind.to_dict()[0]["usual_error"] is None
    # Rows of the fit say nothing about new ones.
    assert detector.score_batch(X[:50], Y[:50]).drift.rows.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("thin", [False, True])
def test_a_table_of_the_fit_with_fewer_digits_is_noticed(thin):
    X, Y = make_table(150, n_inputs=40, n_outputs=3)
    if thin:
        X *= np.random.default_rng(0).random(X.shape) < 0.08
    new_X, new_Y = make_table(60, n_inputs=40, n_outputs=3, seed=1)
    detector = fitted(X, Y)
    some = X[:8].round(5)
    assert detector.score_batch(np.vstack([some, new_X]), np.vstack([Y[:8], new_Y])).lookalikes == 8
    assert detector.score_batch(new_X, new_Y).lookalikes == 0


def test_rows_that_lie_near_by_nature_are_not_called_lookalikes():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(3000, 1)), rng.normal(size=(100, 1))
    detector = MCODE(n_neighbors=10).fit(X, X > 0)
    batch = detector.score_batch(new, new > 0)
    assert detector._rows.lookalikes.among(batch_design(detector, new), (new > 0).astype(float)).mean() > 0.5
    assert batch.lookalikes == 0


def batch_design(detector, X):
    return detector._encoding.transform(as_inputs(X))


def test_what_the_encoding_hides_is_no_rounding():
    """A column that was constant has no scale, and beyond the highest value all ranks are alike."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), np.full(300, 2024.0), rng.normal(size=300)])
    Y = (rng.random((300, 2)) < 0.5).astype(float)
    detector = fitted(X, Y)
    next_year, far = X[:50].copy(), X[:50].copy()
    next_year[:, 1] = 2025
    far[:, 0] = X[:, 0].max() + rng.random(50)
    for new in (next_year, far):
        assert detector.score_batch(new, Y[:50]).lookalikes == 0


def test_chance_makes_hardly_any_lookalike():
    """Rows in a plane lie near one another now and then."""

    def world(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n_rows, 2))
        return X, (X[:, :1] > 0).astype(float)

    detector = MCODE(n_neighbors=5, strengths=[1.0]).fit(*world(3000, 0))
    told = [detector.score_batch(*world(1000, seed)).lookalikes for seed in range(1, 21)]
    assert sum(each > 0 for each in told) <= 1, told


def test_the_columns_of_a_fit_without_names_are_known_by_the_names_it_gave_them():
    X, Y = make_table(80)
    detector = fitted(X, Y)
    inputs = pd.DataFrame(X, columns=[f"x{i}" for i in range(5)])
    outputs = pd.DataFrame(Y, columns=[f"y{i}" for i in range(4)])
    turned = detector.score_batch(inputs[inputs.columns[::-1]], outputs[outputs.columns[::-1]])
    np.testing.assert_array_equal(turned.in_fit, np.arange(80))


def test_two_orders_of_one_index_are_refused(named):
    X, Y = named
    detector = fitted(X, Y)
    shuffled = X.sample(frac=1, random_state=0)
    for ask in (
        lambda: fitted(shuffled, Y),
        lambda: detector.score_batch(shuffled, Y),
        lambda: detector.predict(X[:9], Y[8::-1]),
    ):
        with pytest.raises(DataError, match=r"same index in different orders; pass Y\.loc\[X\.index\]"):
            ask()
    detector.score_batch(shuffled, Y.loc[shuffled.index])
    detector.score_batch(shuffled.reset_index(drop=True).iloc[:9], Y.iloc[20:29])  # no index in common


def test_a_category_never_seen_is_not_the_missing_one_of_a_row_of_the_fit():
    X, Y = seen_table()
    X.loc[5, "ward"] = None
    detector = fitted(X, Y)
    new = X.iloc[[5, 5]].copy()
    new.iloc[1, new.columns.get_loc("ward")] = "brand new"
    batch = detector.score_batch(new, Y[[5, 5]])
    assert batch.in_fit.tolist() == [5, -1] and batch.lookalikes == 0
    X["bed"] = X["ward"]  # two at once
    new = X.iloc[[5, 5]].copy()
    new.iloc[1, [new.columns.get_loc(name) for name in ("ward", "bed")]] = "brand new"
    assert fitted(X, Y).score_batch(new, Y[[5, 5]]).in_fit.tolist() == [5, -1]


SHIFTS = {
    "another unit": (lambda t: t.assign(age=t.age / 10), {"age"}),
    "silent": (lambda t: t.assign(age=np.nan), {"age"}),
    "half silent": (lambda t: t.assign(age=t.age.where(np.arange(len(t)) % 2 == 0)), {"age"}),
    "stuck": (lambda t: t.assign(age=40.0), {"age"}),
    "one ward": (lambda t: t.assign(ward="a"), {"ward"}),
    "a quarter silent": (lambda t: t.assign(age=t.age.where(np.arange(len(t)) % 4 > 0)), {"age"}),
    "both": (lambda t: t.assign(age=t.age + 30, ward="b"), {"age", "ward"}),
    "nothing": (lambda t: t, set()),
}


def clinic(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(50, 15, n_rows),
            "kg": rng.normal(70, 9, n_rows),
            "ward": rng.choice(list("abc"), n_rows),
        }
    )
    X.loc[rng.random(n_rows) < 0.05, "age"] = np.nan
    return X, (rng.random((n_rows, 2)) < 0.4).astype(float)


@pytest.mark.parametrize("change", SHIFTS)
def test_inputs_that_are_distributed_otherwise_are_named(change):
    detector = MCODE(n_neighbors=20).fit(*clinic(400, 0))
    new, Y = clinic(200, 1)
    changed, expected = SHIFTS[change]
    batch = detector.score_batch(changed(new), Y)
    assert {each.column for each in batch.shifts} == expected
    if change in ("silent", "half silent"):
        (found,) = batch.shifts
        assert found.usually_missing == pytest.approx(0.05, abs=0.02) and found.missing == pytest.approx(
            changed(new).age.isna().mean()
        )
        assert f"age (missing in {'100%' if change == 'silent' else '5'}" in " ".join(batch.remarks())


def test_chance_names_hardly_any_input():
    detector = MCODE(n_neighbors=20).fit(*clinic(400, 0))
    named = sum(bool(detector.score_batch(*clinic(30, seed)).shifts) for seed in range(1, 101))
    assert named <= 3
    assert not detector.score_batch(*clinic(1, 5)).shifts


def test_drift_counts_the_outputs_it_looks_at():
    """Of forty outputs that have not changed one or another is 2.6 standard errors away in every third batch."""
    names = tuple(f"y{i}" for i in range(40))
    rng = np.random.default_rng(0)
    usual = ErrorLevels(np.full(40, 0.2), np.full(40, 0.3), np.full(40, 1e6))
    drifted = 0
    for _ in range(200):
        found = ErrorLevels(0.2 + 0.3 / 20 * rng.normal(size=40), np.full(40, 0.3), np.full(40, 400.0))
        drifted += Drift.between(names, usual, found).drifted.any()
    assert drifted <= 8

"""New rows: columns matched by name, and rows of the fit recognised among them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.tables import fitted, frame, make_table

from amiss import DataError


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


def test_a_model_of_label_lists_takes_matrices_too():
    X, Y = make_table(60)
    detector = fitted(X, [[f"t{i}" for i in np.flatnonzero(row)] for row in Y])
    np.testing.assert_array_equal(detector.decision_function(X, Y), detector.decision_scores_)
    assert detector.calibrate(X, Y).calibration_ is not None


def test_a_row_of_the_fit_keeps_its_score():
    """Its own models would find it usual, and it would be its own neighbour."""
    X, Y = make_table(200)
    Y[17] = 1 - Y[17]
    detector = fitted(X, Y)
    np.testing.assert_array_equal(detector.decision_function(X, Y), detector.decision_scores_)
    batch = detector.score_batch(X[[17, 3]], Y[[17, 3]])
    assert batch.in_fit.tolist() == [17, 3]
    assert batch.remarks()[-1] == "All 2 rows were used in the fit, so they have no p-values."
    one_of_two = detector.score_batch(np.vstack([X[:1], X[1:2] + 1]), Y[:2])
    assert one_of_two.remarks()[-1] == "1 of 2 rows was used in the fit, so it has no p-value."
    # Taken for new it would score less: that must not happen unnoticed, whatever the number of digits.
    assert detector.decision_function(X[[17]] + 1e-9, Y[[17]])[0] < detector.decision_scores_[17]
    flip = fitted(X, Y, rule="flip")  # by which models that did not see a row have more say
    assert flip.decision_function(X[[17]] + 1e-9, Y[[17]])[0] < 0.9 * flip.decision_scores_[17]
    for moved in (X[[17]] + 1e-9, X[[17]].astype(np.float32), X[[17]].round(4)):
        batch = detector.score_batch(moved, Y[[17]])
        assert batch.in_fit.tolist() == [-1] and batch.findings.near_copies == 1
        assert "1 of 1 row differs from rows of the fit only by rounding." in batch.remarks()[-1]
    assert not detector.score_batch(X[[17]] + 0.1, Y[[17]]).findings.near_copies  # another row
    assert not detector.score_batch(X[[17]].round(4), 1 - Y[[17]]).findings.near_copies
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
    for parameters in ({}, {"rule": "rw"}, {"n_neighbors": 0}):
        detector = fitted(X, Y, **parameters)
        whole = detector.decision_function(new_X, new_Y)
        for size in (1, 7, 63):
            parts = [
                detector.decision_function(new_X[i : i + size], new_Y[i : i + size]) for i in range(0, 64, size)
            ]
            np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-9)


def test_an_output_that_was_always_the_same_is_a_remark_and_no_alert():
    from amiss.output.summary import remarks

    X, Y = make_table(360)
    Y[:, 2] = 0
    detector = fitted(X[:300], Y[:300], contamination=0.02)
    assert "The same in every row, so nothing is known of it: y2." in remarks(detector.fitted_)
    Y[300:, 2] = 1
    batch = detector.score_batch(X[300:], Y[300:])
    assert batch.findings.first_values == {"y2": 60}
    assert any("no row of the fit had" in remark and "y2 (60 rows)" in remark for remark in batch.remarks())
    assert (batch.contributions[:, 2] == 0).all() and batch.flagged.mean() < 0.2

"""Model files: what is saved comes back."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from support.model_files import assert_same_detector, rewritten, setting
from support.tables import fitted, make_table, mixed_table

import amiss
from amiss import DataError

KINDS = [
    {},
    {"fdr": 0.2},
    {"rule": "lrw", "weighting": "error"},
    {"rule": "rw"},
    {"rule": "prod", "crossfit": False},
    {"n_neighbors": 0},
    {"parents": "chain", "order": [3, 1, 0, 2]},
    {"exclude": ["y1"], "neighbor_space": "inputs"},
    {"exclude": 0.1, "scaling": "block"},
    {"rule": "auto", "strengths": [1.0, 10.0]},
    {"neighbor_search": "approximate"},
    {"random_state": np.random.default_rng(3), "crossfit": 0.5, "cv": np.int64(3)},
]


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("parameters", KINDS)
def test_a_model_comes_back_as_it_was(tmp_path, parameters):
    X, Y = make_table(60)
    new_X, new_Y = make_table(20, seed=4)
    detector = fitted(X, Y, **parameters)
    for _ in range(2):
        detector.save(tmp_path / "m.amiss")
        again = amiss.load(tmp_path / "m.amiss")
        assert_same_detector(detector, again, new_X, new_Y)
        if "rule" in parameters or "scaling" in parameters:
            break
        detector.calibrate(X, Y)  # and once more, calibrated
    again.fit(X, Y)  # it is an ordinary detector
    if isinstance(parameters.get("random_state", 0), int):
        np.testing.assert_allclose(again.decision_scores_, detector.decision_scores_, rtol=1e-9)


def test_the_same_model_makes_the_same_bytes(tmp_path):
    X, Y = make_table(60)
    detector = fitted(X, Y).calibrate(X, Y)
    detector.save(tmp_path / "one.amiss")
    amiss.load(tmp_path / "one.amiss").save(tmp_path / "other.amiss")
    assert (tmp_path / "one.amiss").read_bytes() == (tmp_path / "other.amiss").read_bytes()


def test_p_values_of_the_fit_come_back(tmp_path):
    detector = fitted(*make_table(60), fdr=0.2)
    detector.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    np.testing.assert_array_equal(again.p_values_, detector.p_values_)
    assert again.fitted_.decision.reason == detector.fitted_.decision.reason


def test_tables_with_everything_in_them(tmp_path):
    X, Y = mixed_table()
    new_X, new_Y = mixed_table(15, seed=1)
    detector = fitted(X, Y).calibrate(X, Y)
    detector.save(tmp_path / "m.amiss")
    assert_same_detector(detector, amiss.load(tmp_path / "m.amiss"), new_X[new_X.columns[::-1]], new_Y)


def test_sparse_tables(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((60, 40)) < 0.06, 1.0, 0.0))
    Y = make_table(60)[1]
    detector = fitted(X, Y)
    detector.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    assert sparse.issparse(again.fitted_.models.training_rows.design)
    assert_same_detector(detector, again, X[:9], 1 - Y[:9])


def test_label_lists(tmp_path):
    X, Y = make_table(60)
    lists = [[f"tag{i}" for i in np.flatnonzero(row)] for row in Y]
    detector = fitted(X, lists)
    detector.save(tmp_path / "m.amiss")
    assert_same_detector(detector, amiss.load(tmp_path / "m.amiss"), X[:5], [["tag1"]] * 5)


@pytest.mark.parametrize(
    "later",
    [
        {"n_neighbors": 3},
        {"rule": "prod"},
        {"scaling": "none"},
        {"exclude": [0]},
        {"fdr": 0.1},
        {"contamination": 0.4},
        {"crossfit": False},
    ],
)
def test_parameters_that_are_set_after_the_fit_do_not_matter(tmp_path, later):
    X, Y = make_table(60)
    new_X, new_Y = make_table(20, seed=4)
    detector = fitted(X, Y)
    scores, flagged = detector.decision_function(new_X, new_Y), detector.predict(new_X, new_Y)
    held_out = fitted(X, Y).calibrate(X, Y)
    detector.set_params(**later).save(tmp_path / "m.amiss")
    for each in (detector, amiss.load(tmp_path / "m.amiss")):
        np.testing.assert_array_equal(each.decision_function(new_X, new_Y), scores)
        np.testing.assert_array_equal(each.predict(new_X, new_Y), flagged)
        each.calibrate(X, Y)
        np.testing.assert_array_equal(each.calibration_.scores, held_out.calibration_.scores)
        assert each.threshold_ == held_out.threshold_


@pytest.mark.parametrize(
    "parameters",
    [
        {"parents": "chain", "order": range(3, -1, -1)},
        {"exclude": {0}},
        {"strengths": {1.0, 10.0}},
        {"exclude": -np.inf},
        {"random_state": 2**63 + 5},
        {"random_state": np.random.RandomState(3)},
    ],
)
def test_parameters_of_any_kind_are_kept(tmp_path, parameters):
    X, Y = make_table(60)
    detector = fitted(X, Y, **parameters)
    detector.save(tmp_path / "m.amiss")
    assert_same_detector(detector, amiss.load(tmp_path / "m.amiss"), X[:9] + 0.1, Y[:9])


@pytest.mark.usefixtures("few_trials")
def test_what_was_measured_and_named_comes_back(tmp_path):
    X, Y = mixed_table(80)
    X["empty"] = None
    detector = fitted(X, Y, rule="auto")
    detector.save(tmp_path / "m.amiss")
    again = amiss.load(tmp_path / "m.amiss")
    assert again.choice_.why == detector.choice_.why and again.choice_.best == detector.choice_.best
    np.testing.assert_array_equal(again.choice_.precision, detector.choice_.precision)
    assert again.feature_names_in_.tolist() == detector.feature_names_in_.tolist()
    assert again.get_params()["rule"] == "auto"


def test_who_was_flagged_is_kept_to_the_row(model):
    """Though another processor's logarithms may put a row at the threshold on its other side."""
    before = fitted(*make_table(60))
    before.save(model)
    at_threshold = int(np.flatnonzero(before.decision_scores_ == before.threshold_)[0])
    rewritten(model, change_arrays=setting("rows.flagged", at_threshold, True))
    assert amiss.load(model).labels_.sum() == before.labels_.sum() + 1
    rewritten(model, change_arrays=setting("rows.flagged", int(np.argmin(before.decision_scores_)), True))
    with pytest.raises(DataError, match="damaged or altered"):
        amiss.load(model)


def test_what_cannot_be_saved(tmp_path, table):
    X, Y = table
    with pytest.raises(DataError, match="neighbours, which are rows of the fit"):
        fitted(X, Y).save(tmp_path / "m.amiss", rows=False)
    with pytest.raises(DataError, match="estimators=True"):
        fitted(X, Y, model=LogisticRegression()).save(tmp_path / "m.amiss")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_not_load_is_not_kept(tmp_path, table):
    detector = fitted(*table)
    detector.fitted_.models.model.coef[0, 0] = np.nan
    with pytest.raises(DataError, match=r"m\.amiss: what was written does not load again"):
        detector.save(tmp_path / "m.amiss")
    assert list(tmp_path.iterdir()) == []


def test_a_nan_that_signals_is_a_nan(model):
    """Arithmetic warns of it; fuzzing found that."""
    rewritten(model, change_arrays=lambda arrays: arrays["encoding.low"].view(np.uint64).fill(0x7FF0000000000001))
    X, Y = make_table(20, seed=4)
    assert np.isfinite(amiss.load(model).score_batch(X, Y).scores).all()

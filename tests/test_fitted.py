"""What a fit leaves behind does not change, whatever is asked of the detector afterwards."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.tables import fitted, make_table

import amiss
from amiss.fitted import is_table_of

OTHERS = {"rule": "prod", "n_neighbors": 3, "contamination": 0.3, "crossfit": False, "exclude": [0], "cv": 2}


def values_in(value, seen):
    """A value and all dataclasses within it."""
    if dataclasses.is_dataclass(value) and id(value) not in seen:
        seen[id(value)] = value
        for field in dataclasses.fields(value):
            values_in(getattr(value, field.name), seen)
    return seen.values()


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("parameters", [{}, {"rule": "auto"}, {"fdr": 0.2}, {"n_neighbors": 0}])
def test_no_field_of_it_nor_of_anything_in_it_can_be_set(parameters):
    X, Y = make_table(60)
    everything = values_in(fitted(X, Y, **parameters).calibrate(X, Y).fitted_, {})
    assert len(everything) > 12
    for value in everything:
        for field in dataclasses.fields(value):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(value, field.name, None)


@pytest.mark.parametrize("level", [{}, {"fdr": 0.3}])
def test_other_parameters_change_nothing_before_the_next_fit(level, tmp_path):
    X, Y = make_table(120)
    new = make_table(40, seed=3)
    untouched, detector = fitted(X, Y, **level), fitted(X, Y, **level)
    detector.set_params(**OTHERS, fdr=None)
    for one, other in ((detector, untouched), (detector.calibrate(X, Y), untouched.calibrate(X, Y))):
        np.testing.assert_array_equal(one.decision_function(*new), other.decision_function(*new))
        np.testing.assert_array_equal(one.predict(*new), other.predict(*new))
        np.testing.assert_array_equal(one.labels_, other.labels_)
        np.testing.assert_array_equal(one.predict_confidence(*new), other.predict_confidence(*new))
        assert one.threshold_ == other.threshold_ and one.rule_ == "mixture"
        assert str(one.explain(5)) == str(other.explain(5))
        assert str(one.explain(*new, row=2)) == str(other.explain(*new, row=2))
    np.testing.assert_array_equal(detector.calibration_.scores, untouched.calibration_.scores)
    detector.save(tmp_path / "m.amiss")
    kept = amiss.load(tmp_path / "m.amiss").get_params()
    assert {**kept, "strengths": tuple(kept["strengths"])} == untouched.get_params()
    refitted = detector.fit(X, Y)
    assert refitted.rule_ == "prod" and refitted.labels_.sum() == 36 and refitted.calibration_ is None


def test_scoring_and_calibrating_leave_the_fit_as_it_was():
    X, Y = make_table(80)
    detector = fitted(X, Y, contamination=0.1)
    before = detector.fitted_
    scores, threshold = before.training.scores.copy(), before.decision.threshold
    detector.score_batch(X, 1 - Y)
    detector.explain(3)
    detector.calibrate(X, Y)
    assert before.calibration is None and before.decision.threshold == threshold
    np.testing.assert_array_equal(before.training.scores, scores)
    after = detector.fitted_
    assert after is not before and after.calibration is detector.calibration_
    assert after.models is before.models and after.scorer is before.scorer and after.training is before.training


def test_the_attributes_are_those_of_the_fit():
    X, Y = make_table(60)
    detector = fitted(X, Y, fdr=0.2)
    rows, decision = detector.fitted_.training_rows, detector.fitted_.decision
    assert detector.decision_scores_ is rows.scores and detector.contributions_ is rows.contributions
    assert detector.probabilities_ is detector.rho_ is rows.probabilities
    assert detector.p_values_ is decision.p_values and detector.output_quality_ is detector.fitted_.quality
    np.testing.assert_array_equal(rows.training_match, np.arange(60))
    np.testing.assert_array_equal(rows.Y, Y)
    assert not rows.is_new.any() and len(rows) == 60
    np.testing.assert_allclose(rows.probabilities, 1 / (1 + np.exp(-np.where(Y == 1, 1, -1) * rows.log_odds)))


def test_rows_of_the_fit_are_recognised_in_any_order_and_others_are_not():
    X, Y = make_table(60)
    detector = fitted(X, Y)
    order = np.random.default_rng(0).permutation(60)
    mixed = np.vstack([X[order], X[:5] + 1e-3]), np.vstack([Y[order], Y[:5]])
    batch = detector.score_batch(*mixed)
    np.testing.assert_array_equal(batch.in_fit, [*order, -1, -1, -1, -1, -1])
    np.testing.assert_array_equal(batch.scores[:60], detector.decision_scores_[order])
    assert is_table_of(detector.fitted_, *detector.fitted_.columns.align(X, Y))
    assert not is_table_of(detector.fitted_, *detector.fitted_.columns.align(X[order], Y[order]))


def test_results_cannot_be_changed_through_one_another(table):
    detector = fitted(*table)
    before = detector.decision_function(*table)
    for name in ("contributions_", "decision_scores_", "probabilities_", "weights_"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(detector, name)[0] = 1000
    batch = detector.score_batch(*table)
    for array in (batch.scores, batch.flagged, batch.contributions):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    np.testing.assert_array_equal(detector.decision_function(*table), before)


def test_threads_and_progress_may_be_set_after_the_fit(table):
    X, Y = table
    detector = fitted(X, Y).set_params(n_jobs=1)
    scores = detector.decision_function(X + 1, Y)
    assert detector.fitted_.settings.n_jobs == detector.fitted_.scorer.n_jobs == 1
    assert detector.set_params(verbose=True).calibrate(X, Y).fitted_.settings.verbose
    np.testing.assert_array_equal(detector.set_params(n_jobs=2).decision_function(X + 1, Y), scores)


def test_a_subclass_may_have_parameters_of_its_own(table):
    class Named(amiss.MCODE):
        def __init__(self, *, title="mine", rule="prod"):
            super().__init__(rule=rule)
            self.title = title

    detector = Named().fit(*table)
    assert detector.rule_ == "prod" and detector.get_params() == {"rule": "prod", "title": "mine"}


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize("parameters", [{"rule": "auto"}, {"fdr": 0.2, "n_neighbors": 0}])
def test_what_a_user_gets_back_prints_on_one_line_and_compares(parameters):
    X, Y = make_table(60)
    detector, again = (fitted(X, Y, **parameters).calibrate(X, Y) for _ in range(2))
    batch = detector.score_batch(X[:9], 1 - Y[:9])
    mine, theirs = detector.fitted_, again.fitted_
    both = {name: (getattr(mine, name), getattr(theirs, name)) for name in ("training", "quality", "error_rates",
            "calibration", "choice", "decision", "models", "scorer", "columns", "settings")}  # fmt: skip
    both["fitted"], both["batch"] = (mine, theirs), (batch, again.score_batch(X[:9], 1 - Y[:9]))
    both["rows"] = mine.models.training_rows, theirs.models.training_rows
    both["encoder"] = mine.models.encoder, theirs.models.encoder
    both["encoded"], both["findings"] = (batch.encoded, None), (batch.findings, None)
    for one, other in both.values():
        assert one == one
        assert isinstance(one == other, bool)
        assert "array(" not in repr(one)
        assert "\n" not in repr(one)
    assert repr(mine).startswith("<FittedDetector: 60 rows, 5 inputs, 4 outputs, rule ")
    assert repr(batch.rows) == "<ScoredRows: 9 rows, 4 outputs>"
    assert repr(mine.calibration) == "<Calibration: 60 rows held out of the fit>"


def test_a_row_is_named_by_a_whole_number(table):
    detector = fitted(*table)
    with pytest.raises(amiss.DataError, match=r"a row is given by its number, a whole number; got 1\.7"):
        detector.explain_rows([1.7])
    assert next(detector.explain_rows([np.int64(1)])).row == 1


def test_a_model_without_its_rows_says_so(table, tmp_path):
    fitted(*table, n_neighbors=0).save(tmp_path / "small.amiss", rows=False)
    loaded = amiss.load(tmp_path / "small.amiss").fitted_
    assert "without the rows of the fit" in repr(loaded.models)
    for ask in (lambda: loaded.models.training_rows, lambda: loaded.training_rows):
        with pytest.raises(amiss.DataError, match="this model was saved without the rows of the fit"):
            ask()


def test_the_score_is_exact_where_a_probability_is_almost_zero():
    X = np.linspace(-1, 1, 60)[:, None]
    detector = fitted(X, X > 0, strengths=(1e-9,), n_neighbors=0, scaling="none", cv=2)
    far = np.array([[1e6]])
    log_odds = detector.fitted_.score(
        detector.fitted_.encode(*detector.fitted_.columns.align(far, [[0]]))
    ).log_odds
    assert log_odds[0, 0] > 1000
    assert detector.score(far, [[0]]) == -log_odds[0, 0]


def test_rows_without_an_observed_output_have_no_score(table):
    X, Y = table
    detector = fitted(X, Y)
    nothing = np.full(Y.shape, np.nan)
    with pytest.raises(amiss.DataError, match="every output of these rows is missing"):
        detector.score(X, nothing)
    some = np.where(np.arange(Y.shape[1]) == 0, Y, np.nan)
    assert np.isfinite(detector.score(X + 0.1, some))

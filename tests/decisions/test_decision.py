"""Decisions: everything that flags rows flags the same ones, and the level that was asked for is kept."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import fitted, make_table

from amiss import MCODE, load
from amiss.decisions.p_values import discoveries
from amiss.errors import DataError
from amiss.evaluation import inject

LEVELS = [{}, {"contamination": "auto"}, {"fdr": 0.3}]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rule", ["flip", "rw"])
def test_labels_threshold_predict_and_batches_agree(level, rule):
    X, Y = make_table(300)
    Y[:9] = 1 - Y[:9]
    new_X, new_Y = make_table(80, seed=5)
    detector = fitted(X, Y, rule=rule, **level)
    assert (detector.labels_ == (detector.decision_scores_ > detector.threshold_)).all()
    batch = detector.score_batch(new_X, new_Y)
    assert (batch.scores == detector.decision_function(new_X, new_Y)).all()
    assert (detector.predict(new_X, new_Y) == batch.flagged).all()
    if not level:
        assert batch.threshold == detector.threshold_
    assert (detector.predict(X, Y) == detector.labels_).all()
    calibrated = detector.calibrate(X, Y)
    assert (calibrated.predict(X, Y) == calibrated.labels_).all()
    assert (calibrated.labels_ == (calibrated.decision_scores_ > calibrated.threshold_)).all()
    assert (calibrated.predict(new_X, new_Y) == calibrated.score_batch(new_X, new_Y).flagged).all()
    if level:
        expected = discoveries(calibrated.p_values(new_X, new_Y), level.get("fdr", 0.2))
        assert (calibrated.predict(new_X, new_Y) == expected).all()


def test_rows_of_the_fit_by_draws():
    """Wrong rows pass, the p-values are those of the draws, and a stricter level flags no more."""
    X, Y = make_table(600, n_outputs=10)
    wrong, is_wrong = inject(Y, 0.03, 0.5, random_state=0)
    detector = MCODE(fdr=0.2, rule="flip").fit(X, wrong)
    assert is_wrong[detector.labels_ == 1].mean() > 0.8
    assert is_wrong[detector.labels_ == 1].sum() >= 0.5 * is_wrong.sum()
    assert (detector.labels_ == discoveries(detector.p_values_, 0.2)).all()
    assert MCODE(fdr=0.02, rule="flip").fit(X, wrong).labels_.sum() <= detector.labels_.sum()
    automatic = MCODE(contamination="auto", rule="flip").fit(X, wrong)
    assert (automatic.labels_ == detector.labels_).all()  # "auto" is a level of 0.2
    assert (automatic.decision_scores_ == MCODE(crossfit=True, rule="flip").fit(X, wrong).decision_scores_).all()


def test_auto_flags_rows_by_the_chance_that_they_are_wrong(tmp_path):
    X, Y = make_table(600, n_outputs=10)
    wrong, is_wrong = inject(Y, 0.05, 0.3, random_state=0)
    detector = MCODE(contamination="auto").fit(X, wrong)
    np.testing.assert_array_equal(detector.labels_ == 1, -np.expm1(-detector.decision_scores_) > 0.3)
    assert detector.threshold_ == pytest.approx(-np.log(0.7))
    found = is_wrong[detector.labels_ == 1]
    assert found.sum() >= 0.9 * 30 and found.mean() > 0.2  # of 5 % that are wrong
    detector.save(tmp_path / "m.amiss")
    again = load(tmp_path / "m.amiss").calibrate(X, wrong)  # which moves no threshold that is a chance
    np.testing.assert_array_equal(again.labels_, detector.labels_)
    assert again.fitted_.decision.by == "chance" and again.threshold_ == detector.threshold_


def test_draws_do_not_flag_rows_the_models_would_make():
    """Outputs that are drawn from a logistic model are what the models expect."""
    flagged = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 4))
        Y = (rng.random((500, 5)) < 1 / (1 + np.exp(-2 * X @ rng.normal(size=(4, 5))))).astype(float)
        flagged.append(int(MCODE(fdr=0.1).fit(X, Y).labels_.sum()))
    assert np.mean([each > 0 for each in flagged]) <= 0.3, flagged  # each flag among clean rows is false


@pytest.mark.parametrize(("n_rows", "n_drawn"), [(100, 20_000), (300, 20_100), (4500, 90_000)])
def test_enough_is_drawn(n_rows, n_drawn):
    """Small tables are drawn often, so that a p-value can be small; large ones twice as often as a level asks."""
    X, Y = make_table(n_rows, n_inputs=2, n_outputs=2)
    p = MCODE(fdr=0.1, rule="prod", strengths=[1.0]).fit(X, Y).p_values_ * (n_drawn + 1)
    np.testing.assert_allclose(p, p.round(), atol=1e-6)
    assert len(np.unique(p.round())) > n_rows / 3 and p.min() >= 1


def test_p_values_only_where_they_were_asked_for(table):
    X, Y = table
    detector = fitted(X, Y, fdr=0.1)
    assert detector.p_values_.shape == (len(Y),)
    detector.set_params(fdr=None)
    assert not hasattr(detector.fit(X, Y), "p_values_")


def test_draws_need_models_that_did_not_see_the_row(table):
    for level in ({"fdr": 0.1}, {"contamination": "auto", "rule": "flip"}):
        with pytest.raises(ValueError, match="crossfit"):
            MCODE(crossfit=False, **level).fit(*table)


def test_one_cut_at_a_time(table):
    detector = fitted(*table)
    with pytest.raises(ValueError, match="one of"):
        detector.score_batch(*table, fdr=0.1, alerts=3)
    with pytest.raises(DataError, match="calibrate"):
        detector.score_batch(*table, fdr=0.1, against="rows")
    with pytest.raises(DataError, match="calibrate"):
        detector.p_values(*table)


def test_rows_of_the_fit_are_judged_as_they_were_there():
    """All alike, so none of them stands out, whoever is asked."""
    X, Y = np.random.default_rng(0).normal(size=(40, 2)), np.zeros((40, 3))
    detector = MCODE(fdr=0.05, n_neighbors=10).fit(X, Y)
    assert detector.labels_.sum() == detector.predict(X, Y).sum() == 0
    assert detector.calibrate(X, Y).predict(X, Y).sum() == 0
    batch = detector.score_batch(np.vstack([X, X[:1] + 0.1]), np.zeros((41, 3)))
    assert np.isnan(batch.p_values[:40]).all() and not np.isnan(batch.p_values[40])
    assert not batch.flagged[:40].any()


def test_an_explanation_gives_the_verdict_of_its_batch():
    X, Y = make_table(300)
    new_X, new_Y = make_table(60, seed=5)
    detector = fitted(X, Y, fdr=0.3).calibrate(X, Y)
    batch = detector.score_batch(new_X, new_Y)
    assert 0 < batch.flagged.sum() < 60
    explained = [detector.explain(new_X, new_Y, row=row) for row in range(60)]
    assert [each.flagged for each in explained] == batch.flagged.tolist()
    assert [each.p_value for each in explained] == batch.p_values.tolist()
    assert f"p-value {batch.p_values[5]:.2g} (how often rows held out" in str(explained[5])
    assert detector.explain(X, Y, row=3).p_value is None  # a row of the fit


def test_why_no_row_passes():
    X, Y = make_table(100)
    new_X, new_Y = make_table(200, seed=5)
    detector = fitted(X, Y).calibrate(X, Y)
    usual = detector.score_batch(X[:30] + 1e-9, Y[:30], fdr=0.001)
    assert usual.decision.why_none == "No row scores higher than rows like those of the fit do by chance."
    few = detector.score_batch(new_X, new_Y, fdr=0.02)
    assert not few.flagged.any() and "too few to tell at this level" in few.remarks()[0]
    assert detector.score_batch(new_X, new_Y, fdr=0.9).decision.why_none == ""


def test_batches_of_a_table_of_few_combinations():
    """Most new rows are the same as one of the fit; the others are compared with rows that were new too."""

    def world(n_rows, seed):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (n_rows, 3)).astype(float)
        return X, (X[:, :2] + rng.normal(size=(n_rows, 2)) > 1.5).astype(float)

    X, Y = world(400, 0)
    detector = MCODE(scaling="none").fit(X, Y).calibrate(X, Y)
    batches = [detector.score_batch(*world(150, seed), fdr=0.1) for seed in range(1, 21)]
    assert np.mean([(batch.in_fit >= 0).mean() for batch in batches]) > 0.8
    assert np.mean([batch.flagged[batch.in_fit < 0].any() for batch in batches]) <= 0.25
    assert np.mean([batch.drift.drifted.any() for batch in batches]) <= 0.1


@pytest.mark.parametrize(
    "asked",
    [{"alerts": -1}, {"alerts": 2.5}, {"fdr": 5}, {"fdr": np.nan}, {"rate": 0.9}, {"fdr": 0.1, "against": "rowz"}],
)
def test_cuts_that_make_no_sense(table, asked):
    with pytest.raises(ValueError, match=r"must be"):
        fitted(*table).score_batch(*table, **asked)


def test_alerts_and_rate_of_a_batch():
    X, Y = make_table(400)
    new_X, new_Y = make_table(100, seed=3)
    detector = fitted(X, Y).calibrate(X, Y)
    assert detector.score_batch(new_X, new_Y, alerts=7).flagged.sum() == 7
    assert detector.score_batch(new_X, new_Y, alerts=200).flagged.all()
    batch = detector.score_batch(new_X, new_Y, rate=0.1)
    assert batch.threshold == np.sort(detector.calibration_.scores)[::-1][39]  # the 40th of 400
    assert (batch.flagged == (batch.p_values <= 0.1)).all() and 0 < batch.flagged.sum() < 100
    uncalibrated = fitted(X, Y).score_batch(new_X, new_Y, rate=0.1)
    assert uncalibrated.threshold == np.sort(fitted(X, Y).decision_scores_)[::-1][40]


@pytest.mark.parametrize(("n_rows", "level"), [(1000, 0.01), (3000, 0.05)])
def test_a_few_gross_errors_pass_a_strict_level(n_rows, level):
    X, Y = make_table(n_rows, n_outputs=8, seed=1)
    Y = (X @ np.random.default_rng(1).normal(size=(5, 8)) > 0).astype(float)
    Y[[7, 70]] = 1 - Y[[7, 70]]
    detector = MCODE(fdr=level).fit(X, Y)
    assert np.flatnonzero(detector.labels_).tolist() == [7, 70]


def test_a_level_says_nothing_of_rows_of_the_fit():
    """Unless the fit was judged by it; a share flags rows whoever is wrong."""
    X, Y = make_table(300)
    new_X, new_Y = make_table(40, seed=5)
    both_X, both_Y = np.vstack([X, new_X]), np.vstack([Y, new_Y])
    by_share = fitted(X, Y, contamination=0.3).calibrate(X, Y)
    for against in ("rows", "models"):
        batch = by_share.score_batch(both_X, both_Y, fdr=0.5, against=against)
        assert not batch.flagged[:300].any() and batch.flagged[300:].any() and batch.decision.unjudged == 300
        assert np.isnan(batch.p_values[:300]).all() and np.isnan(batch.output_p_values[:300]).all()
        assert "A false-discovery level judges new rows only." in batch.remarks()[-1]
        if against == "rows":  # copies have no say in the procedure
            alone = by_share.score_batch(new_X, new_Y, fdr=0.5, against=against)
            assert (alone.flagged == batch.flagged[300:]).all()
    by_level = fitted(X, Y, fdr=0.5)
    assert (by_level.score_batch(both_X, both_Y).flagged[:300] == by_level.labels_).all()
    assert not by_level.score_batch(both_X, both_Y, fdr=0.4).flagged[:300].any()
    assert (
        by_share.score_batch(X, Y, fdr=0.1).decision.why_none
        == "All rows were used in the fit, so there is no new row to judge."
    )


def test_rows_more_unusual_than_all_held_out_are_not_called_usual():
    X, Y = make_table(100)
    detector = fitted(X, Y).calibrate(X, Y)
    batch = detector.score_batch(X[:4] + 0.3, 1 - Y[:4], fdr=0.005)
    assert not batch.flagged.any() and "too few to tell at this level" in batch.decision.why_none


def test_alerts_that_tie():
    X, Y = make_table(60)
    detector = fitted(X, Y)
    new_X, new_Y = np.repeat(X[:1] + 1, 4, axis=0), np.repeat(1 - Y[:1], 4, axis=0)
    batch = detector.score_batch(new_X, new_Y, alerts=2)
    assert not batch.flagged.any() and batch.decision.reason == "and not 2, because rows tie at the threshold"
    assert detector.score_batch(new_X, new_Y, alerts=9).decision.reason == "the 4 most unusual rows of this batch"


def test_a_tiny_level_takes_no_longer_than_others():
    """The draws are bounded."""
    X, Y = make_table(60, n_outputs=1)
    assert len(MCODE(fdr=1e-9, strengths=[1.0], n_neighbors=0).fit(X, Y).p_values_) == 60


def test_why_none_passes_against_the_models():
    X, Y = make_table(200)
    none = fitted(X, Y).score_batch(X[:50] + 0.01, Y[:50], fdr=0.001, against="models")
    assert "simulated by the models to tell them from chance" in none.decision.why_none

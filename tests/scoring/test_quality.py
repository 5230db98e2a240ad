"""Quality figures are scikit-learn's metrics of rho."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from support.tables import make_table

import amiss
from amiss.errors import DataError


@pytest.mark.parametrize("crossfit", [False, 0.5])
def test_figures_are_scikit_learns(crossfit):
    X, Y = make_table()
    model = amiss.MCODE(crossfit=crossfit, rule="rw").fit(X, Y)
    quality = model.output_quality_
    for i in range(4):
        p = np.where(Y[:, i] == 1, model.rho_[:, i], 1 - model.rho_[:, i])
        one = quality[i]
        assert one["prevalence"] == pytest.approx(Y[:, i].mean())
        assert one["mean_error"] == pytest.approx((1 - model.rho_[:, i]).mean())
        assert one["brier"] == pytest.approx(brier_score_loss(Y[:, i], p))
        assert one["log_loss"] == pytest.approx(log_loss(Y[:, i], p))
        assert one["auc"] == pytest.approx(roc_auc_score(Y[:, i], p))
        assert one["weight"] == pytest.approx(model.weights_[i])
        assert one["converged"]
        assert one["strength"] in model.strengths
        base = log_loss(Y[:, i], np.full(len(Y), (Y[:, i].sum() + 0.5) / (len(Y) + 1)))
        assert one["skill"] == pytest.approx(1 - one["log_loss"] / base)


def test_it_is_found_by_name_printed_and_turned_into_columns():
    X, Y = make_table()
    Y[:, 3] = 0
    quality = amiss.MCODE(crossfit=False).fit(X, Y).output_quality_
    assert len(quality) == 4
    assert quality["y1"] == quality[1]
    assert quality["y3"]["skill"] == pytest.approx(0, abs=1e-9)
    assert np.isnan(quality["y3"]["auc"])
    assert list(quality.to_dict()) == [
        "name", "observed", "prevalence", "strength", "converged", "mean_error", "brier", "log_loss",
        "base_log_loss", "skill", "auc", "weight", "excluded", "kind",
    ]  # fmt: skip
    lines = str(quality).splitlines()
    assert len(lines) == 5
    assert lines[0].split()[:3] == ["output", "ones", "strength"]


def test_excluded_outputs_leave_the_score_but_stay_parents():
    X, Y = make_table()
    whole, without = (amiss.MCODE(rule="flip", exclude=each).fit(X, Y) for each in (None, ["y2", 0]))
    np.testing.assert_array_equal(whole.rho_, without.rho_)
    assert (without.contributions_[:, [0, 2]] == 0).all()
    np.testing.assert_allclose(without.contributions_[:, [1, 3]], whole.contributions_[:, [1, 3]])
    np.testing.assert_allclose(without.decision_scores_, whole.contributions_[:, [1, 3]].sum(axis=1), rtol=1e-12)
    assert list(without.output_quality_.excluded) == [True, False, True, False]


def test_outputs_below_a_skill_are_excluded():
    X, Y = make_table()
    Y[:, 2] = np.random.default_rng(0).random(len(Y)) < 0.5
    model = amiss.MCODE(exclude=0.2, crossfit=True).fit(X, Y)
    assert list(model.output_quality_.excluded) == list(model.output_quality_.skill < 0.2)
    assert model.output_quality_["y2"]["excluded"]
    assert not model.output_quality_["y1"]["excluded"]


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        (["nobody"], "'nobody'"),
        ([7], "'7'"),
        (["y0", "y1", "y2", "y3"], "leave at least one"),
        (1.0, "ask for less"),
    ],
)
def test_an_exclusion_that_makes_no_sense_is_refused(exclude, message):
    X, Y = make_table()
    with pytest.raises(DataError, match=message):
        amiss.MCODE(exclude=exclude).fit(X, Y)

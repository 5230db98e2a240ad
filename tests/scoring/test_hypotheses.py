"""The hypotheses of how a row can be wrong: their formulas, what they find, and new rows weighed alike."""

from __future__ import annotations

import numpy as np
import pytest
from support.tables import fitted, make_table

from amiss import MCODE, load
from amiss.evaluation import inject
from amiss.scoring.hypotheses import (
    BEYOND,
    DOUBT,
    DOUBT_BY_INPUTS,
    KINDS,
    OF_BASE_RATE,
    OF_LOCAL_ERROR,
    TRUSTED,
)
from amiss.scoring.likelihood_ratios import fit_line, fit_plane, logistic_coefficients

PATTERNS = np.array(
    [[1, 1, 0, 0, 1, 0], [0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 0], [1, 0, 0, 1, 0, 1], [1, 0, 1, 0, 1, 1]],
    dtype=float,
)


def tags(n_rows=500, seed=0):
    """Six outputs that vouch for each other: each row has one of five patterns, which its inputs tell."""
    rng = np.random.default_rng(seed)
    pattern = rng.integers(0, len(PATTERNS), n_rows)
    X = np.eye(len(PATTERNS))[pattern] + 0.3 * rng.normal(size=(n_rows, len(PATTERNS)))
    return X, PATTERNS[pattern]


def by_hand(hypotheses, log_odds, y, weights, doubted, view, view_held_out, view_weights):
    """The score, the odds and the shares of one complete row, written from the docstring."""
    d, base = len(y), hypotheses.base_rates
    signs = np.where(y == 1, 1, -1)
    rho, held_out = (1 / (1 + np.exp(-signs * each)) for each in (log_odds, view_held_out))
    assert not hypotheses.unpredictable.any() and not hypotheses.unpredictable_by_inputs.any()
    S = sum(np.log(1 + (1 - rho[i]) / (d * (rho[i] + 1 / weights[i]))) for i in range(d))
    usual = np.where(y == 1, base, 1 - base)
    mutual = np.log(usual / held_out).sum()
    emptiness = np.log1p(np.exp(view_held_out)).sum()

    def odds(share, ratio, most):
        return share * np.exp(ratio if ratio <= 0 else most * np.tanh(ratio / most) + BEYOND * ratio)

    def line(of, at):
        return of.intercept + of.slope * at

    flipped = odds(hypotheses.shares[0], line(hypotheses.contradiction, S), TRUSTED[0, 0])
    plane = line(hypotheses.unrelated, mutual) - hypotheses.unrelated.of_rarity * np.log(usual).sum()
    unrelated = odds(hypotheses.shares[1], plane, TRUSTED[1, 0])
    blank = 0.0 if y.any() else odds(hypotheses.shares[2], -line(hypotheses.blank, emptiness), TRUSTED[2, 0])
    shift = OF_BASE_RATE * np.log(base / (1 - base))
    against, against_x, against_flips = (np.exp(-signs * (each - shift)) for each in (doubted, view, log_odds))
    c = DOUBT / d * against / (1 + OF_LOCAL_ERROR * against / weights)
    c_x = DOUBT_BY_INPUTS / d * against_x / (1 + OF_LOCAL_ERROR * against_x / view_weights)
    doubt, doubt_x = (hypotheses.doubt * (np.prod(1 + each) - 1) for each in (c, c_x))
    one = against_flips / (1 + against_flips / weights) / d
    one /= 1 + one
    which, differs = one / (1 - np.prod(1 - one)), against_x / (1 + against_x)
    judgement, blind = hypotheses.doubt * (c + c_x), flipped * which + (unrelated + blank) * differs
    kinds = np.array([flipped + doubt, doubt_x, unrelated, blank])
    cells = judgement + blind
    wrong = cells / (1 + flipped + unrelated + blank + judgement)
    return np.log1p(kinds.sum()), kinds, cells / cells.sum(), wrong


def test_the_formulas_are_those_of_the_docstring():
    X, Y = tags()
    Y, _ = inject(Y, 0.05, 0.2, 0)
    Y[7] = 0
    detector = fitted(X, Y)
    rows, scorer = detector.fitted_.training_rows, detector.fitted_.scorer
    assert scorer.hypotheses.shares[0] > 0
    views = rows.views
    for n in (0, 7, 30, int(np.argmax(rows.scores))):
        others = views.doubted[n], views.by_inputs[n], views.held_out[n], views.weights[n]
        score, kinds, share, wrong = by_hand(
            scorer.hypotheses, rows.log_odds[n], rows.Y[n], rows.weights[n], *others
        )
        assert rows.scores[n] == pytest.approx(score, rel=1e-9)
        np.testing.assert_allclose(rows.odds[n], kinds, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(rows.contributions[n], share * score, rtol=1e-7, atol=1e-12)
        np.testing.assert_allclose(rows.wrong[n], wrong, rtol=1e-7, atol=1e-12)
    assert (rows.wrong <= -np.expm1(-rows.scores)[:, None] + 1e-12).all()  # no more than the row is
    np.testing.assert_allclose(rows.scores, -np.log(1 / (1 + rows.odds.sum(axis=1))), rtol=1e-9)


@pytest.mark.parametrize(("error", "kind"), [("swap", "unrelated"), ("blank", "blank"), ("flip", "contradiction")])
def test_each_kind_of_error_is_found_counted_and_named(error, kind):
    X, Y = tags(800)
    made, wrong = inject(Y, 0.06, 0.1, 1, kind=error)
    detector = MCODE(contamination=0.06).fit(X, made)
    found = np.argsort(-detector.decision_scores_)[: int(wrong.sum())]
    assert wrong[found].mean() > 0.8
    estimate = detector.error_estimate_.rows
    assert estimate.low <= wrong.sum() <= estimate.high
    said = [detector.explain(int(row)).kind for row in found if wrong[row]]
    # Some of a swapped row's outputs may be right, and then it is one whose outputs do not fit the inputs.
    assert np.mean([each in (kind, "inputs" if error == "swap" else kind) for each in said]) > 0.7
    old = MCODE(rule="flip").fit(X, made).decision_scores_
    n_before = wrong[np.argsort(-old)[: int(wrong.sum())]].sum()
    assert wrong[found].sum() >= n_before - 1


def test_missing_outputs_and_excluded_ones_say_nothing():
    X, Y = tags()
    Y[3, :4] = np.nan
    detector = fitted(X, Y, exclude=[5])
    rows = detector.fitted_.training_rows
    assert (rows.contributions[3, :4] == 0).all() and (rows.contributions[:, 5] == 0).all()
    assert (rows.wrong[:, 5] == 0).all() and np.isfinite(rows.scores).all()
    assert all(cell.output != "y5" for cell in detector.cells())
    assert len(detector.cells()) == Y.size - len(Y) - 4


def test_a_table_saved_without_rows_weighs_the_same_hypotheses(tmp_path):
    X, Y = tags()
    new_X, new_Y = tags(40, seed=5)
    new_Y[3], new_Y[4] = new_Y[20], 0
    detector = MCODE(n_neighbors=0).fit(X, Y)
    detector.save(tmp_path / "m.amiss", rows=False)
    loaded = load(tmp_path / "m.amiss")
    np.testing.assert_array_equal(loaded.decision_function(new_X, new_Y), detector.decision_function(new_X, new_Y))
    assert loaded.explain(new_X[4:5], new_Y[4:5]).kind == detector.explain(new_X[4:5], new_Y[4:5]).kind
    assert loaded.error_estimate_ is None


def test_a_rare_value_that_nobody_can_predict_is_not_suspicious():
    X, Y = tags(900)
    rng = np.random.default_rng(0)
    rare = (rng.random((900, 1)) < 0.02).astype(float)  # nothing tells when it is 1
    detector = MCODE(contamination=0.02).fit(X, np.hstack([Y, rare]))
    top = np.argsort(-detector.decision_scores_)[:18]
    assert rare[top].mean() < 0.5 and detector.fitted_.scorer.hypotheses.unpredictable[6] > 0.5
    old = MCODE(rule="flip", contamination=0.02).fit(X, np.hstack([Y, rare]))
    assert rare[np.argsort(-old.decision_scores_)[:18]].mean() > 0.8
    row = int(np.flatnonzero(rare)[0])
    said = detector.explain(row)
    assert not said["y6"].predictable and said["y0"].predictable
    if said.suspects and said.suspects[0].output == "y6":
        assert "and not predictable from these columns" in str(said)


def test_few_rows_and_a_single_output_are_no_trouble():
    X, Y = make_table(40)
    assert fitted(X, Y).fitted_.scorer.hypotheses.shares == (0.0, 0.0, 0.0)
    X, Y = make_table(200)
    single = fitted(X, Y[:, :1])
    assert single.fitted_.scorer.hypotheses.shares[1:] == (0.0, 0.0)
    assert np.isfinite(single.decision_scores_).all()


def test_the_order_of_rows_changes_nothing():
    X, Y = tags()
    Y, _ = inject(Y, 0.05, 0.2, 0)
    order = np.random.default_rng(0).permutation(len(Y))
    first, second = fitted(X, Y), fitted(X[order], Y[order])
    np.testing.assert_array_equal(first.decision_scores_[order], second.decision_scores_)
    assert first.fitted_.scorer.hypotheses.shares == second.fitted_.scorer.hypotheses.shares


def test_kinds_have_sentences():
    X, Y = tags(600)
    made, _ = inject(Y, 0.05, 0.1, 1, kind="swap")
    detector = fitted(X, made, contamination=0.05)
    row = int(np.argmax(detector.fitted_.training_rows.odds[:, KINDS.index("unrelated")]))
    why = detector.explain(row)
    assert why.kind == "unrelated" and 0.5 < sum(why.chances.values()) < 1
    assert "these outputs look like another row's (chance that the row is wrong: " in str(why)
    first = why.suspects[0]
    total = first.grounds.average + first.grounds.inputs.sum() + first.grounds.outputs.sum()
    assert total == pytest.approx(first.grounds.log_odds, abs=1e-6)
    assert not first.grounds.outputs.any()  # the models of the inputs alone see no output
    assert first.grounds.log_odds == pytest.approx(
        np.log(first.chance_of_one / (1 - first.chance_of_one)), abs=1e-6
    )


def test_the_fit_is_scikit_learns_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    features = [rng.normal(3, 5, 300), rng.normal(-1, 0.1, 300), rng.normal(0, 2, 300)]
    X = np.column_stack(features)
    y = (rng.random(300) < 1 / (1 + np.exp(-(X @ [1.0, 3.0, -0.5] - 2)))).astype(float)
    weights = rng.uniform(0.1, 2, 300)
    intercept, *slopes = logistic_coefficients(features, y, weights)
    twin = LogisticRegression(C=1e6, tol=1e-10, max_iter=10_000).fit(X, y, weights)
    np.testing.assert_allclose(slopes, twin.coef_[0], rtol=5e-3)
    assert intercept == pytest.approx(twin.intercept_[0], rel=5e-3)


def test_a_ratio_never_falls_and_says_nothing_where_made_rows_do_not_differ():
    rng = np.random.default_rng(1)
    found, made, right = rng.standard_t(2, 2000), rng.normal(2, 1, 500), np.ones(2000)
    rarity = rng.exponential(1, 2000), rng.exponential(1, 500)
    plane = fit_plane((found, rarity[0]), (made, rarity[1]), right)
    at = np.linspace(-50, 50, 500)
    assert (np.diff(plane(at, np.ones(500))) > 0).all()
    assert fit_plane((made, rarity[1]), (found, rarity[0]), np.ones(500))(at, np.ones(500)).max() < 0
    assert fit_line(made, -made, np.ones(500))(at).max() < 0

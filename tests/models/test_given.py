"""Given probabilities: calibrated by one coefficient per output, or one temperature per choice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

import amiss
from amiss import DataError
from amiss.data.row_roles import matched_names
from amiss.models.folds import stratified_folds
from amiss.models.given import STRENGTH, calibrated, temperature

N_WRONG = 12


def table(n_rows=240, seed=0, n_wrong=N_WRONG):
    """Six inputs, three outputs, the outputs with errors in the first rows, and predictions out of fold."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    Y = (X @ rng.normal(size=(6, 3)) + 0.1 * rng.normal(size=(n_rows, 3)) > 0).astype(float)
    for row in range(n_wrong):
        Y[row, row % 3] = 1 - Y[row, row % 3]
    P = np.column_stack(
        [cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")[:, 1] for y in Y.T]
    )
    return X, Y, P


EVERY = table(300)
(X, Y, P), (NEW_X, NEW_Y, NEW_P) = ([each[rows] for each in EVERY] for rows in (slice(240), slice(240, None)))


@pytest.fixture(scope="module")
def detector():
    return amiss.MCODE(n_neighbors=20).fit(X, Y, probabilities=P)


def test_the_calibration_is_the_logistic_regression_of_scikit_learn_on_the_one_column():
    design = logit(P)
    observed = np.random.default_rng(1).random(Y.shape) < 0.9
    folds = stratified_folds(np.where(observed, Y, np.nan), 4)
    found = calibrated(design, Y, observed, [2, 0, 1], folds)
    for i, column in enumerate([2, 0, 1]):
        scale = design[:, column].std()  # one strength for columns of any size

        def twin(rows, i=i, column=column, scale=scale):
            model = LogisticRegression(C=1 / STRENGTH, tol=1e-12, max_iter=10_000)
            return model.fit(design[rows, column : column + 1] / scale, Y[rows, i])

        whole = twin(observed[:, i])
        every = design[:, column : column + 1] / scale
        np.testing.assert_allclose(found.in_sample[:, i], whole.decision_function(every), rtol=0, atol=1e-3)
        assert found.model.coef[column, i] == pytest.approx(whole.coef_[0, 0] / scale, abs=1e-3)
        assert np.count_nonzero(found.model.coef[:, i]) == 1
        for fold in range(4):
            inside = folds[:, i] == fold
            held_out = twin(observed[:, i] & ~inside).decision_function(every[inside])
            np.testing.assert_allclose(found.out_of_fold[inside, i], held_out, rtol=0, atol=5e-3)


def test_the_temperature_is_the_minimum_that_another_method_finds():
    rng = np.random.default_rng(2)
    values = np.log(rng.dirichlet(np.ones(4), size=150))
    chosen = rng.integers(0, 4, 150)

    def loss(at):
        scores = at[0] * values + at[1:]
        told = np.log(softmax(scores, axis=1))[np.arange(150), chosen]
        return -told.sum() + STRENGTH / 2 * ((at[0] - 1) ** 2 + (at[1:] ** 2).sum())

    brute = minimize(loss, np.zeros(5), method="Nelder-Mead", options={"maxiter": 20_000, "fatol": 1e-12}).x
    slope, offsets = temperature(values, chosen)
    assert loss(np.array([slope, *offsets])) <= loss(brute) + 1e-6
    np.testing.assert_allclose([slope, *offsets], brute, atol=2e-3)


@pytest.mark.parametrize("true", [0.3, 1.0, 2.5])
def test_a_known_temperature_is_recovered(true):
    rng = np.random.default_rng(0)
    values = np.log(softmax(rng.normal(size=(20_000, 3)), axis=1))
    chances = softmax(true * values, axis=1)
    chosen = (rng.random((20_000, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    slope, offsets = temperature(values, chosen)
    assert slope == pytest.approx(true, abs=0.06)  # three deviations of an estimate from so many rows
    np.testing.assert_allclose(offsets - offsets.mean(), 0, atol=0.06)


def test_without_rows_the_probabilities_stay_as_they_are():
    slope, offsets = temperature(np.empty((0, 3)), np.empty(0, dtype=np.intp))
    assert slope == 1 and offsets.tolist() == [0, 0, 0]


def precision_at(scores, n):
    return (np.argsort(-scores)[:n] < N_WRONG).mean()


def test_errors_are_found_with_nothing_but_the_predictions():
    found = amiss.MCODE.from_probabilities(P, Y, n_neighbors=20)
    assert precision_at(found.decision_scores_, N_WRONG) >= 0.75
    assert found.input_names_ == tuple(f"log-odds of y{i}" for i in range(3))
    assert found.get_params()["n_neighbors"] == 20 and found.fitted_.notes == ()
    again = amiss.MCODE(n_neighbors=20).fit(None, Y, probabilities=P)
    np.testing.assert_array_equal(again.decision_scores_, found.decision_scores_)
    empty = amiss.MCODE(n_neighbors=20).fit(np.empty((len(Y), 0)), Y, probabilities=P)
    np.testing.assert_array_equal(empty.decision_scores_, found.decision_scores_)


def test_errors_are_found_with_inputs_and_predictions(detector):
    assert precision_at(detector.decision_scores_, N_WRONG) >= 0.75


def out_of_fold(X, y):
    return cross_val_predict(LogisticRegression(C=10), X, y, cv=5, method="predict_proba")[:, 1]


@pytest.mark.parametrize("kind", ["linear", "boosting"])
def test_inputs_and_predictions_together_do_not_give_a_row_away(kind):
    """A prediction without the row differs from what the inputs say by what the row would have added."""
    rng = np.random.default_rng(3)
    inputs, noise = rng.normal(size=(200, 40)), (rng.random((200, 2)) < 0.5).astype(float)
    given = np.column_stack([out_of_fold(inputs, y) for y in noise.T])
    found = amiss.MCODE(model=kind, cv=3, n_neighbors=20).fit(inputs, noise, probabilities=given)
    by_inputs = found.fitted_.training_rows.views.held_out
    assert -log_expit(np.where(noise == 1, by_inputs, -by_inputs)).mean() > 0.97 * np.log(2)
    assert (found.fitted_.error_rates.mean > 0.45).all()


def test_named_columns_may_come_in_any_order():
    names = ["ill", "treated", "admitted"]
    frame = pd.DataFrame(Y, columns=names)
    plain = amiss.MCODE.from_probabilities(P, frame, n_neighbors=20).decision_scores_
    order = [2, 0, 1]
    for prefix in ("", "p_", "probability "):
        given = pd.DataFrame(P[:, order], columns=[prefix + names[i] for i in order])
        for each in (given, pl.from_pandas(given)):
            found = amiss.MCODE.from_probabilities(each, frame, n_neighbors=20).decision_scores_
            np.testing.assert_array_equal(found, plain)
    other = amiss.MCODE.from_probabilities(P[:, order], frame, n_neighbors=20).decision_scores_
    assert (other != plain).any()  # without names the order counts


@pytest.mark.parametrize(
    ("names", "outputs", "matched"),
    [
        (["p_dog", "p_cat"], ["tag_cat", "tag_dog"], ["p_cat", "p_dog"]),
        (["cat_p", "dog_p"], ["dog", "cat"], ["dog_p", "cat_p"]),
        (["p_tag_1", "p_tag_11"], ["tag_11", "tag_1"], ["p_tag_11", "p_tag_1"]),
        (["a", "p_a"], ["p_a", "a"], ["p_a", "a"]),
        (["p_y"], ["y"], ["p_y"]),
    ],
)
def test_a_column_is_matched_to_the_output_that_it_names(names, outputs, matched):
    assert matched_names(names, outputs) == matched


@pytest.mark.parametrize(
    ("names", "outputs"),
    [(["p_a", "q_a"], ["a", "b"]), (["scat", "pdog"], ["cat", "dog"]), (["p_1", "p_2"], ["tag_0", "tag_1"])],
)
def test_names_that_do_not_say_which_output_they_mean_are_refused(names, outputs):
    with pytest.raises(DataError, match="cannot be matched to the outputs by name"):
        matched_names(names, outputs)


def test_new_rows_are_scored_by_their_predictions(detector):
    scores = detector.decision_function(NEW_X, NEW_Y, probabilities=NEW_P)
    assert np.isfinite(scores).all()
    wrong = NEW_Y.copy()
    surest = int(np.argmax(NEW_P[:, 0] * NEW_Y[:, 0]))
    wrong[surest, 0] = 1 - wrong[surest, 0]
    assert detector.decision_function(NEW_X, wrong, probabilities=NEW_P)[surest] > scores[surest]
    assert detector.predict(NEW_X, NEW_Y, probabilities=NEW_P).shape == (60,)
    assert detector.contributions(NEW_X, NEW_Y, probabilities=NEW_P).sum(axis=1) == pytest.approx(scores)
    assert detector.score_batch(NEW_X, NEW_Y, probabilities=NEW_P).scores == pytest.approx(scores)
    assert detector.predict_proba(NEW_X, NEW_Y, probabilities=NEW_P).shape == (60, 2)
    assert detector.predict_confidence(NEW_X, NEW_Y, probabilities=NEW_P).shape == (60,)
    assert detector.score(NEW_X, NEW_Y, probabilities=NEW_P) < 0


def test_rows_of_the_fit_have_their_scores_again(detector):
    found = detector.decision_function(X, Y, probabilities=P)
    np.testing.assert_array_equal(found, detector.decision_scores_)


def test_predictions_of_new_rows_are_required_where_the_fit_had_some_and_refused_where_not(detector):
    with pytest.raises(DataError, match="the fit had probabilities of each output; pass those of these rows too"):
        detector.decision_function(NEW_X, NEW_Y)
    plain = amiss.MCODE(n_neighbors=20).fit(X, Y)
    with pytest.raises(DataError, match="the fit had no probabilities; leave them out"):
        plain.decision_function(NEW_X, NEW_Y, probabilities=NEW_P)


def classes(n_rows=240):
    """One choice among three, probabilities that add up to 1, and errors in the first rows."""
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(3, 4)) * 2
    chosen = np.arange(n_rows) % 3
    inputs = centres[chosen] + rng.normal(size=(n_rows, 4))
    wrong = np.where(np.arange(n_rows) < N_WRONG, (chosen + 1) % 3, chosen)
    model = LogisticRegression(max_iter=1000)
    return inputs, np.eye(3)[wrong], cross_val_predict(model, inputs, wrong, cv=5, method="predict_proba")


def test_probabilities_of_one_choice_become_log_probabilities_with_one_slope():
    _, one_hot, given = classes()
    found = amiss.MCODE.from_probabilities(given, one_hot, n_neighbors=20)
    assert found.input_names_ == tuple(f"log-probability of y{i}" for i in range(3))
    assert precision_at(found.decision_scores_, N_WRONG) >= 0.75
    models = found.fitted_.models
    values = np.log(np.clip(given, 1e-6, 1 - 1e-6))
    values -= values.mean(axis=0)  # as inputs are encoded
    slope, offsets = temperature(values, one_hot.argmax(axis=1))
    expected = softmax(slope * values + offsets, axis=1)
    rows = models.training_rows
    calibrated_ = expit(models.inputs_log_odds(rows.design, rows.Y))[rows.place]
    np.testing.assert_allclose(calibrated_, expected, rtol=0, atol=1e-4)
    # New rows are probabilities of one choice too, even if one of them is not rounded well.
    new = given[:5] + 1e-7
    assert np.isfinite(found.decision_function(None, one_hot[:5], probabilities=new)).all()


def test_sparse_inputs_stand_beside_predictions():
    thin = sparse.csr_array(np.where(np.abs(X) > 1.6, X, 0.0))
    found = amiss.MCODE(n_neighbors=20).fit(thin, Y, probabilities=P)
    dense = amiss.MCODE(n_neighbors=20).fit(thin.toarray(), Y, probabilities=P)
    np.testing.assert_allclose(found.decision_scores_, dense.decision_scores_, rtol=1e-6)
    new = sparse.csr_array(np.where(np.abs(NEW_X) > 1.6, NEW_X, 0.0))
    assert np.isfinite(found.decision_function(new, NEW_Y, probabilities=NEW_P)).all()


def test_a_prediction_of_0_or_1_is_a_number_like_any_other():
    sure = np.round(P)
    found = amiss.MCODE.from_probabilities(sure, Y, n_neighbors=20)
    assert np.isfinite(found.decision_scores_).all()
    new = found.decision_function(None, 1 - NEW_Y, probabilities=np.round(NEW_P))
    assert np.isfinite(new).all()


def test_rows_with_predictions_are_calibrated_explained_and_reported(detector, tmp_path):
    held_out = amiss.MCODE(n_neighbors=20).fit(X, Y, probabilities=P).calibrate(X, Y, probabilities=P)
    p_values = held_out.p_values(NEW_X + 0.01, NEW_Y, probabilities=NEW_P)
    assert ((p_values > 0) & (p_values <= 1)).all()
    explanation = detector.explain(int(np.argmax(detector.decision_scores_)))
    assert explanation.suspects[0].grounds.input_names[-3:] == tuple(f"log-odds of y{i}" for i in range(3))
    assert detector.explain(NEW_X, NEW_Y, row=3, probabilities=NEW_P).score > 0
    few = amiss.MCODE(n_neighbors=20).fit(X[:, :2], Y, probabilities=P)  # tell less than the predictions
    few.write_report(tmp_path / "r.html", X[:, :2], Y, probabilities=P, n_details=3)
    assert "log-odds of y0" in (tmp_path / "r.html").read_text()
    with pytest.raises(DataError):
        detector.write_report(tmp_path / "r.html", X, Y, probabilities=1 - P)


def test_they_are_kept_in_a_model_file(detector, tmp_path):
    only = amiss.MCODE.from_probabilities(P, Y, n_neighbors=20)
    for each, new_X in ((detector, NEW_X), (only, None)):
        each.save(tmp_path / "m.amiss")
        again = amiss.load(tmp_path / "m.amiss")
        np.testing.assert_array_equal(again.decision_scores_, each.decision_scores_)
        np.testing.assert_array_equal(
            again.decision_function(new_X, NEW_Y, probabilities=NEW_P),
            each.decision_function(new_X, NEW_Y, probabilities=NEW_P),
        )
        assert again.explain(3).to_dict() == each.explain(3).to_dict()
        with pytest.raises(DataError, match="pass those of these rows too"):
            again.decision_function(new_X, NEW_Y)


def changed(place, value):
    result = P.astype(object)
    result[place] = value
    return result


SECRET = 7.77123


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (P[:, :2], "there are 2 columns of probabilities and 3 outputs; give one column per output"),
        (P[:-1], "there are probabilities of 239 rows, and Y has 240"),
        (P[:, 0], "there are 1 columns? of probabilities and 3 outputs"),
        (np.where(np.arange(240)[:, None] == 5, np.nan, P), "row 5.*column 0.*: it is missing; predict every row"),
        (changed((7, 1), SECRET).astype(float), "row 7.*column 1.*: a probability lies between 0 and 1$"),
        (changed((7, 1), -SECRET).astype(float), "row 7.*log-odds become probabilities by scipy.special.expit"),
        (changed((7, 1), np.inf).astype(float), "row 7.*column 1"),
        (changed((4, 2), "secret"), "probabilities must be numbers; column 'p2' holds texts"),
        (pd.DataFrame(P, columns=["u", "v", "w"]), "cannot be matched to the outputs by name"),
        (pd.DataFrame(P, columns=["p_y0", "p_y1", "p_y1"]), "two columns of the frame have the same name"),
    ],
    ids=range(10),
)
def test_predictions_that_are_none_are_refused_in_one_line_that_quotes_no_cell(given, message):
    with pytest.raises(DataError, match=message) as refused:
        amiss.MCODE().fit(X, pd.DataFrame(Y, columns=["y0", "y1", "y2"]), probabilities=given)
    said = str(refused.value)
    assert "\n" not in said and "secret" not in said and "7.77" not in said

"""Model files of tables whose outputs are of several kinds: what is saved comes back, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from support.kinds import KINDS, few_trees, table_of_kinds
from support.model_files import assert_same_detector, description, header, rewritten
from support.tables import UNMEASURED

import amiss
from amiss import DataError

X, Y = table_of_kinds()
NEW_X, NEW_Y = table_of_kinds(20, seed=1)
AMOUNTS = ["visits", "dose"]


def fitted(inputs=X, outputs=Y, groups=None, **parameters):
    kinds = {name: kind for name, kind in KINDS.items() if name in outputs.columns}
    with few_trees():
        return amiss.MCODE(**{"n_neighbors": 10, "output_kinds": kinds, **parameters}).fit(
            inputs, outputs, groups=groups
        )


def reloaded(detector, tmp_path, **how):
    detector.save(tmp_path / "m.amiss", **how)
    return amiss.load(tmp_path / "m.amiss")


def assert_saved_alike(again, tmp_path, rows=True):
    again.save(tmp_path / "again.amiss", rows=rows)
    assert (tmp_path / "again.amiss").read_bytes() == (tmp_path / "m.amiss").read_bytes()


def assert_same_forecasts(one, other):
    """Of the rows of the fit, by both views."""
    for view in ("by_all", "by_inputs"):
        mine, theirs = (getattr(each.fitted_.training.forecast, view) for each in (one, other))
        for name in ("choices", "centre", "spread", "tails"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"parents": "none"}, {"crossfit": False}, {"fdr": 0.2}, {"rule": "flip"}],
    ids=str,
)
def test_a_detector_of_several_kinds_comes_back_as_it_was(tmp_path, parameters):
    detector = fitted(**parameters)
    if not parameters:
        detector.calibrate(X, Y)
    again = reloaded(detector, tmp_path)
    assert_same_detector(detector, again, NEW_X, NEW_Y)
    assert_same_detector(detector, again, X, Y)
    assert_same_forecasts(detector, again)
    for row in range(4):
        assert again.explain(NEW_X, NEW_Y, row=row).to_dict() == detector.explain(NEW_X, NEW_Y, row=row).to_dict()
    assert again.fitted_.columns == detector.fitted_.columns
    assert again.fitted_.notes == detector.fitted_.notes
    assert again.fitted_.scorer.hypotheses is None or again.error_estimate_ == detector.error_estimate_
    assert again.output_quality_.kind == ("binary", "class", "ordinal", "count", "number")
    assert_saved_alike(again, tmp_path)


def test_boosted_trees_of_choices_come_back(tmp_path):
    names = ["tag", "dose"]
    detector = fitted(outputs=Y[names], model="boosting", n_jobs=1)
    assert_same_detector(detector, reloaded(detector, tmp_path), NEW_X, NEW_Y[names])


@pytest.mark.parametrize("names", [AMOUNTS, ["dose"], ["colour", "tag"], ["grade", "visits"]], ids=str)
def test_any_kinds_of_outputs_come_back(tmp_path, names):
    outputs, new = Y[names].dropna(), NEW_Y[names]
    detector = fitted(X.loc[outputs.index], outputs)
    again = reloaded(detector, tmp_path)
    assert_same_detector(detector, again, NEW_X, new)
    assert_same_forecasts(detector, again)
    assert_saved_alike(again, tmp_path)


def test_thin_inputs_groups_and_outputs_that_tell_nothing(tmp_path):
    thin = sparse.random_array((80, 40), density=0.1, rng=np.random.default_rng(0), format="csr")
    outputs = Y.assign(dull=[2.5] * 79 + [np.nan], absurd=[*Y["dose"][:-1], 1e150])
    kinds = {**KINDS, "dull": "number"}
    with few_trees():
        detector = amiss.MCODE(n_neighbors=10, output_kinds=kinds).fit(thin, outputs, groups=np.arange(80) // 2)
    again = reloaded(detector, tmp_path)
    assert_same_detector(detector, again, thin[:9], outputs[5:14])
    assert_same_forecasts(detector, again)


@pytest.mark.parametrize("parameters", [{}, {"parents": "none"}, {"rule": "rw", "n_neighbors": 10}], ids=str)
def test_a_model_without_rows_says_the_same_of_new_rows(tmp_path, parameters):
    detector = fitted(**{"n_neighbors": 0, **parameters}).calibrate(X, Y)
    again = reloaded(detector, tmp_path, rows=False)
    np.testing.assert_array_equal(again.decision_function(NEW_X, NEW_Y), detector.decision_function(NEW_X, NEW_Y))
    rounded = {"threshold": 0, "rank": 0, "p_value": 0, "flagged": 0}
    for row in range(4):
        mine, theirs = (each.explain(NEW_X, NEW_Y, row=row).to_dict() for each in (again, detector))
        assert mine | rounded == theirs | rounded
    assert again.output_quality_.to_dict().keys() == detector.output_quality_.to_dict().keys()
    assert str(again.output_quality_) == str(detector.output_quality_)
    assert again.output_quality_.kind == detector.output_quality_.kind
    assert_saved_alike(again, tmp_path, rows=False)


def test_no_row_is_in_a_model_without_rows(tmp_path):
    again = reloaded(fitted(n_neighbors=0), tmp_path, rows=False)
    arrays = header(tmp_path / "m.amiss")
    assert not [name for name in arrays if name.startswith(("rows.", "folds", "inputs.folds"))]
    one_per_row = [name for name in arrays if name != "__metadata__" and 80 in arrays[name]["shape"]]
    assert one_per_row == ["scores"]  # sorted and rounded
    models = again.fitted_.models
    for amount in (*models.model.amounts, *models.inputs_model.amounts):
        assert amount.in_bag.shape[1] == 0 and (amount.line is None or not len(amount.line.folds))
    with pytest.raises(DataError, match="without the rows"):
        again.explain(0)
    assert again.score_batch(X, Y).findings.estimated_members == 80


def test_models_that_are_the_same_are_kept_once(tmp_path):
    again = reloaded(fitted(), tmp_path)
    models = again.fitted_.models
    assert models.expectations.given_inputs is models.inputs_model is not models.model
    again = reloaded(fitted(parents="none"), tmp_path)
    models = again.fitted_.models
    assert models.expectations.given_inputs is models.inputs_model is models.model
    assert not [name for name in header(tmp_path / "m.amiss") if name.startswith(("inputs.", "expected.choices"))]


def test_a_pooled_level_and_an_unseen_one(tmp_path):
    detector = fitted()
    again = reloaded(detector, tmp_path)
    layout = again.fitted_.models.layout
    assert layout.columns[1].levels == ("amber", "blue", "green", "red", "violet")
    assert layout.level_column[1].tolist() == [3, 0, 1, 2, 3, 3]
    odd = NEW_Y.assign(colour=["violet", "amber", "black", *NEW_Y["colour"][3:]])
    np.testing.assert_array_equal(again.decision_function(NEW_X, odd), detector.decision_function(NEW_X, odd))


def test_what_was_said_of_outputs_is_kept(tmp_path):
    again = reloaded(fitted(), tmp_path)
    assert again.output_kinds == {"grade": ["low", "middle", "high"], "visits": "count"}
    with few_trees():
        once_more = amiss.MCODE(**again.get_params()).fit(X, Y)
    np.testing.assert_allclose(once_more.decision_scores_, again.decision_scores_, rtol=1e-9)
    assert reloaded(fitted(output_kinds=None), tmp_path).output_kinds is None


def test_a_file_does_not_depend_on_the_number_of_threads(tmp_path):
    fitted(n_jobs=1).save(tmp_path / "one.amiss")
    fitted(n_jobs=2).save(tmp_path / "two.amiss")
    assert (tmp_path / "one.amiss").read_bytes() == (tmp_path / "two.amiss").read_bytes()
    scores = [amiss.load(tmp_path / "one.amiss").set_params(n_jobs=n) for n in (1, 2)]
    np.testing.assert_array_equal(*(each.decision_function(NEW_X, NEW_Y) for each in scores))


def test_a_loaded_detector_calibrates_as_the_first(tmp_path):
    detector = fitted()
    again = reloaded(detector, tmp_path)
    with few_trees():
        ours, theirs = (each.calibrate(X, Y).calibration_.scores for each in (detector, again))
    np.testing.assert_array_equal(ours, theirs)


def test_forests_of_the_usual_size(tmp_path):
    detector = amiss.MCODE(n_neighbors=10).fit(X, Y[AMOUNTS])
    assert_same_detector(detector, reloaded(detector, tmp_path), NEW_X, NEW_Y[AMOUNTS])


def test_a_classifier_of_the_user(tmp_path):
    pytest.importorskip("skops", reason="the extra skops is not installed")
    detector = fitted(model=LogisticRegression())
    with pytest.raises(DataError, match="estimators=True"):
        detector.save(tmp_path / "m.amiss")
    detector.save(tmp_path / "m.amiss", estimators=True)
    with pytest.raises(DataError, match="holds classifiers"):
        amiss.load(tmp_path / "m.amiss")
    assert_same_detector(detector, amiss.load(tmp_path / "m.amiss", trusted=[]), NEW_X, NEW_Y)


LOADING = """
import sys, pandas as pd
def guard(event, arguments):
    if event == "pickle.find_class":
        raise RuntimeError("something was unpickled")
import sklearn.ensemble  # whatever libraries unpickle at their import is not ours
import amiss
model, inputs, outputs = sys.argv[1:]
X, Y = pd.read_csv(inputs), pd.read_csv(outputs)
sys.addaudithook(guard)
detector = amiss.load(model)
print(*(score.hex() for score in detector.decision_function(X, Y).tolist()))
print(detector.explain(3).sentences()[0])
"""


def test_nothing_is_unpickled_in_loading_and_scoring(tmp_path):
    again = reloaded(fitted(), tmp_path)
    NEW_X.to_csv(tmp_path / "x.csv", index=False)
    NEW_Y.to_csv(tmp_path / "y.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *(str(tmp_path / name) for name in ("m.amiss", "x.csv", "y.csv"))],
        capture_output=True, text=True, env=UNMEASURED, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    scores, sentence = done.stdout.splitlines()
    found = [float.fromhex(score) for score in scores.split()]
    np.testing.assert_allclose(found, again.decision_function(NEW_X, NEW_Y), rtol=1e-9)
    assert sentence == again.explain(3).sentences()[0]


def test_the_description_says_which_kinds_there_are(tmp_path):
    reloaded(fitted(), tmp_path)
    said = description(tmp_path / "m.amiss")
    assert [each["kind"] for each in said["kinds"]] == ["binary", "class", "ordinal", "count", "number"]
    assert said["mixed"] == {"sees": True, "by_inputs": True, "expects": True, "n_rows": 80}
    rewritten(tmp_path / "m.amiss")
    assert amiss.load(tmp_path / "m.amiss").fitted_.columns.kinds

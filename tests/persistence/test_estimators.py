"""Classifiers of the user's in a model file: kept by skops if asked for, read only if trusted, never pickled."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support.model_files import rewritten
from support.tables import ENVIRONMENT

import amiss
from amiss import DataError

pytest.importorskip("skops", reason="the extra skops is not installed")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    wards = rng.choice(["a", "b", "c"], 90)
    X = pd.DataFrame({"age": rng.normal(50, 20, 90), "ward": wards, "dose": rng.random(90)})
    X.loc[::7, "age"] = np.nan
    Y = pd.DataFrame({"ill": (X["age"].fillna(50) > 50).astype(int), "old": (X["dose"] > 0.5).astype(int)})
    Y.loc[5, "ill"] = np.nan
    return X, Y


by_name = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["ward"]), remainder="passthrough")
MODELS = {
    "sees the frame": make_pipeline(by_name, HistGradientBoostingClassifier(max_iter=4, random_state=0)),
    "sees scaled columns": LogisticRegression(),
    "learns by heart": RandomForestClassifier(4, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def kept(request, table, tmp_path_factory):
    detector = amiss.MCODE(model=MODELS[request.param], cv=3, n_neighbors=15).fit(*table)
    path = tmp_path_factory.mktemp("kept") / "model.amiss"
    detector.save(path, estimators=True)
    return detector, path


def test_it_scores_and_explains_the_same_to_the_last_bit(kept, table):
    detector, path = kept
    X, Y = table
    again = amiss.load(path, trusted=amiss_types(path))
    np.testing.assert_array_equal(again.decision_scores_, detector.decision_scores_)
    new = X.iloc[:8].assign(dose=0.123)
    np.testing.assert_array_equal(
        again.decision_function(new, Y.iloc[:8]), detector.decision_function(new, Y.iloc[:8])
    )
    assert str(again.explain(3)) == str(detector.explain(3))
    assert type(again.model) is type(detector.model)


def amiss_types(path):
    """What the user would be told to name."""
    try:
        amiss.load(path, trusted=[])
    except DataError as error:
        return str(error).split("not trusted: ")[1].split(";")[0].split(", ")
    return []


def test_nothing_is_kept_unless_asked_for_and_nothing_is_read_unless_trusted(kept, tmp_path):
    detector, path = kept
    with pytest.raises(DataError, match="estimators=True"):
        detector.save(tmp_path / "m.amiss")
    with pytest.raises(DataError, match=r"trusted=\[\]"):
        amiss.load(path)


def test_no_pickle_is_opened(kept):
    _, path = kept
    code = f"""
import sys
def hook(event, arguments):
    if event == "pickle.find_class":
        raise RuntimeError("a pickle was opened")
import amiss, sklearn.ensemble, pandas
sys.addaudithook(hook)
print(len(amiss.load({str(path)!r}, trusted={amiss_types(path)!r}).decision_scores_))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert done.stdout.strip() == "90", done.stderr


@pytest.mark.parametrize("shown", [[3, 0, 0], [0, 9, 0], [-1, 0, 0]])
def test_a_view_that_is_none_is_refused(kept, shown, tmp_path):
    _, path = kept
    types = amiss_types(path)
    copy = tmp_path / "m.amiss"
    copy.write_bytes(path.read_bytes())
    rewritten(copy, change_arrays=lambda arrays: arrays.update({"model.shown": np.array(shown)}))
    with pytest.raises(DataError):
        amiss.load(copy, trusted=types)

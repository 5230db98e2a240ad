"""In Python: dictionaries, tables that hold both, lazy frames, empty batches, labels, and lists as frames."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.tables import fitted, frame, make_table, mixed_table

import amiss
from amiss import DataError


def several_kinds():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4))
    ward = np.array(["u", "v", "w"])[np.argmax(x[:, :3] + 0.3 * rng.normal(size=(200, 3)), axis=1)]
    outputs = pd.DataFrame({"ward": ward, "dose": (20 + 5 * x[:, 3] + rng.normal(size=200)).round(2)})
    return pd.DataFrame(x, columns=list("abcd")), outputs


TABLES = {"tags": lambda: frame(*make_table()), "mixed": lambda: mixed_table(120), "kinds": several_kinds}


@pytest.fixture(scope="module", params=TABLES)
def fit(request):
    X, Y = TABLES[request.param]()
    return fitted(X, Y), X, Y


def records(table):
    return table.astype(object).where(table.notna(), None).to_dict("records")


def test_rows_as_dictionaries_score_as_the_frame_does(fit):
    detector, X, Y = fit
    expected = detector.decision_scores_[:7]
    rows, outputs = records(X.head(7)), records(Y.head(7))
    both = [{**outputs[i], **rows[i]} for i in range(7)]
    np.testing.assert_array_equal(detector.decision_function(rows, outputs), expected)
    np.testing.assert_array_equal(detector.decision_function(both), expected)
    np.testing.assert_array_equal(detector.decision_function(pd.concat([Y, X], axis=1).head(7)), expected)
    for i in range(7):
        assert detector.decision_function(both[i]) == detector.decision_function([rows[i]], [outputs[i]])


def test_a_key_that_every_row_lacks_is_missing(fit):
    detector, X, Y = fit
    row, gap = {**records(X.head(1))[0], **records(Y.head(1))[0]}, X.columns[0]
    without = {name: cell for name, cell in row.items() if name != gap}
    assert detector.decision_function(without) == detector.decision_function({**row, gap: None})
    with pytest.raises(DataError, match="unknown 'misspelt'"):
        detector.decision_function({**row, "misspelt": 1})
    with pytest.raises(ValueError, match="Y is missing"):
        detector.decision_function(records(X.head(2)))


@pytest.mark.parametrize("made", [lambda t: t.head(0), lambda t: [], lambda t: pl.DataFrame(t).head(0)])
def test_an_empty_batch_has_an_empty_result(fit, made):
    detector, X, Y = fit
    empty, n_outputs = (made(X), made(Y)), Y.shape[1]
    for method in (detector.decision_function, detector.predict, detector.predict_confidence):
        assert method(*empty).shape == (0,)
    assert detector.contributions(*empty).shape == (0, n_outputs)
    assert detector.predict_proba(*empty).shape == (0, 2)
    for request in ({}, {"alerts": 3}, {"rate": 0.1}, {"fdr": 0.1}):
        batch = detector.score_batch(*empty, **request)
        assert len(batch) == 0 and batch.remarks() == [] and not len(batch.flagged)
        assert "none flagged" in batch.decision.in_words()
        assert detector.rows(batch=batch) == [] == detector.cells(batch=batch)
    one = detector.score_batch(X.head(1), Y.head(1))
    for make in (amiss.row_frame, amiss.cell_frame):
        assert len(make(detector, batch=batch)) == 0
        assert list(make(detector, batch=batch).columns) == list(make(detector, batch=one).columns)
    with pytest.raises(DataError):
        detector.decision_function(X.head(0), Y.head(1))


def test_an_empty_table_is_no_fit():
    X, Y = frame(*make_table())
    with pytest.raises(DataError, match="0 sample"):
        amiss.MCODE().fit(X.head(0), Y.head(0))


def test_lazy_frames_are_collected():
    X, Y = (pl.DataFrame(each) for each in frame(*make_table()))
    eager, lazy = fitted(X, Y), fitted(X.lazy(), Y.lazy())
    np.testing.assert_array_equal(lazy.decision_scores_, eager.decision_scores_)
    assert lazy.feature_names_in_.tolist() == eager.feature_names_in_.tolist() == list(X.columns)
    np.testing.assert_array_equal(eager.decision_function(X.lazy(), Y.lazy()), eager.decision_scores_)


@pytest.mark.parametrize("labels", [[f"p{i}" for i in range(240)], list(range(1000, 1240))])
def test_the_index_of_a_frame_is_kept_in_every_result(labels):
    X, Y = (each.set_axis(labels) for each in frame(*make_table()))
    detector = fitted(X, Y)
    new = X.iloc[5:25] + 0.01, Y.iloc[5:25]
    batch = detector.score_batch(*new)
    for found, first in ((amiss.row_frame(detector), 0), (amiss.cell_frame(detector), 0)):
        assert found["id"].tolist() == [labels[row - 1 + first] for row in found["row"]]
    found = amiss.row_frame(detector, batch=batch)
    assert found["id"].tolist() == [labels[5 + row - 1] for row in found["row"]]
    assert found["id"].tolist() == detector.rows(batch=batch).to_frame()["id"].tolist()
    assert [row.id for row in detector.rows(3)] == [str(labels[row.row - 1]) for row in detector.rows(3)]
    assert str(detector.explain(label=labels[17])) == str(detector.explain(17))
    assert str(detector.explain(*new, label=labels[9])) == str(detector.explain(*new, row=4))
    with pytest.raises(DataError, match="no row has the label 'nobody'"):
        detector.explain(label="nobody")


def test_rows_that_are_only_counted_have_no_labels():
    X, Y = frame(*make_table())
    detector = fitted(X, Y)
    assert detector.fitted_.labels is None and "id" not in amiss.row_frame(detector).columns
    with pytest.raises(DataError, match="no labels"):
        detector.explain(label=3)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_lists_of_rows_and_cells_become_frames(fit, library):
    detector, X, Y = fit
    batch = detector.score_batch(X.head(30), Y.head(30))
    plain = pl.from_arrow(detector.rows(5).to_frame("pyarrow"))
    assert plain["row"].to_list() == [row.row for row in detector.rows(5)]
    assert plain["output_1"].to_list() == [row.reasons[0].output for row in detector.rows(5)]
    for of in (None, batch):
        rows, cells = detector.rows(5, batch=of), detector.cells(5, batch=of)
        for listed, make in ((rows, amiss.row_frame), (cells, amiss.cell_frame)):
            ours, theirs = listed.to_frame(library), make(detector, batch=of, n=5, library=library)
            assert ours.equals(theirs) and len(ours) == len(listed) == 5
    assert pickle.loads(pickle.dumps(cells)) == copy.copy(cells) == cells


def test_a_pipeline_and_cross_validation_work_where_scikit_learn_passes_y():
    X, Y = make_table(120)
    pipeline = make_pipeline(StandardScaler(), amiss.MCODE(n_neighbors=20)).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(pipeline.predict(X, Y=Y), pipeline[-1].predict(scaled, Y))
    assert pipeline.score(X, Y) == pipeline[-1].score(scaled, Y)
    assert np.isfinite(cross_val_score(pipeline, X, Y, cv=3)).all()
    with pytest.raises(ValueError, match=r"predict\(X, Y=Y\)\. .* cross_val_predict cannot"):
        cross_val_predict(amiss.MCODE(n_neighbors=20), X, Y, cv=3)


def test_what_a_fit_cannot_take_is_refused_by_name():
    X, Y = make_table(60)
    with pytest.raises(ValueError, match=r"sample_weight is not supported: .* \(groups\)"):
        amiss.MCODE().fit(X, Y, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        amiss.MCODE().fit(X, Y, weights=np.ones(60))
    for cv in (KFold(3), [(np.arange(30), np.arange(30, 60))]):
        with pytest.raises(ValueError, match=r"cv must be a whole number .* \(fit\(X, Y, groups=…\)\)"):
            amiss.MCODE(cv=cv).fit(X, Y)
    weighed = amiss.MCODE(n_neighbors=20).fit(X, Y, sample_weight=None)
    np.testing.assert_array_equal(weighed.decision_scores_, amiss.MCODE(n_neighbors=20).fit(X, Y).decision_scores_)

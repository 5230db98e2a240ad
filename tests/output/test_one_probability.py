"""One number stands for one output of one row: in lists, cells, explanations and reports."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from support.tables import fitted, make_table
from support.visits import KINDS, make_kinds

from amiss import MCODE
from amiss.evaluation import inject
from amiss.wording import six_digits


def tagged(n_rows):
    """Rows with wrong outputs, and rows with those of another row."""
    X, Y = make_table(n_rows, n_outputs=5)
    Y, _ = inject(Y, 0.05, 0.2, 0)
    Y[-20:] = Y[:20]
    return X, Y


def tags():
    X, Y = tagged(300)
    Y[7:60:9, 1] = np.nan
    return fitted(X, Y), None, (X, Y)


def several_kinds():
    X, Y = make_kinds()
    Y.loc[3, "dose"], Y.loc[5, "colour"], Y.loc[9, "tag_a"] = 90.0, Y["colour"][6], 1 - Y["tag_a"][9]
    return MCODE(output_kinds=KINDS).fit(X, Y), None, (X, Y)


def new_rows():
    X, Y = tagged(400)
    detector, later = fitted(X[:300], Y[:300]), (X[280:], Y[280:])  # some were in the fit
    return detector, detector.score_batch(*later), later


def new_rows_of_several_kinds():
    X, Y = make_kinds(500)
    Y.loc[403, "dose"], Y.loc[405, "colour"] = 90.0, "green"
    detector, later = MCODE(output_kinds=KINDS).fit(X[:400], Y[:400]), (X[390:], Y[390:].reset_index(drop=True))
    return detector, detector.score_batch(*later), later


def payload_of(path):
    """The data of a page."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"))
    return json.loads(found)


@pytest.fixture(scope="module", params=[tags, several_kinds, new_rows, new_rows_of_several_kinds])
def found(request):
    detector, batch, table = request.param()
    rows = detector.fitted_.training_rows if batch is None else batch.rows
    explainer, numbers = detector.fitted_.explainer, list(range(len(rows)))
    if batch is None:
        explanations = explainer.training_rows(numbers)
    else:
        explanations = explainer.new_rows(batch.encoded, rows, numbers)
    return detector, batch, table, rows, list(explanations)


def test_the_rows_say_what_the_cases_say(found):
    _, batch, _, rows, explanations = found
    told = rows.judged_probabilities_of(np.arange(len(rows)))
    for number, explanation in enumerate(explanations):
        np.testing.assert_array_equal(rows.judged_probabilities_of(number), told[number])
        for output in explanation.outputs:
            assert told[number, rows.output_names.index(output.output)] == output.probability
    assert (np.isnan(told) == np.isnan(rows.Y)).all()
    if batch is None or rows.forecast is not None:  # there are rows that the inputs judge
        assert (told != rows.probabilities)[~np.isnan(told)].any()


def test_list_cells_and_frames_agree_with_the_explanation(found):
    detector, batch, _, rows, explanations = found
    chance = {(n, each.output): each.probability for n, told in enumerate(explanations) for each in told.outputs}
    listed = detector.rows(reasons=9, batch=batch)
    for row in listed:
        for reason in row.reasons:
            assert reason.probability == chance[row.row - 1, reason.output]
    columns = listed.to_frame("pandas").to_dict("list")
    for place in range(1, len(rows.output_names) + 1):
        names = ("row", f"output_{place}", f"probability_{place}")
        for row, name, p in zip(*(columns[each] for each in names), strict=True):
            assert not isinstance(name, str) or p == six_digits(chance[row - 1, name])
    of_output = {(n, each.output): each for n, told in enumerate(explanations) for each in told.outputs}
    cells = detector.cells(batch=batch)
    assert len(cells) == len(chance)
    for cell in cells:
        same = of_output[cell.row, cell.output]
        assert cell.probability == same.probability
        if rows.is_new[cell.row] or batch is None:  # rows of the fit in a batch have forecasts of new rows
            assert cell.suggested == same.instead
            assert same.interval is None or (cell.low, cell.high) == same.interval


def test_the_report_agrees_with_the_explanation(found, tmp_path):
    detector, batch, table, _, explanations = found
    detector.write_report(tmp_path / "r.html", *table, **({} if batch is None else {"batch": batch}))
    data = payload_of(tmp_path / "r.html")
    for place, row in enumerate(data["rows"]["row"]):
        i = data["rows"]["output"][place]
        if i is not None:
            same = explanations[row - 1][data["output_names"][i]]
            np.testing.assert_allclose(data["rows"]["probability"][place], same.probability, rtol=6e-3)
            if "kinds" in data:
                assert data["rows"]["wrong"][place] == same.direction

"""A report on new rows, columns beside the rows, texts to copy whole, and the digits that amiss explain has."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support.browsing import column, opened
from support.tables import fitted, frame, make_table

from amiss.errors import DataError
from amiss.output.report.material import Material
from amiss.output.report.payload import payload
from amiss.output.six_digits import six_digit_values
from amiss.wording import six_digits

LONG_ID = "specimen " + "0123456789" * 20


@pytest.fixture(scope="module")
def scored():
    """A calibrated detector, and a batch with new rows and rows of the fit, one of them all wrong."""
    X, Y = frame(*make_table(400))
    detector = fitted(X.iloc[:300], Y.iloc[:300]).calibrate(X.iloc[:300], Y.iloc[:300])
    new_X, new_Y = X.iloc[280:].reset_index(drop=True), Y.iloc[280:].reset_index(drop=True)
    new_Y.loc[70] = 1 - new_Y.loc[70]
    return detector, new_X, new_Y, detector.score_batch(new_X, new_Y)


def data_of(scored, **options):
    detector, X, Y, batch = scored
    inputs, _ = detector.fitted_.columns.align(X, Y)
    return payload(Material(detector.fitted_, inputs, batch=batch, **options))


def test_the_report_of_a_batch_has_the_scores_and_explanations_of_the_batch(scored):
    detector, X, Y, batch = scored
    data = data_of(scored)
    order = np.argsort(-batch.scores, kind="stable")
    assert data["rows"]["row"] == (order + 1).tolist() and data["n_flagged"] == batch.flagged.sum() > 0
    assert data["rows"]["score"] == six_digit_values(batch.scores[order]).tolist()
    assert data["rows"]["flagged"] == batch.flagged[order].astype(int).tolist()
    assert order[0] == 70 and data["threshold"] == batch.threshold
    for place in (0, 1, 5):
        row = int(order[place])
        explanation = replace(detector.explain(X, Y, row=row), label=f"Row {row + 1}")
        assert data["details"][place]["said"] == explanation.sentences()
        shown = data["details"][place]["outputs"]
        assert [data["output_names"][each[0]] for each in shown] == [each.output for each in explanation.outputs]
        assert [each[3] for each in shown] == [six_digits(each.contribution) for each in explanation.outputs]
    assert all(detail["near"] == [] for detail in data["details"])  # those are rows of the fit


def test_flags_follow_the_request(scored):
    detector, X, Y, _ = scored
    for request in ({"alerts": 7}, {"fdr": 0.3}, {"rate": 0.2}):
        batch = detector.score_batch(X, Y, **request)
        data = data_of((detector, X, Y, batch))
        order = np.argsort(-batch.scores, kind="stable")
        assert data["rows"]["flagged"] == batch.flagged[order].astype(int).tolist()
        first_words = [detail["said"][0] for detail in data["details"]]
        flagged = ["is flagged as unusual" in words for words in first_words]
        assert flagged == batch.flagged[order].tolist()


def test_what_does_not_belong_to_the_batch_is_refused(scored, tmp_path):
    detector, X, Y, batch = scored
    with pytest.raises(DataError, match="X has 20 rows and the batch has 120"):
        detector.write_report(tmp_path / "r.html", X.iloc[:20], Y.iloc[:20], batch=batch)
    with pytest.raises(DataError, match="'note' to show has 1 cells for 120 rows"):
        detector.write_report(tmp_path / "r.html", X, Y, batch=batch, shown={"note": ["a"]})
    with pytest.raises(DataError, match="no rows"):
        empty = detector.score_batch(X.iloc[:0], Y.iloc[:0])
        detector.write_report(tmp_path / "r.html", X.iloc[:0], Y.iloc[:0], batch=empty)
    assert not (tmp_path / "r.html").exists()


def test_ids_and_values_are_copied_whole(browser, scored, tmp_path):
    detector, X, Y, batch = scored
    ids, notes = [f"{LONG_ID}{row}" for row in range(len(X))], [f"note {row} <b>" * 20 for row in range(len(X))]
    path = tmp_path / "r.html"
    detector.write_report(path, X, Y, batch=batch, ids=ids, shown={"note": notes}, n_details=20)
    with opened(browser, path) as watched:
        page = watched.page
        assert column(page, "row")[0] == "71" and column(page, "note")[0] == notes[70]
        for place, text in enumerate((ids[70], notes[70])):
            page.locator("#detail .copy").nth(place).click()
            assert page.evaluate("window.getSelection().toString()") == text
        assert page.locator("#list .flag").count() == batch.flagged.sum()
        page.locator("#find").fill("note 8 <b>")
        assert column(page, "row") == ["9"]
        assert "120 rows with 4 outputs were scored by a model" in page.locator("#summary").inner_text()


def numbers_in(texts):
    """Signed figures of a table, as numbers."""
    return [float(re.search(r"[+-]?\d+(\.\d+)?(e-?\d+)?", text)[0]) for text in texts]


def test_explain_answers_with_the_numbers_of_the_report(browser, amiss, records, tmp_path):
    options = ("records.csv", "--outputs", "tag_*", "--id", "name", "--neighbors", 30)
    assert amiss("find", *options, "--report", "r.html", "-q").code == 0
    with opened(browser, tmp_path / "r.html") as watched:
        page = watched.page
        for place in range(4):
            page.locator("#list tbody tr").nth(place).click()
            row = column(page, "row")[place]
            explained = amiss("explain", *options, row).out
            table = re.search(r"^output +is +chance.*?\n\n", explained, re.MULTILINE | re.DOTALL)[0].splitlines()
            lines = [line.split() for line in table[1:] if line and not line.startswith("(")]
            told = page.locator("#detail table").first
            cells = [cell.split("\t") for cell in told.locator("tbody").inner_text().splitlines()]
            assert [line[0] for line in lines] == [cell[0].strip() for cell in cells]
            assert [float(line[3]) for line in lines] == numbers_in(cell[2] for cell in cells)
            with_change = [(line, cell) for line, cell in zip(lines, cells, strict=True) if cell[3].strip()]
            assert [float(line[5]) for line, _ in with_change] == numbers_in(cell[3] for _, cell in with_change)
            grounds = dict(re.findall(r"^(?:input|output) (\S+) .*?([+-]\d+\.\d{3})$", explained, re.MULTILINE))
            terms = page.locator("#detail details[open] tbody tr").all_inner_texts()
            shown = {text.split("\t")[0].strip(): text.split("\t")[-1].strip() for text in terms}
            assert grounds and grounds.items() <= shown.items()  # to the digit
            sentences = page.locator("#detail > p[dir=ltr]").all_inner_texts()
            assert " ".join(sentences) == " ".join(explained.partition("\n\n")[0].split())


def test_score_writes_a_report(amiss, records, tmp_path):
    options = ("--outputs", "tag_*", "--id", "name", "--neighbors", 30, "--no-calibration")
    assert amiss("fit", "records.csv", *options, "-o", "m.amiss").code == 0
    records.assign(in0=records["in0"] + 0.01, note="x").iloc[:50].to_csv(tmp_path / "new.csv", index=False)
    done = amiss("score", "m.amiss", "new.csv", "--show", "note", "--report", "r.html", "-o", "l.csv")
    assert done.code == 0 and done.out.endswith("\nReport: r.html\n"), done.err
    page = (tmp_path / "r.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    found = pd.read_csv(tmp_path / "l.csv")
    assert data["rows"]["row"] == found["row"].tolist() and data["rows"]["score"] == found["score"].tolist()
    assert data["rows"]["shown"] == [["note", ["x"] * 50]] and data["batch"]
    refused = amiss("score", "m.amiss", "new.csv", "--report", "r.txt")
    assert refused.code == 2 and "a report is an HTML file" in refused.err

"""The report: what is in the file. (What a browser makes of it: test_report_in_browser.py.)"""

import io
import json
import re
import struct
from base64 import b64decode
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from support.hostile import NAMES
from support.tables import fitted, frame, make_table

from amiss import MCODE, DataError
from amiss.data.validation import as_inputs
from amiss.output.report.inputs import InputComparison
from amiss.output.report.measures import Calibration, calibration, histogram, most_connected, suspicions
from amiss.output.report.page import material, page, refuse_other_rows
from amiss.output.report.pictures import BUDGET, data_uri, data_uris
from amiss.output.summary import overview


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


def payload_of(html):
    """The data of a page, as a browser would read it."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    return json.loads(found, parse_constant=refuse_constant)


def page_of(detector, X, Y, title="amiss report", **options):
    """The page that :meth:`MCODE.write_report` writes."""
    inputs, outputs = detector.fitted_.columns.align(X, Y)
    refuse_other_rows(detector.fitted_, inputs, outputs)
    return page(material(detector.fitted_, inputs, **options), title)


def fitted_page(X, Y, **parameters):
    return page_of(fitted(X, Y, **parameters), X, Y)


def test_the_list_is_the_ranking(table):
    X, Y = frame(*table)
    detector = fitted(X, Y)
    ids = [f"r{i}" for i in range(240)]
    data = payload_of(page_of(detector, X, Y, ids=ids, n_details=10))
    order = np.argsort(-detector.decision_scores_, kind="stable")
    rows = data["rows"]
    assert rows["row"] == (order + 1).tolist() and rows["id"] == [ids[row] for row in order]
    np.testing.assert_allclose(rows["score"], detector.decision_scores_[order], rtol=1e-4)
    assert data["n_flagged"] == detector.labels_.sum() and len(data["details"]) == 10
    for place, explanation in enumerate(detector.explain_rows(order[:10].tolist())):
        told, first = data["details"][place], explanation.suspects[0]
        assert rows["output"][place] == detector.output_names_.index(first.output) == told["outputs"][0][0]
        np.testing.assert_allclose(rows["probability"][place], first.probability, rtol=6e-3)
        np.testing.assert_allclose(told["outputs"][0][4], first.score_if_changed, rtol=1e-3)
        known = replace(explanation, values=as_inputs(X).texts(explanation.row))
        assert told["said"][1:] == known.sentences()[1:]
        assert told["said"][0].startswith(f"Row {order[place] + 1} (r{order[place]}) is")
        total, average, from_inputs, from_outputs, terms = told["grounds"][0]
        assert total == pytest.approx(first.grounds.log_odds, abs=6e-4)
        assert average + from_inputs + from_outputs == pytest.approx(total, abs=2e-3)
        largest = first.grounds.largest(1)[0]
        names = data["output_names"] if terms[0][0] else data["input_names"]
        assert names[terms[0][1]] == largest.name and terms[0][3] == pytest.approx(largest.log_odds, rel=6e-3)
        assert terms[0][2] == known.value_of(largest)


def test_histogram_outputs_and_dependence_are_those_of_the_fit(table):
    X, Y = frame(*table)
    detector = fitted(X, Y, contamination=0.1)
    data = payload_of(page_of(detector, X, Y))
    assert sum(data["histogram"]["counts"]) == 240
    np.testing.assert_allclose(data["outputs"]["skill"], detector.output_quality_.skill, rtol=6e-3)
    first = [data["rows"]["output"][place] for place in range(data["n_flagged"])]
    surprising = [i for place, i in enumerate(first) if data["rows"]["probability"][place] < 0.5]
    counted = np.add(data["outputs"]["commissions"], data["outputs"]["omissions"])
    assert counted.tolist() == np.bincount(surprising, minlength=4).tolist() and counted.sum() > 0
    np.testing.assert_allclose(data["dependence"]["coef"], detector.fitted_.models.dependence(), rtol=6e-3)
    expected, observed, count = data["outputs"]["calibration"][0]
    assert sum(count) == 240 and np.dot(observed, count) == pytest.approx(Y.iloc[:, 0].sum(), rel=0.01)
    assert expected == sorted(expected)


def test_the_sample_holds_rho_in_hundredths(table):
    X, Y = table
    Y = Y.copy()
    Y[3:40:5, 2] = np.nan
    detector = fitted(X, Y)
    sample = payload_of(page_of(detector, X, Y))["sample"]
    codes = np.frombuffer(b64decode(sample["rho"]), dtype=np.uint8).reshape(len(sample["row"]), 4)
    rows = np.array(sample["row"]) - 1
    assert sorted(rows) == list(range(240))
    missing = np.isnan(Y[rows])
    np.testing.assert_array_equal(codes == 255, missing)
    np.testing.assert_allclose(codes[~missing] / 100, detector.rho_[rows][~missing], atol=0.0051)


@pytest.mark.usefixtures("few_trials")
@pytest.mark.parametrize(
    "parameters",
    [{"rule": "prod"}, {"rule": "rw"}, {"parents": "none"}, {"exclude": ["tag0"]}, {"rule": "auto"},
     {"model": RandomForestClassifier(5, random_state=0)}, {"neighbor_space": "inputs"}],
)  # fmt: skip
def test_every_kind_of_fit_has_a_report(parameters):
    X, Y = frame(*make_table(90))
    html = fitted_page(X, Y, **parameters)
    data = payload_of(html)
    assert len(data["details"]) == 90
    assert (data["dependence"] is None) == ("model" in parameters or "parents" in parameters)
    assert ("Expected precision" in html) == (parameters.get("rule") == "auto")


def test_one_output_missing_cells_and_rows_that_are_all_alike():
    X, Y = make_table(60, n_outputs=1)
    assert payload_of(fitted_page(X, Y))["dependence"] is None
    data = payload_of(fitted_page(np.ones((20, 2)), np.tile([0.0, 1.0], (20, 1))))
    assert sum(data["histogram"]["counts"]) == 20
    table = pd.DataFrame({"a": X[:, 0], "ward": ["eyes", "skin", None] * 20, "empty": np.nan})
    gone = np.where(np.arange(60) % 3 == 0, np.nan, Y[:, 0])
    data = payload_of(fitted_page(table, np.column_stack([Y, gone])))
    assert {column[1] for detail in data["details"] for column in detail["inputs"]} >= {"missing", "eyes"}


def test_hostile_names_stay_data():
    X, Y = make_table(80, 15, 15)
    detector = fitted(X := pd.DataFrame(X, columns=NAMES[:15]), Y := pd.DataFrame(Y, columns=NAMES[15:]))
    html = page_of(detector, X, Y, title=NAMES[0], ids=[NAMES[i % 30] for i in range(80)])
    assert html.count("<script") == 2 == html.count("</script>")
    assert "\u2028" not in html and "\u202e" not in html
    data = payload_of(html)
    assert len(data["output_names"]) == 15 == len(set(data["output_names"]))
    assert max(map(len, data["output_names"])) < 140 and len(html) < 2_000_000


def test_ten_thousand_rows_of_a_hundred_outputs_stay_below_two_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 30))
    Y = (X @ rng.normal(size=(30, 100)) + 4 * rng.normal(size=(10_000, 100)) > 3).astype(float)
    names = [f"a rather long name of output number {i}" for i in range(100)]
    inputs = pd.DataFrame(X, columns=[f"a rather long name of input number {i}" for i in range(30)])
    detector = MCODE(strengths=(10.0,), crossfit=False).fit(inputs, pd.DataFrame(Y, columns=names))
    ids = [f"identifier-{i:07d}" for i in range(10_000)]
    path = tmp_path / "report.html"
    detector.write_report(path, inputs, pd.DataFrame(Y, columns=names), ids=ids)
    assert path.stat().st_size < 2_000_000
    data = payload_of(path.read_text("utf-8"))
    assert len(data["rows"]["row"]) == 10_000 and len(data["details"]) == 200


def test_what_a_report_cannot_be_made_from_is_refused(table, tmp_path):
    X, Y = table
    detector = fitted(X, Y)
    for arguments, message in (
        ({"ids": ["a"]}, "1 ids for 240 rows"),
        ({"pictures": np.zeros((3, 2, 2))}, "3 pictures for 240 rows"),
        ({"pictures": np.zeros((240, 2))}, "rows x height x width"),
    ):
        with pytest.raises(DataError, match=message):
            detector.write_report(tmp_path / "r.html", X, Y, **arguments)
    with pytest.raises(DataError, match="X has 10 rows and the fit had 240"):
        detector.write_report(tmp_path / "r.html", X[:10], Y[:10])
    for other in ((X[::-1], Y[::-1]), (X[::-1], Y), (X, 1 - Y)):
        with pytest.raises(DataError, match="these are not the rows the detector was fitted to"):
            detector.write_report(tmp_path / "r.html", *other)
    with pytest.raises(ValueError, match="not fitted"):
        MCODE().write_report(tmp_path / "r.html", X, Y)
    assert list(tmp_path.iterdir()) == []


def test_arrays_become_png():
    grey = np.array([[0.0, 8.0], [16.0, 4.0]])
    kind, content = data_uri(grey).split(",")
    assert kind == "data:image/png;base64"
    raw = b64decode(content)
    assert struct.unpack(">II", raw[16:24]) == (2, 2)
    colour = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    for array, mode, expected in (
        (grey, "L", [[0, 128], [255, 64]]),
        (colour, "RGB", colour),
        (np.dstack([colour, np.full((2, 3), 9, np.uint8)]), "RGB", colour),
        (np.zeros((2, 2)), "L", [[0, 0], [0, 0]]),
    ):
        png = b64decode(data_uri(array).split(",")[1])
        with Image.open(io.BytesIO(png)) as image:
            assert image.mode == mode
            np.testing.assert_array_equal(np.asarray(image), expected)
    assert len(data_uri(np.random.default_rng(0).random((900, 700)))) < 60_000


def test_files_become_small_pictures_and_others_nothing(tmp_path):
    large = tmp_path / "large.png"
    Image.new("RGB", (800, 400), (200, 30, 30)).save(large)
    uri = data_uri(str(large))
    with Image.open(io.BytesIO(b64decode(uri.split(",")[1]))) as image:
        assert image.size == (160, 80)
    (tmp_path / "text.png").write_text("secret")
    (tmp_path / "broken.png").write_bytes(large.read_bytes()[:60])
    (tmp_path / "page.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    turned = Image.new("RGB", (40, 20))
    exif = turned.getexif()
    exif[0x0112] = 6  # held upright
    turned.save(tmp_path / "phone.jpg", exif=exif)
    Image.new("P", (4, 4)).save(tmp_path / "palette.png", transparency=b"\x00\x10\xff")
    for name, size in (("phone.jpg", (20, 40)), ("palette.png", (4, 4))):
        with Image.open(io.BytesIO(b64decode(data_uri(tmp_path / name).split(",")[1]))) as image:
            assert image.size == size
    for array in (np.zeros(3), np.zeros((0, 4)), np.zeros((2, 2, 2))):
        assert data_uri(array) is None
    for name in ("text.png", "broken.png", "page.svg", "nobody.png", "", "a\0b", "."):
        assert data_uri(tmp_path / name if name else name) is None


def test_measures():
    assert histogram(np.array([1.0, 1.0])).counts.sum() == 2
    curve = calibration(np.array([0.2, np.nan, 0.8]), np.array([0.0, np.nan, 1.0]))
    assert isinstance(curve, Calibration) and curve.count.tolist() == [1, 1]
    rho = np.array([[0.1, 0.9], [0.9, 0.2], [0.6, 1.0]])
    Y = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    found = suspicions(np.array([0, 1, 0]), rho, Y)
    assert found.commissions.tolist() == [1, 0] and found.omissions.tolist() == [0, 1]
    links = np.array([[0, 0, 5.0], [0, 0, 0.1], [-4.0, 0, 0]])
    assert most_connected(links, 2).tolist() == [0, 2]


def test_pictures_stop_where_the_page_would_become_too_large():
    noise = np.random.default_rng(0).integers(0, 255, (40, 100, 100, 3), dtype=np.uint8)
    uris = data_uris(list(noise))
    shown = [uri for uri in uris if uri is not None]
    assert 0 < len(shown) < 40 and uris.index(None) == len(shown)
    assert sum(map(len, shown)) < BUDGET + 60_000


def test_inputs_are_compared_with_those_of_other_rows():
    table = pd.DataFrame({"a": [0.0] * 9 + [100.0], "b": np.arange(10.0), "c": ["x"] * 7 + ["y"] * 3})
    compared = InputComparison(as_inputs(table))
    near = np.arange(6)
    assert compared.own(9, 0) == ("100", 1.0) and compared.own(9, 2) == ("y", None)
    assert compared.usual(1, near).text == "0.5 to 4.5" and compared.usual(2, near).text == "x (100%)"
    assert compared.usual(0, near).text == "0"
    assert compared.most_different(9, near, 2) == [0, 1]  # never met before comes first
    assert compared.most_different(9, None, 1) == [0]
    thin = InputComparison(as_inputs(sparse.csr_array(table[["a", "b"]].to_numpy())))
    assert thin.most_different(9, None, 2) == compared.most_different(9, None, 2)
    assert thin.own(9, 0) == ("100", 1.0) and thin.usual(1, near).text == "0.5 to 4.5"


def test_values_at_the_ends_of_what_a_number_holds():
    table = np.array([[0.0, 1e308], [5e-324, -1e308], [0.0, 0.0]])
    compared = InputComparison(as_inputs(table))
    assert compared.own(1, 0)[1] in (0.5, 1.0) and compared.own(0, 1)[1] == 1.0
    assert compared.most_different(1, None, 2)


def test_sparse_inputs_and_more_details_than_the_list_is_long(monkeypatch):
    monkeypatch.setattr("amiss.output.report.payload.LISTED_ROWS", 10)
    X, Y = make_table(60, 30, 3)
    X = sparse.csr_array(np.where(X > 1.5, X, 0.0))
    data = payload_of(page_of(fitted(X, Y), X, Y, n_details=25))
    assert len(data["rows"]["row"]) == 25 == len(data["details"])
    assert all(detail["inputs"] for detail in data["details"])


def test_a_row_without_outputs_has_no_suspect():
    X, Y = make_table(60)
    Y[7] = np.nan
    data = payload_of(fitted_page(X, Y))
    place = data["rows"]["row"].index(8)
    assert data["rows"]["output"][place] is None and data["rows"]["observed"][place] is None


def test_where_nothing_is_flagged_the_overview_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    Y = (rng.random((200, 2)) < 0.5).astype(float)
    detector = MCODE(fdr=0.01, exclude=[1]).fit(X, Y)
    assert not detector.fitted_.decision.flagged.any()
    lines = overview(detector.fitted_)
    assert lines[1] == "No row is flagged." and lines[2].startswith("Estimated to be wrong: about ")
    assert lines[3] == f"Left out of the score: {detector.output_names_[1]}."
    assert "Flagged does not mean wrong. amiss evaluate measures what share" in lines[4]

"""The report: what is in the file. (What a browser makes of it: test_report_in_browser.py.)"""

import io
import json
import re
import struct
from base64 import b64decode

import numpy as np
import pandas as pd
import pytest
from conftest import fitted, frame, make_table
from hostile import NAMES
from PIL import Image
from sklearn.ensemble import RandomForestClassifier

from amiss import MCODE, DataError
from amiss.report import write_report
from amiss.report.measures import Calibration, calibration, histogram, most_connected, suspicions
from amiss.report.page import material, page
from amiss.report.pictures import data_uri


def refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")


def payload_of(html):
    """The data of a page, as a browser would read it."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    return json.loads(found, parse_constant=refuse_constant)


def page_of(X, Y, **parameters):
    return page(material(fitted(X, Y, **parameters), X, Y))


def test_the_list_is_the_ranking(table):
    X, Y = frame(*table)
    detector = fitted(X, Y)
    ids = [f"r{i}" for i in range(240)]
    data = payload_of(page(material(detector, X, Y, ids, n_details=10)))
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
        assert told["said"][1:] == explanation.sentences()[1:]
        assert told["said"][0].startswith(f"Row {order[place] + 1} (r{order[place]}) is")
        average, from_inputs, from_outputs, terms = told["grounds"][0]
        assert average + from_inputs + from_outputs == pytest.approx(first.grounds.log_odds, abs=0.02)
        largest = first.grounds.largest(1)[0]
        names = data["output_names"] if terms[0][0] else data["input_names"]
        assert names[terms[0][1]] == largest.name and terms[0][2] == pytest.approx(largest.log_odds, rel=6e-3)


def test_histogram_outputs_and_dependence_are_those_of_the_fit(table):
    X, Y = frame(*table)
    detector = fitted(X, Y)
    data = payload_of(page(material(detector, X, Y)))
    assert sum(data["histogram"]["counts"]) == 240
    np.testing.assert_allclose(data["outputs"]["skill"], detector.output_quality_.skill, rtol=6e-3)
    assert sum(data["outputs"]["commissions"]) + sum(data["outputs"]["omissions"]) <= data["n_flagged"]
    np.testing.assert_allclose(data["dependence"]["coef"], detector.dependence(), rtol=6e-3)
    expected, observed, count = data["outputs"]["calibration"][0]
    assert sum(count) == 240 and np.dot(observed, count) == pytest.approx(Y.iloc[:, 0].sum(), rel=0.01)
    assert expected == sorted(expected)


def test_the_sample_holds_rho_in_hundredths(table):
    X, Y = table
    Y = Y.copy()
    Y[3:40:5, 2] = np.nan
    detector = fitted(X, Y)
    sample = payload_of(page(material(detector, X, Y)))["sample"]
    codes = np.frombuffer(b64decode(sample["rho"]), dtype=np.uint8).reshape(len(sample["row"]), 4)
    rows = np.array(sample["row"]) - 1
    assert sorted(rows) == list(range(240))
    missing = np.isnan(Y[rows])
    np.testing.assert_array_equal(codes == 127, missing)
    np.testing.assert_allclose((codes & 127)[~missing] / 100, detector.rho_[rows][~missing], atol=0.0051)
    np.testing.assert_array_equal(codes[~missing] >= 128, Y[rows][~missing] == 1)


@pytest.mark.parametrize(
    "parameters",
    [{"score": "prod"}, {"score": "rw"}, {"parents": "none"}, {"exclude": ["tag0"]}, {"score": "auto"},
     {"base_estimator": RandomForestClassifier(5, random_state=0)}, {"neighbor_space": "inputs"}],
)  # fmt: skip
def test_every_kind_of_fit_has_a_report(parameters):
    X, Y = frame(*make_table(90))
    html = page_of(X, Y, **parameters)
    data = payload_of(html)
    assert len(data["details"]) == 90
    assert (data["dependence"] is None) == ("base_estimator" in parameters)
    assert ("Expected precision" in html) == (parameters.get("score") == "auto")


def test_one_output_missing_cells_and_rows_that_are_all_alike():
    X, Y = make_table(60, n_outputs=1)
    assert payload_of(page_of(X, Y))["dependence"] is None
    data = payload_of(page_of(np.ones((20, 2)), np.tile([0.0, 1.0], (20, 1))))
    assert sum(data["histogram"]["counts"]) == 20
    table = pd.DataFrame({"a": X[:, 0], "ward": ["eyes", "skin", None] * 20, "empty": np.nan})
    gone = np.where(np.arange(60) % 3 == 0, np.nan, Y[:, 0])
    data = payload_of(page_of(table, np.column_stack([Y, gone])))
    assert {column[1] for detail in data["details"] for column in detail["inputs"]} >= {"missing", "eyes"}


def test_hostile_names_stay_data():
    X, Y = make_table(80, 15, 15)
    detector = fitted(X := pd.DataFrame(X, columns=NAMES[:15]), Y := pd.DataFrame(Y, columns=NAMES[15:]))
    html = page(material(detector, X, Y, ids=[NAMES[i % 30] for i in range(80)]), title=NAMES[0])
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
    write_report(path, detector, inputs, pd.DataFrame(Y, columns=names), ids=ids)
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
            write_report(tmp_path / "r.html", detector, X, Y, **arguments)
    with pytest.raises(DataError, match="X has 10 rows and the fit had 240"):
        write_report(tmp_path / "r.html", detector, X[:10], Y[:10])
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
    for name in ("text.png", "broken.png", "page.svg", "nobody.png", "", "a\0b", "."):
        assert data_uri(tmp_path / name if name else name) is None


def test_measures():
    assert histogram(np.array([1.0, 1.0])).counts.sum() == 2
    curve = calibration(np.array([0.2, np.nan, 0.8]), np.array([0.0, np.nan, 1.0]))
    assert isinstance(curve, Calibration) and curve.count.tolist() == [1, 1]
    shares = np.array([[3.0, 1.0], [0.0, 2.0], [9.0, 0.0], [1.0, 0.0]])
    rho = np.array([[0.1, 0.9], [0.9, 0.2], [0.3, 0.9], [0.6, 1.0]])
    Y = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    found = suspicions(shares, rho, Y, np.array([True, True, False, True]))
    assert found.commissions.tolist() == [1, 0] and found.omissions.tolist() == [0, 1]
    links = np.array([[0, 0, 5.0], [0, 0, 0.1], [-4.0, 0, 0]])
    assert most_connected(links, 2).tolist() == [0, 2]

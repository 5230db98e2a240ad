"""The report of a table with outputs of several kinds: what is in the file, and what a browser makes of it."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from support.browsing import column, opened, ranked
from support.hostile import NAMES
from support.tables import fitted, frame, make_table

from amiss.data.output_kinds import BINARY, CLASS, COUNT, NUMBER, OutputColumn
from amiss.explanations.explained_output import direction_of
from amiss.output.report.kinds import alike

PLANTED = {10: ("dose", "high"), 11: ("lesions", "high"), 12: ("ward", "other"), 13: ("grade", None)}


def payload_of(path):
    """The data of a page."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"))
    return json.loads(found)


@pytest.fixture(scope="module")
def data(several):
    return payload_of(several[0])


def places(data):
    """Where each row stands in the list."""
    return {row - 1: place for place, row in enumerate(data["rows"]["row"])}


def test_a_page_of_tags_says_nothing_of_kinds(tmp_path):
    X, Y = frame(*make_table(90))
    fitted(X, Y).write_report(tmp_path / "report.html", X, Y)
    data = payload_of(tmp_path / "report.html")
    assert "kinds" not in data and "wrong" not in data["rows"] and "wrong" not in data["outputs"]
    assert {len(output) for detail in data["details"] for output in detail["outputs"]} == {7}
    assert not any("instead" in detail for detail in data["details"])


def test_planted_errors_are_told_by_value_and_direction(data, several):
    _, detector, Y = several
    assert data["kinds"] == ["class", "ordinal", "count", "number", "binary"]
    assert {data["rows"]["row"][place] - 1 for place in range(4)} == set(PLANTED)
    for row, (name, way) in PLANTED.items():
        place = places(data)[row]
        assert data["output_names"][data["rows"]["output"][place]] == name
        assert data["rows"]["wrong"][place] == (way or detector.explain(row).suspects[0].direction)
        if name in ("dose", "lesions"):
            assert data["rows"]["observed"][place] == Y.loc[row, name]
    longest = max(len(value) for value in data["rows"]["observed"] if isinstance(value, str))
    assert longest == 60  # a level with a long name is cut


def test_every_suspect_is_counted_in_its_direction(data):
    flagged = range(data["n_flagged"])
    ways = [(data["rows"]["wrong"][place], data["rows"]["output"][place]) for place in flagged]
    for way, counts in data["outputs"]["wrong"].items():
        for output, number in enumerate(counts):
            assert number == ways.count((way, output))
    assert sum(map(sum, data["outputs"]["wrong"].values())) == sum(way is not None for way, _ in ways)


def test_what_was_expected_is_that_of_the_explanation(data, several):
    _, detector, _ = several
    columns = detector.fitted_.training_rows.columns
    for place, explanation in enumerate(detector.explain_rows(ranked(detector)[:30].tolist())):
        told = {data["output_names"][output[0]]: output for output in data["details"][place]["outputs"]}
        for rank, output in enumerate(explanation.outputs):
            found, kind = told[output.output][7], output.kind
            np.testing.assert_allclose(told[output.output][2], output.probability, rtol=6e-3)
            if kind in ("count", "number"):
                np.testing.assert_allclose(found, [output.interval[0], output.instead, output.interval[1]], 1e-4)
                continue
            if rank >= explanation.n_suspects:
                assert len(found) == 1 and 0 < found[0][1] <= 1
                continue
            assert sum(chance for _, chance, _ in found) == pytest.approx(1, abs=0.01)
            assert [marks % 2 for *_, marks in found].count(1) == 1
            if kind == "ordinal":
                levels = columns[data["output_names"].index(output.output)].levels
                assert [level for level, *_ in found] == [level for level in levels if level in output.chances]


def test_chances_of_levels_are_those_of_the_model(several):
    _, detector, Y = several
    for row in (12, 50, 3):
        output = detector.explain(row)["ward"]
        assert sum(output.chances.values()) == pytest.approx(1)
        assert output.chances[output.observed] == pytest.approx(output.probability, abs=1e-6)
        assert list(output.chances.values()) == sorted(output.chances.values(), reverse=True)
        assert output.to_dict()["chances"] == output.chances
    rare = detector.explain(50)["ward"]
    assert rare.observed == Y.loc[50, "ward"] and len(rare.chances) == 4  # two rare levels are one to the models
    assert detector.explain(10)["dose"].chances == {} == detector.explain(10)["tag"].chances


def test_rare_levels_and_the_observed_one_are_marked(data):
    found = data["details"][places(data)[50]]["outputs"]
    (levels,) = (output[7] for output in found if output[0] == 0)
    assert [marks for _, _, marks in levels] == [0, 0, 0, 3]


def test_inputs_are_compared_for_two_values(data, several):
    Y = several[2]
    detail = data["details"][places(data)[12]]
    assert detail["instead"] == "\ufffdgpj.exe"  # without the character that turns text around
    number = data["details"][places(data)[10]]
    assert "instead" not in number and all(len(line) == 6 for line in number["inputs"])
    near = alike(OutputColumn("dose", NUMBER), Y["dose"].to_numpy(), 247.999)
    assert near.sum() == np.ceil(0.1 * Y["dose"].notna().sum()) and near[10]
    counts = np.array([0.0, 0.0, 3.0, np.nan])
    assert alike(OutputColumn("n", COUNT), counts, 0.0).tolist() == [True, True, False, False]
    assert not alike(OutputColumn("n", COUNT), np.array([np.nan]), 0.0).any()


def test_directions():
    assert direction_of(OutputColumn("a", BINARY), 1, 0) == "commission"
    assert direction_of(OutputColumn("a", CLASS, ("x", "y")), 1, 0) == "other"
    assert direction_of(OutputColumn("a", NUMBER), 1.5, 2) == "low"


def test_calibration_by_kind(data, several):
    Y = several[2]
    ward, grade, lesions, dose, tag = data["outputs"]["calibration"]
    for curve in (ward, grade, tag):
        assert len(curve) == 3 and sum(curve[2]) == 240 and max(curve[0] + curve[1]) <= 1
    assert min(ward[0]) > 1 / 5  # of the likeliest level
    for curve, name in ((lesions, "lesions"), (dose, "dose")):
        expected, _, count, low, high, inside = curve
        assert sum(count) == Y[name].notna().sum() and expected == sorted(expected)
        assert all(a <= b for a, b in zip(low, high, strict=True))
        assert 0.75 <= np.dot(inside, count) / sum(count) <= 1  # intervals hold 80%, those of counts rather more
    assert data["outputs"]["ones"][:4] == [None] * 4


def test_the_list_has_values_and_filters_by_kind_of_error(browser, several):
    path, detector, _ = several
    with opened(browser, path) as watched:
        page = watched.page
        assert column(page, "row")[:4] == [str(row + 1) for row in ranked(detector)[:4]]
        assert {"247.999", "90"} <= set(column(page, "value")[:4])
        assert {"too high", "another class"} <= set(column(page, "what looks wrong"))
        page.locator("#by-kind").select_option(label="another class")
        assert set(column(page, "suspect")) == {"ward"} and set(column(page, "what looks wrong")) == {
            "another class"
        }
        page.locator("#by-kind").select_option(label="all")
        for title in ("value", "what looks wrong"):
            page.locator("#list thead button", has_text=title).click()
        assert (
            page.locator("#map")
            .inner_text()
            .startswith("Left out: it is drawn for tables whose outputs are all 0")
        )


@pytest.mark.parametrize("scheme", ("light", "dark"))
def test_a_number_far_off_is_drawn_beside_its_interval(browser, several, scheme):
    path, detector, _ = several
    low, high = detector.explain(10)["dose"].interval
    with opened(browser, path, color_scheme=scheme) as watched:
        page = watched.page
        page.locator("#find").fill("11")
        page.locator("#list tbody tr").first.click()
        strip = page.locator("#detail .strip svg").first
        assert strip.get_attribute("aria-label") == (
            f"dose: {low:.4g} to {high:.4g} is expected, 247.999 stands there"
        )
        assert "247.999" in strip.text_content() and f"{low:.4g}" in strip.text_content()
        interval, mark = (strip.locator(where).bounding_box() for where in (".expected", ".observed"))
        frame = strip.bounding_box()
        assert 10 < interval["width"] < mark["x"] - interval["x"]
        assert mark["x"] + mark["width"] <= frame["x"] + frame["width"]
        text = page.locator("#detail").inner_text()
        assert "near 248" in text and "where it is 1" not in text and "chance of a 1" not in text


def test_levels_are_bars_and_the_observed_one_is_marked(browser, several):
    path, _, _ = several
    with opened(browser, path) as watched:
        page = watched.page
        page.locator("#list tbody tr", has_text="another class").first.click()
        lines = page.locator("#detail .levels").first.locator("tr")
        assert lines.count() == 4
        own = page.locator("#detail .levels").first.locator("tr.own")
        assert own.count() == 1 and own.inner_text().endswith("observed")
        widths = [bar["width"] for bar in (lines.nth(i).locator(".bar").bounding_box() for i in range(4))]
        assert widths == sorted(widths, reverse=True)
        assert "not expected to be" in page.locator("#detail summary").first.inner_text()


@pytest.mark.parametrize("width", (1280, 390))
def test_hostile_levels_stay_inert_everywhere(browser, several, width):
    path, _, Y = several
    with opened(browser, path) as watched:
        page = watched.page
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        for place in range(25):
            page.locator("#list tbody tr").nth(place).click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert "NaN" not in page.locator("#detail").inner_html()
        for place in range(Y.shape[1]):
            page.locator("#output-list tbody tr").nth(place).click()
            assert page.locator("#output-detail svg circle").count() == 10
            assert "NaN" not in page.locator("#output-detail").inner_html()
        assert NAMES[1] in page.locator("#rows").inner_text() and page.evaluate("document.images.length") == 0
        assert page.evaluate("document.scripts.length") == 2
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.locator(".of-print .strip").count() >= 2


def test_very_large_small_and_equal_numbers(browser, tmp_path):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    huge = np.where(X["a"] > 0, 1e140, -1e140) + 1e138 * rng.normal(size=90)
    Y = pd.DataFrame({"huge": huge, "tiny": 1e-140 * X["b"], "flat": 7.5, "counted": rng.poisson(3, 90)})
    Y.loc[3, "tiny"], Y.loc[4, "flat"] = 1e-130, 8.25
    detector = fitted(X, Y, contamination=0.1, output_kinds={"flat": "number"})
    detector.write_report(tmp_path / "report.html", X, Y)
    with opened(browser, tmp_path / "report.html") as watched:
        page = watched.page
        for place in range(25):
            page.locator("#list tbody tr").nth(place).click()
            assert "NaN" not in page.locator("#detail").inner_html()
        for place in range(4):
            page.locator("#output-list tbody tr").nth(place).click()
            assert "NaN" not in page.locator("#output-detail").inner_html()
        assert "auc" not in column_titles(page)


def column_titles(page):
    return " ".join(page.locator("#output-list thead th").all_inner_texts())

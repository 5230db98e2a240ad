"""The report as a person has it: opened in Chromium from a file, by mouse and by keyboard."""

import re
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from support.hostile import NAMES
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.evaluation.digits import tagged_digits
from amiss.output.report import write_report


class Watched:
    """A page, and whatever it said or asked for."""

    def __init__(self, page):
        self.page, self.said, self.asked, self.refused = page, [], [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("requestfailed", lambda request: self.refused.append((request.url, request.failure)))

    def quiet(self, path):
        """Nothing was said, nothing but the file itself and what it carries was asked for, nothing ran."""
        assert self.said == []
        assert {url.partition("#")[0] for url in self.asked if not url.startswith("data:")} <= {path.as_uri()}
        assert self.page.evaluate("window.hacked") is None


@contextmanager
def opened(browser, path, **options):
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, **options)
    watched = Watched(context.new_page())
    try:
        watched.page.goto(path.as_uri())
        yield watched
        watched.quiet(path)
    finally:
        context.close()


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    tagged = tagged_digits()
    data = tagged.data
    detector = MCODE(contamination=0.02).fit(data.X, data.Y)
    path = tmp_path_factory.mktemp("digits") / "report.html"
    pictures = [tagged.picture(row) for row in range(len(data))]
    write_report(path, detector, data.X, data.Y, ids=data.ids, pictures=pictures, n_details=60, title="digits")
    return path, detector, data


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    X, Y = make_table(120, 14, 15)
    inputs = pd.DataFrame(X, columns=NAMES[:14])
    inputs[NAMES[14]] = [NAMES[i % 5] for i in range(120)]
    outputs = pd.DataFrame(Y, columns=NAMES[15:])
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    detector = fitted(inputs, outputs, contamination=0.1)
    ids = [f"{NAMES[i % 30]} {i}" for i in range(120)]
    write_report(path, detector, inputs, outputs, ids=ids, title=NAMES[1])
    return path


def ranked(detector):
    return np.argsort(-detector.decision_scores_, kind="stable")


def column(page, title, table="#list"):
    """The texts of one column of a table, as they stand there."""
    titles = [text.strip(" \n\u00a0▲▼") for text in page.locator(f"{table} thead th").all_inner_texts()]
    place = titles.index(title) + 1
    return [text.strip() for text in page.locator(f"{table} tbody tr td:nth-child({place})").all_inner_texts()]


def heading(page, title, table="#list"):
    return page.locator(f"{table} thead button", has_text=re.compile(rf"^{title}\b"))


def test_the_demo_opens_and_says_what_was_found(browser, digits):
    path, detector, data = digits
    with opened(browser, path) as watched:
        page = watched.page
        summary = page.locator("#summary").inner_text()
        assert "1797 rows with 64 inputs and 7 outputs" in summary
        assert f"{detector.labels_.sum()} rows (2.0%) are flagged as unusual, with a score above" in summary
        assert page.locator("#histogram svg rect").count() > 10 and page.locator("#histogram .cut").count() == 1
        first = ranked(detector)[0]
        assert page.locator("#detail h3").first.inner_text() == f"Rank 1: row {first + 1} {data.ids[first]}"
        assert page.locator("#detail").inner_text().count("With 0 instead, the score would be") == 1
        assert column(page, "row") == [str(row + 1) for row in ranked(detector)[:25]]


def test_pictures_stand_beside_rows(browser, digits):
    with opened(browser, digits[0]) as watched:
        sizes = watched.page.evaluate("[...document.images].map((image) => [image.complete, image.naturalWidth])")
        assert len(sizes) == 26 and all(size == [True, 8] for size in sizes)


def test_headings_sort_by_mouse_and_keyboard(browser, digits):
    path, detector, _ = digits
    with opened(browser, path) as watched:
        page = watched.page
        heading(page, "row").click()
        assert [int(row) for row in column(page, "row")] == list(range(1, 26))
        assert page.locator("#list th[aria-sort=ascending]").inner_text().startswith("row")
        heading(page, "row").press("Enter")
        assert [int(row) for row in column(page, "row")] == list(range(1797, 1772, -1))
        heading(page, "score").focus()
        page.keyboard.press("Space")
        expected = np.sort(detector.decision_scores_)[::-1][:25]
        np.testing.assert_allclose(
            [float(score) for score in column(page, "score")], expected, rtol=5e-4
        )  # four digits are shown
        heading(page, "suspect").click()
        assert column(page, "suspect") == sorted(column(page, "suspect"))


def test_filters_by_mouse_and_keyboard(browser, digits):
    path, detector, _ = digits
    with opened(browser, path) as watched:
        page = watched.page
        page.locator("#find").fill("DIGIT-0477")
        assert column(page, "row") == ["477"]
        page.locator("#find").fill("477")
        assert set(column(page, "row")) == {"477", *(row for row in column(page, "row") if "477" in row)}
        page.locator("#find").fill("")
        page.locator("#only-flagged").focus()
        page.keyboard.press("Space")
        flagged = int(detector.labels_.sum())
        assert page.locator("#page").inner_text().startswith(f"{flagged} rows, page 1 of 2")
        page.locator("#forth").focus()
        page.keyboard.press("Enter")
        assert len(column(page, "row")) == flagged - 25
        page.locator("#by-output").select_option(label="tag_straight")
        assert set(column(page, "suspect")) == {"tag_straight"}
        page.locator("#by-kind").select_option("1")
        assert set(column(page, "what looks wrong")) == {"1 instead of 0"}
        page.locator("#find").fill("nothing like this")
        assert page.locator("#list tbody").inner_text() == "No row matches."
        assert "0 rows" in page.locator("#page").inner_text() and page.locator("#detail").inner_text() == ""
        page.locator("#find").fill("")
        assert page.locator("#detail h3").count() > 0


def test_rows_are_chosen_by_mouse_and_keyboard(browser, digits):
    path, detector, _ = digits
    order = ranked(detector)
    with opened(browser, path) as watched:
        page = watched.page
        page.locator("#list tbody tr").nth(3).click()
        assert f"row {order[3] + 1} " in page.locator("#detail h3").first.inner_text()
        for key, place in (("ArrowDown", 4), ("ArrowUp", 3), ("End", 24), ("Home", 0)):
            page.keyboard.press(key)
            assert f"row {order[place] + 1} " in page.locator("#detail h3").first.inner_text()
            assert page.locator("#list tr[aria-current=true]").count() == 1
            assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "true"
        explanation = detector.explain(int(order[0]))
        text = page.locator("#detail").inner_text()
        assert all(sentence in text for sentence in explanation.sentences()[1:])
        page.keyboard.press("ArrowUp")  # nothing above the first
        assert f"row {order[0] + 1} " in page.locator("#detail h3").first.inner_text()
        page.keyboard.press("End")
        page.keyboard.press("ArrowDown")  # the next page
        assert f"row {order[25] + 1} " in page.locator("#detail h3").first.inner_text()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "detail"
        page.get_by_role("button", name="Previous row").click()
        assert f"row {order[24] + 1} " in page.locator("#detail h3").first.inner_text()
        assert page.url.endswith(f"#row-{order[24] + 1}")
        heading(page, "rank").click()  # the last first
        page.locator("#list tbody tr").first.click()
        assert f"amiss explain with the file and options of this report, and row {order[-1] + 1}" in (
            page.locator("#detail").inner_text()
        )


def test_an_address_leads_to_a_row(browser, digits):
    path, detector, data = digits
    row = int(ranked(detector)[7])
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{path.as_uri()}#row-{row + 1}")
    assert page.locator("#detail h3").first.inner_text() == f"Rank 8: row {row + 1} {data.ids[row]}"
    context.close()


def test_everything_is_reached_by_tab_alone(browser, digits):
    with opened(browser, digits[0]) as watched:
        page = watched.page
        seen = []
        for _ in range(60):
            page.keyboard.press("Tab")
            seen.append(page.evaluate("document.activeElement.id || document.activeElement.className"))
        for wanted in ("skip", "cutoff", "find", "by-output", "only-flagged", "choice", "forth", "across", "up"):
            assert wanted in seen


def test_the_cut_off_moves_with_the_arrow_keys(browser, digits):
    path, detector, _ = digits
    with opened(browser, path) as watched:
        page = watched.page
        before = page.locator("#above").inner_text()
        assert before.startswith(f"{detector.labels_.sum()} rows")
        page.locator("#cutoff").focus()
        page.keyboard.press("End")
        assert page.locator("#above").inner_text().startswith("0 rows (0%)")
        page.keyboard.press("Home")
        for _ in range(100):
            page.keyboard.press("ArrowRight")
        low, high = detector.decision_scores_.min(), detector.decision_scores_.max()
        above = int((detector.decision_scores_ > low + (high - low) / 10).sum())
        assert page.locator("#above").inner_text().startswith(f"{above} rows")
        assert page.locator("#above").inner_text().endswith(f"to flag these: --alerts {above}")
        page.locator("#reset-cutoff").click()
        assert page.locator("#above").inner_text() == before


def test_outputs_calibration_and_their_rows(browser, digits):
    path, detector, _ = digits
    with opened(browser, path) as watched:
        page = watched.page
        heading(page, "skill", "#output-list").click()
        shown = [float(value) for value in column(page, "skill", "#output-list")]
        np.testing.assert_allclose(shown, np.sort(detector.output_quality_.skill), rtol=6e-3)
        page.locator("#output-list tbody tr").first.click()
        page.keyboard.press("ArrowDown")
        name = page.locator("#output-detail h3").inner_text()
        assert name == column(page, "output", "#output-list")[1]
        assert page.locator("#output-detail svg circle").count() == 10
        said = page.locator("#output-detail").inner_text()
        page.get_by_role("button", name="Show its rows").click()
        assert set(column(page, "suspect")) == {name}
        shown = column(page, "what looks wrong")
        assert f"Main suspect in {sum(text != 'as expected' for text in shown)} flagged row" in said


def test_dependence_and_pairs(browser, digits):
    path, detector, data = digits
    links = detector.dependence()
    strongest = np.unravel_index(np.argmax(np.abs(links)), links.shape)
    with opened(browser, path) as watched:
        page = watched.page
        cells = page.locator("#map tbody tr").first.locator("td").all_inner_texts()
        assert [cells[0], cells[1]] == [data.output_names[i] for i in strongest]
        assert float(cells[2]) == pytest.approx(links[strongest], rel=6e-3)
        page.locator("#map image").hover()
        assert "to the log-odds of" in page.locator("#map").inner_text()
        page.locator("#across").select_option(label="tag_straight")
        assert "chance of the observed tag_straight" in page.locator("#pair svg").text_content()
        flagged = int(detector.labels_.sum())
        assert page.locator("#pair .ring").count() == flagged  # the chosen row is one of them
        assert page.locator("#pair .ring.mine").count() == 1


def test_thirty_hostile_names_do_nothing(browser, hostile):
    with opened(browser, hostile) as watched:
        page = watched.page
        assert page.evaluate("document.scripts.length") == 2 and page.evaluate("document.images.length") == 0
        assert page.locator("iframe, object, embed, style:not(head style)").count() == 0
        for place in range(12):
            page.locator("#list tbody tr").nth(place).click()
            assert page.locator("#detail table").count() >= 3
        for title in ("id", "suspect", "row"):
            heading(page, title).click()
        for place in range(15):
            page.locator("#output-list tbody tr").nth(place).click()
            page.locator("#across").select_option(str(place))
            page.locator("#by-output").select_option(str(place))
        page.locator("#by-output").select_option("")
        page.locator("#find").fill("<img")
        shown = page.locator("body").inner_text()
        assert "{{ 7*7 }}" in page.locator("body").text_content() and "49" not in page.title()
        assert "\u202e" not in shown and "constructor" in page.locator("#outputs").inner_text()
        page.mouse.move(300, 300)
        page.wait_for_timeout(100)
        assert page.evaluate("({}).hacked") is None
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_what_slips_in_is_stopped_by_the_policy(browser, digits):
    context = browser.new_context()
    watched = Watched(context.new_page())
    watched.page.goto(digits[0].as_uri())
    watched.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">"
        '<img src="https://example.invalid/a.png">\')'
    )
    watched.page.wait_for_timeout(200)
    assert watched.page.evaluate("window.hacked") is None
    assert sum("Content Security Policy" in line for line in watched.said) >= 2
    assert [failure for url, failure in watched.refused if url.startswith("http")] == ["csp"]
    context.close()


@pytest.mark.parametrize("scheme", ("light", "dark"))
def test_light_and_dark_have_contrast(browser, digits, scheme):
    with opened(browser, digits[0], color_scheme=scheme) as watched:
        for where in ("body", "#list thead th", "#list tr[aria-current=true] td", ".flag", ".small", "a"):
            assert contrast(watched.page, where) >= 4.5, where


def contrast(page, where):
    """WCAG's ratio between an element's colour and the background it stands on."""
    colours = page.evaluate(
        """(where) => {
          let element = document.querySelector(where);
          const ink = getComputedStyle(element).color;
          let paper = "rgba(0, 0, 0, 0)";
          while (paper === "rgba(0, 0, 0, 0)" && element) {
            paper = getComputedStyle(element).backgroundColor;
            element = element.parentElement;
          }
          return [ink, paper];
        }""",
        where,
    )
    bright, dull = sorted((luminance(colour) for colour in colours), reverse=True)
    return (bright + 0.05) / (dull + 0.05)


def luminance(colour):
    parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_readable_at_200_percent_and_printable(browser, digits, tmp_path):
    path = digits[0]
    context = browser.new_context(viewport={"width": 640, "height": 450}, device_scale_factor=2)
    watched = Watched(context.new_page())
    page = watched.page
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.locator("#list tbody tr").nth(1).click()
    assert page.locator("#detail").bounding_box()["width"] > 500
    page.emulate_media(media="print")
    assert not page.locator("#find").is_visible() and page.locator("#list").is_visible()
    page.evaluate("addEventListener('beforeprint', () => { window.printed = 1; })")
    page.pdf(path=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF") and page.evaluate("window.printed") == 1
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    blocks = page.locator(".of-print")
    assert blocks.count() == digits[1].labels_.sum() and blocks.first.is_visible()
    assert "is flagged as unusual" in blocks.last.inner_text()
    watched.quiet(path)
    context.close()


def test_without_scripts_the_first_rows_are_there(browser, digits):
    path, detector, _ = digits
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert "Scripts are switched off" in page.locator("#summary").inner_text()
    first = detector.explain(int(ranked(detector)[0])).sentences()[1]
    assert first in page.locator("noscript tbody tr").first.inner_text()
    assert not page.locator("#list").is_visible()
    context.close()


SMALL = {
    "one output": ({"n_outputs": 1}, {}),
    "no neighbours": ({}, {"score": "prod"}),
    "no parents": ({}, {"parents": "none", "score": "rw"}),
    "a forest": ({}, {"base_estimator": RandomForestClassifier(5, random_state=0)}),
    "inputs alone": ({}, {"neighbor_space": "inputs"}),
}


@pytest.mark.parametrize("kind", SMALL)
def test_every_kind_of_fit_has_a_page_that_works(browser, tmp_path, kind):
    size, parameters = SMALL[kind]
    X, Y = make_table(60, **size)
    Y[5] = np.nan
    write_report(tmp_path / "report.html", fitted(X, Y, **parameters), X, Y)
    with opened(browser, tmp_path / "report.html") as watched:
        page = watched.page
        for place in range(0, 25, 8):
            page.locator("#list tbody tr").nth(place).click()
            assert "score" in page.locator("#detail").inner_text()
        page.locator("#find").fill("6")
        assert column(page, "row") == ["6"] and column(page, "suspect") == [""]
        assert page.locator("#map").inner_text() != ""


def test_rows_that_are_all_alike_have_a_page_too(browser, tmp_path):
    X, Y = np.ones((20, 2)), np.tile([0.0, 1.0], (20, 1))
    write_report(tmp_path / "report.html", fitted(X, Y), X, Y)
    with opened(browser, tmp_path / "report.html") as watched:
        assert watched.page.locator("#histogram rect").count() == 1
        assert len(column(watched.page, "row")) == 20


def test_a_longer_table_says_that_the_list_is_cut(browser, tmp_path):
    X, Y = make_table(10_300, 2, 2)
    write_report(tmp_path / "report.html", MCODE(rule="prod", strengths=(1.0,), crossfit=False).fit(X, Y), X, Y)
    with opened(browser, tmp_path / "report.html") as watched:
        page = watched.page
        assert "(the list has the first 10000 of 10300 rows)" in page.locator("#page").inner_text()
        assert "1500 of 10300" in page.locator("#pairs").inner_text()
        page.locator("#cutoff").focus()
        page.keyboard.press("Home")
        assert "about " in page.locator("#above").inner_text()

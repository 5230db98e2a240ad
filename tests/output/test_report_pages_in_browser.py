"""Pages of every kind of fit and with hostile names: safe, readable, printable."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from support.browsing import Watched, column, heading, opened, ranked
from support.tables import fitted, make_table

from amiss import MCODE


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
    "no neighbours": ({}, {"rule": "prod"}),
    "no parents": ({}, {"parents": "none", "rule": "rw"}),
    "a forest": ({}, {"model": RandomForestClassifier(5, random_state=0)}),
    "inputs alone": ({}, {"neighbor_space": "inputs"}),
}


@pytest.mark.parametrize("kind", SMALL)
def test_every_kind_of_fit_has_a_page_that_works(browser, tmp_path, kind):
    size, parameters = SMALL[kind]
    X, Y = make_table(60, **size)
    Y[5] = np.nan
    fitted(X, Y, **parameters).write_report(tmp_path / "report.html", X, Y)
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
    fitted(X, Y).write_report(tmp_path / "report.html", X, Y)
    with opened(browser, tmp_path / "report.html") as watched:
        assert watched.page.locator("#histogram rect").count() == 1
        assert len(column(watched.page, "row")) == 20


def test_a_longer_table_says_that_the_list_is_cut(browser, tmp_path):
    X, Y = make_table(10_300, 2, 2)
    detector = MCODE(rule="prod", strengths=(1.0,), crossfit=False).fit(X, Y)
    detector.write_report(tmp_path / "report.html", X, Y)
    with opened(browser, tmp_path / "report.html") as watched:
        page = watched.page
        assert "(the list has the first 10,000 of 10,300 rows)" in page.locator("#page").inner_text()
        assert "1500 of 10300" in page.locator("#pairs").inner_text()
        page.locator("#cutoff").focus()
        page.keyboard.press("Home")
        assert "about " in page.locator("#above").inner_text()

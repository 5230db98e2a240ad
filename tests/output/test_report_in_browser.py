"""The report as a person has it: opened in Chromium from a file, by mouse and by keyboard."""

from __future__ import annotations

import numpy as np
import pytest
from support.browsing import column, heading, opened, ranked


def test_the_demo_opens_and_says_what_was_found(browser, digits):
    path, detector, data = digits
    with opened(browser, path) as watched:
        page = watched.page
        summary = page.locator("#summary").inner_text()
        assert "1,797 rows with 64 inputs and 7 outputs" in summary
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
        said = [sentence for sentence in explanation.sentences()[1:] if "to expect" not in sentence]
        assert len(said) > 2 and all(sentence in text for sentence in said)  # reasons name values of inputs there
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
    links = detector.fitted_.models.dependence()
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


def test_a_filter_chooses_the_first_row_that_is_left(browser, digits):
    with opened(browser, digits[0]) as watched:
        page = watched.page
        page.locator("#by-kind").select_option("0")
        first = page.locator("#list tbody tr").first
        assert first.get_attribute("aria-current") == "true"
        assert (
            page.locator("#detail h3")
            .first.inner_text()
            .startswith(f"Rank {int(first.get_attribute('data-item')) + 1}:")
        )


@pytest.mark.parametrize("width", [1280, 390])
def test_what_matters_most_is_seen_without_scrolling_aside(browser, digits, width):
    with opened(browser, digits[0]) as watched:
        page = watched.page
        page.set_viewport_size({"width": width, "height": 800})
        page.reload()
        for title in ("rank", "suspect", "score", "chance"):
            box = heading(page, title).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width, title
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        inside = (
            "document.querySelector('#list').scrollWidth <= document.querySelector('#rows .scroll').clientWidth"
        )
        assert page.evaluate(inside) or width < 1280
        assert page.locator("#histogram svg text").first.bounding_box()["height"] > 9  # it can be read

"""A report opened in a browser: what it said and asked for, and what stands in its tables."""

from __future__ import annotations

import re
from contextlib import contextmanager

import numpy as np


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


def ranked(detector):
    return np.argsort(-detector.decision_scores_, kind="stable")


def column(page, title, table="#list"):
    """The texts of one column of a table, as they stand there."""
    titles = [text.strip(" \n\u00a0▲▼") for text in page.locator(f"{table} thead th").all_inner_texts()]
    place = titles.index(title) + 1
    return [text.strip() for text in page.locator(f"{table} tbody tr td:nth-child({place})").all_inner_texts()]


def heading(page, title, table="#list"):
    return page.locator(f"{table} thead button", has_text=re.compile(rf"^{title}\b"))

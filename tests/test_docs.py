"""README, docs and examples: commands print what is shown, the Python runs, and links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from support.tables import ENVIRONMENT

HOME = Path(__file__).parents[1]
PAGES = [HOME / "README.md", *sorted((HOME / "docs").glob("*.md"))]
EVERYTHING = [*PAGES, HOME / "CONTRIBUTING.md", HOME / "CHANGELOG.md", *sorted((HOME / "docs").glob("*/*.md"))]
EXAMPLES = sorted((HOME / "examples").glob("*.py"))
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def named(path):
    return path.relative_to(HOME).as_posix()


def blocks(page, kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page):
    """Every command of the console blocks with the lines shown below it."""
    return [
        (command, shown)
        for block in blocks(page, "console")
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


SHOWING = [page for page in PAGES if commands(page) or blocks(page, "python")]


@cache  # pages begin alike, and share a folder
def run(command, folder):
    python = f"{sys.executable} -c 'from amiss.cli import main; main()'"
    done = subprocess.run(
        ["bash", "-c", re.sub(r"^amiss\b", python, command)],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("docs")


@pytest.mark.parametrize("page", SHOWING, ids=named)
def test_a_page_shows_what_is_printed(page, folder):
    """The console prints it; then the Python runs, from first to last, beside the files that it has made."""
    for command, shown in commands(page):
        printed = run(command, folder)
        for expected in filter(None, shown.splitlines()):
            assert any(alike(expected, line) for line in printed.splitlines()), (command, expected)
    code = "\n".join(blocks(page, "python"))
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, check=True, capture_output=True)


def alike(expected, line):
    """The same words, and numbers within a hundredth (machines round differently, and so pad differently).

    Where one row more or less makes more than a hundredth, as in a precision, the last decimal may differ by one.
    """
    if NUMBER.sub("#", expected).split() != NUMBER.sub("#", line).split():
        return False
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(line), strict=True)
    return all(np.isclose(float(a), float(b), rtol=0.01, atol=last_decimal(a)) for a, b in pairs)


def last_decimal(number):
    """One in the last place of a number with decimals; 0 of a whole number."""
    place = Decimal(number).as_tuple().exponent
    return 1.001 * 10.0**place if place < 0 else 0.0


@pytest.mark.parametrize("example", EXAMPLES, ids=named)
def test_an_example_runs(example, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", example], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout and not done.stderr


def test_there_are_pages_and_examples():
    assert {"find.md", "review-the-list.md", "explain.md", "thresholds.md", "new-rows.md", "evaluate.md"} <= {
        page.name for page in SHOWING
    }
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("page", EVERYTHING, ids=named)
def test_links_lead_somewhere(page):
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []

"""What the README shows is what the commands print, and its Python runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.tables import ENVIRONMENT

README = Path(__file__).parents[1] / "README.md"
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands():
    """Every command of the console blocks with the lines shown below it."""
    return [
        (command, shown)
        for block in blocks("console")
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def run(command, folder):
    python = f"{sys.executable} -c 'from amiss.cli import main; main()'"
    done = subprocess.run(
        ["bash", "-c", re.sub(r"^amiss\b", python, command)],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


def test_the_console_prints_what_the_readme_shows(folder):
    assert len(commands()) >= 3
    for command, shown in commands():
        printed = run(command, folder)
        for expected in filter(None, shown.splitlines()):
            assert any(alike(expected, line) for line in printed.splitlines()), (command, expected)


def alike(expected, line):
    """The same words, and numbers within a hundredth (machines round differently, and so pad differently)."""
    if NUMBER.sub("#", expected).split() != NUMBER.sub("#", line).split():
        return False
    pairs = zip(NUMBER.findall(expected), NUMBER.findall(line), strict=True)
    return all(np.isclose(float(a), float(b), rtol=0.01) for a, b in pairs)


def test_the_python_runs(folder):
    run("amiss demo --save demo", folder)
    (code,) = blocks("python")
    subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, check=True, capture_output=True)

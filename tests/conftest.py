"""What several tests share: small tables with known dependence, the paper's data, the command."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import settings
from support import commands as warm
from support.files import written
from support.tables import ENVIRONMENT, make_table

settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")

PAPER_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def table():
    return make_table()


@pytest.fixture
def people(tmp_path):
    """A small table with everything in it, as CSV."""
    return written(
        tmp_path / "people.csv",
        'name,age,ward,tag_a,tag_b\n007,34,eyes,0,1\n008,,"surgery, minor",1,0\n009,51.5,NA,1,\n',
    )


@pytest.fixture
def records(tmp_path):
    """A CSV file with an id, five inputs and four outputs, one row of them all wrong."""
    X, Y = make_table(120)
    Y[17] = 1 - Y[17]
    frame = pd.DataFrame(X, columns=[f"in{i}" for i in range(5)])
    frame.insert(0, "name", [f"case {i}" for i in range(120)])
    for i in range(4):
        frame[f"tag_{i}"] = Y[:, i].astype(int)
    frame.to_csv(tmp_path / "records.csv", index=False)
    return frame


@pytest.fixture
def few_trials(monkeypatch):
    """A choice of the rule by a single seed, for tests of something else."""
    for name in ("N_SEEDS", "MOST_SEEDS"):
        monkeypatch.setattr(f"amiss.evaluation.choice.{name}", 1)


@pytest.fixture(scope="session")
def paper_data():
    if not PAPER_DATA.is_dir():
        pytest.skip("the paper's datasets are not on this machine (../shared/data)")
    return PAPER_DATA


@pytest.fixture(scope="session")
def server():
    """Forks commands from a process that has the imports done."""
    found = warm.Server()
    yield found
    found.close()


@pytest.fixture
def amiss(tmp_path, server):
    """Run the command as a process in an empty folder."""

    def run(*arguments, stdin=None):
        code, out, err = server.run([*map(str, arguments)], tmp_path, ENVIRONMENT, stdin or b"")
        return SimpleNamespace(code=code, out=out.decode(), err=err.decode(), raw=out)

    return run


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Without these Chromium asks the network for updates, and a sandbox needs rights a container lacks.
BROWSER_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser():
    """A real Chromium, headless."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        own = next(filter(None, map(shutil.which, BROWSERS)), None)
        try:
            chromium = playwright.chromium.launch(executable_path=own, args=list(BROWSER_OPTIONS))
        except Error:
            if os.environ.get("AMISS_TEST_BROWSER") == "required":
                raise
            pytest.skip("there is no Chromium here; make browser installs one")
        yield chromium
        chromium.close()

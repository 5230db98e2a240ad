"""Disk full, places that cannot be read or written, runs that are killed: one clear line, nothing half written."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from support.tables import UNMEASURED

OUTPUTS = ("--outputs", "tag_*", "--id", "name")
HERE = Path(__file__).parents[1]


def run(folder, *arguments, stdout=subprocess.PIPE, before=None):
    """The command as a process, in which something is done ``before`` it begins."""
    return subprocess.run(
        [sys.executable, "-c", "from amiss.cli import main; main()", *map(str, arguments)],
        cwd=folder,
        env=UNMEASURED,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=before,
    )


@pytest.mark.parametrize(
    ("command", "target", "there"),
    [
        (("find", "records.csv", *OUTPUTS, "-o"), "found.csv", True),
        (("find", "records.csv", *OUTPUTS, "-o"), "found.jsonl", False),
        (("find", "records.csv", *OUTPUTS, "-o"), "found.parquet", False),
        (("find", "records.csv", *OUTPUTS, "--report"), "report.html", True),
        (("fit", "records.csv", *OUTPUTS, "--no-calibration", "-o"), "m.amiss", True),
    ],
)
def test_no_room_for_the_result(tmp_path, records, command, target, there):
    if there:
        (tmp_path / target).write_text("before")
    done = run(tmp_path, *command, target, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
    assert done.returncode == 1, done.stderr
    assert done.stderr == f"amiss: {target}: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["records.csv", *[target] * there])
    assert not there or (tmp_path / target).read_text() == "before"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("options", [("-o", "-", "-q"), ()])
def test_no_room_on_standard_output(tmp_path, records, options):
    with Path("/dev/full").open("w") as full:
        done = run(tmp_path, "find", "records.csv", *OUTPUTS, *options, stdout=full)
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="this system has no /proc")
def test_a_file_that_cannot_be_read(tmp_path):
    done = run(tmp_path, "find", "/proc/self/mem", "--outputs", "a", "--format", "csv")
    assert done.returncode == 1 and done.stderr == "amiss: /proc/self/mem: Input/output error\n"


def without_privileges():
    """In a child: from now on permissions hold for root too (the capabilities to override them are dropped)."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform != "linux", reason="root's privileges are dropped in Linux's way")
def test_places_without_permission(tmp_path, records):
    (tmp_path / "records.csv").chmod(0)
    done = run(tmp_path, "find", "records.csv", *OUTPUTS, before=without_privileges)
    assert done.returncode == 1 and done.stderr == "amiss: records.csv: Permission denied\n"
    (tmp_path / "records.csv").chmod(0o600)
    (tmp_path / "locked").mkdir(mode=0o500)
    done = run(tmp_path, "find", "records.csv", *OUTPUTS, "-o", "locked/found.csv", before=without_privileges)
    assert done.returncode == 1 and done.stderr == "amiss: locked/found.csv: Permission denied\n"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no /proc")
def test_a_place_that_cannot_be_written(tmp_path, records):
    done = run(tmp_path, "find", "records.csv", *OUTPUTS, "-o", "/proc/self/found.csv")
    assert done.returncode == 1 and done.stderr.startswith("amiss: /proc/self/found.csv: ")
    done = run(tmp_path, "find", "records.csv", *OUTPUTS, "-o", "records.csv/found.csv")
    assert done.returncode == 2 and "there is no such folder" in done.stderr


def killed(what, kills):
    done = subprocess.run(
        [sys.executable, "-m", "support.killing", what, "--kills", str(kills)],
        cwd=HERE,
        env=UNMEASURED,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("what", ["find", "save"])
def test_a_killed_run_leaves_the_old_or_the_new(what):
    assert killed(what, 12)["killed"] >= 4


@pytest.mark.long
@pytest.mark.parametrize("what", ["find", "save"])
def test_a_thousand_killed_runs(what):
    counts = killed(what, 1000)
    print(counts)
    assert counts["killed"] >= 500

"""Where results go: links, pipes, permissions, and a run that the system ends."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest
from support.tables import ENVIRONMENT, UNMEASURED, fitted, make_table

from amiss import DataError
from amiss.files import atomic_write

FIND = ("find", "records.csv", "--outputs", "tag_*", "--id", "name")


def test_a_link_is_followed(tmp_path):
    target, link, dangling = tmp_path / "v1.txt", tmp_path / "current.txt", tmp_path / "later.txt"
    target.write_bytes(b"old")
    link.symlink_to(target.name)
    dangling.symlink_to("v2.txt")
    for path in (link, dangling):
        with atomic_write(path) as stream:
            stream.write(b"new")
    assert link.is_symlink() and dangling.is_symlink()
    assert target.read_bytes() == (tmp_path / "v2.txt").read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 4


def test_permissions_stay(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"old")
    for mode in (0o600, 0o640):
        path.chmod(mode)
        with atomic_write(path) as stream:
            stream.write(b"new")
        assert stat.S_IMODE(path.stat().st_mode) == mode
    before = os.umask(0o027)
    try:
        with atomic_write(tmp_path / "new.csv"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640


def test_a_long_name(tmp_path):
    for name in ("x" * 250, "日" * 83):
        with atomic_write(tmp_path / name) as stream:
            stream.write(b"new")
        assert (tmp_path / name).read_bytes() == b"new"


def test_a_link_to_itself(tmp_path, amiss, records):
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    done = amiss(*FIND, "-o", "a.csv")
    assert done.code == 2 and "a.csv: this link points to itself" in done.err


def test_what_is_in_the_file_that_standard_output_is_stays(tmp_path, records):
    (tmp_path / "log.txt").write_text("precious\n")
    command = (
        f"{sys.executable} -c 'from amiss.cli import main; main()' find records.csv --outputs 'tag_*' --id name"
    )
    line = f"{command} -o /dev/stdout --output-format csv -q >> log.txt"
    subprocess.run(["bash", "-c", line], cwd=tmp_path, env=ENVIRONMENT, check=True)
    lines = (tmp_path / "log.txt").read_text().splitlines()
    assert lines[0] == "precious" and lines[1].startswith("rank,") and len(lines) == 122


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path, amiss, records):
    os.mkfifo(tmp_path / "pipe.csv")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe.csv").read_bytes()), daemon=True)
    reader.start()
    done = amiss(*FIND, "-o", "pipe.csv", "-q")
    reader.join(30)
    assert done.code == 0, done.err
    assert read[0].startswith(b"rank,row,line,id,score") and read[0].count(b"\n") == 121
    assert (tmp_path / "pipe.csv").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe.csv", "records.csv"]


def test_a_model_and_a_report_are_no_pipes(tmp_path, amiss, records):
    for name, command in (("m.amiss", ("fit", *FIND[1:], "-o")), ("r.html", (*FIND, "--report"))):
        os.mkfifo(tmp_path / name)
        done = amiss(*command, name)
        assert done.code == 2 and f"{name}: this is not an ordinary file" in done.err
    with pytest.raises(DataError, match="not an ordinary file"):
        fitted(*make_table(60)).save(tmp_path / "m.amiss")


def test_the_list_of_labels_is_an_input_too(tmp_path, amiss, records):
    labels = "<labels>" + "".join(f'<label name="tag_{i}"/>' for i in range(4)) + "</labels>"
    (tmp_path / "tags.xml").write_text(labels)
    options = ("--outputs", "tags.xml", "-o", "tags.xml", "--output-format", "csv")
    done = amiss("find", "records.csv", *options)
    assert done.code == 2 and "tags.xml: this is an input file" in done.err
    assert (tmp_path / "tags.xml").read_text() == labels


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM there")
@pytest.mark.parametrize("interrupts", ["SIG_DFL", "SIG_IGN"])
def test_a_run_that_the_system_ends_leaves_nothing(tmp_path, records, interrupts):
    """It comes while the list is on its way to the disk; a shell's background ignores Ctrl-C."""
    handler = "signal.default_int_handler" if interrupts == "SIG_DFL" else "signal.SIG_IGN"
    code = (
        "import os, signal, sys\n"
        f"signal.signal(signal.SIGINT, {handler})\n"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGTERM)\n"
        "from amiss.cli import main\n"
        "main()"
    )
    (tmp_path / "found.csv").write_bytes(b"old")
    done = subprocess.run(
        [sys.executable, "-c", code, *FIND, "-o", "found.csv"],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr.strip()) == (143, "amiss: stopped")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.csv", "records.csv"]
    assert (tmp_path / "found.csv").read_bytes() == b"old"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no /proc there to name an open file by")
def test_the_folder_is_synced_too(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink()))
    with atomic_write(tmp_path / "t.csv") as stream:
        stream.write(b"x")
    assert synced[-1] == tmp_path and len(synced) == 2


def test_a_quiet_fit_still_says_that_it_could_not_calibrate(tmp_path, amiss):
    X, Y = make_table(10)
    table = pd.DataFrame({"in": X[:, 0], "tag": Y[:, 0].astype(int)})
    pd.concat([table] * 6).to_csv(tmp_path / "t.csv", index=False)
    done = amiss("fit", "t.csv", "--outputs", "tag", "-o", "m.amiss", "-q")
    assert (done.code, done.out) == (0, "") and "the model is not calibrated" in done.err
    refused = amiss("score", "m.amiss", "t.csv", "--fdr", 0.1, "--against", "rows")
    assert refused.code == 2 and "the model is not calibrated" in refused.err


def test_the_demo_writes_its_table_whole_or_not_at_all(tmp_path):
    (tmp_path / "digits.csv").write_bytes(b"old")
    limited = f"ulimit -f 100; exec {sys.executable} -c 'from amiss.cli import main; main()' demo --save ."
    done = subprocess.run(
        ["bash", "-c", limited], cwd=tmp_path, env=UNMEASURED, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stderr == "amiss: digits.csv: File too large\n"
    assert (tmp_path / "digits.csv").read_bytes() == b"old"

"""Ctrl-C ends a long fit at the next block of work, not at the end of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest

PROGRAM = textwrap.dedent(
    """
    import sys
    import numpy as np
    from amiss import rows
    from amiss.detector import MCODE

    walks, plain = 0, rows.SharedRows.there_and_back

    def counted(self, *arguments):
        global walks
        walks += 1
        if walks == 5:
            print("working", flush=True)
        return plain(self, *arguments)

    rows.SharedRows.there_and_back = counted
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20000, 150))
    Y = (X[:, :60] + rng.normal(size=(20000, 60)) > 0).astype(float)
    try:
        MCODE().fit(X, Y)
    except KeyboardInterrupt:
        print(walks, flush=True)
        sys.exit(130)
    """
)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT there")
def test_an_interrupted_fit_stops_within_a_few_products():
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "working\n"
        process.send_signal(signal.SIGINT)
        walks = int(process.stdout.readline())
        assert process.wait() == 130
    assert walks < 30  # of several hundred in the whole fit, each a few hundredths of a second

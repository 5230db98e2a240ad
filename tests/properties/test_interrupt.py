"""Ctrl-C ends a long fit at the next block of work, not at the end of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from amiss.threads import workers

PROGRAM = textwrap.dedent(
    """
    import signal
    import sys
    import numpy as np
    from amiss.models.logistic.blocks import DenseBlocks
    from amiss.detector import MCODE

    walks, plain = 0, DenseBlocks.products

    def counted(self, *arguments):
        global walks
        walks += 1
        if walks == 5:
            print("working", flush=True)
        return plain(self, *arguments)

    DenseBlocks.products = counted
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever started the tests may ignore it
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


@pytest.fixture
def usual_handler():
    """Whatever started the tests may have told them to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_is_raised_where_no_lock_is_held(usual_handler):
    done = []

    def work(item):
        if item == 3:
            interrupt()
            time.sleep(0.05)  # the main thread takes note
        done.append(item)

    with pytest.raises(KeyboardInterrupt), workers(1) as ours:
        ours.each(work, range(100))
    assert 3 in done and len(done) < 100
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_at_any_moment_ends_the_work(usual_handler):
    """Sent while work is being handed out, over and over; a pool whose lock is lost would hang here."""
    for delay in np.linspace(0, 0.004, 120):
        sender = threading.Timer(delay, interrupt)
        with pytest.raises(KeyboardInterrupt), workers(2) as ours:
            sender.start()
            for _ in range(100_000):
                ours.each(lambda item: None, range(8))
        sender.join()


def test_a_handler_of_the_user_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with workers(2) as ours:
            ours.each(lambda item: interrupt() if item == 0 else None, range(4))
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]


def test_other_threads_have_workers_too():
    done = []
    thread = threading.Thread(target=lambda: [each(done.append, range(3)) for each in _each()])
    thread.start()
    thread.join()
    assert sorted(done) == [0, 1, 2]


def _each():
    with workers(2) as ours:
        yield ours.each

"""A limit on the processor's time, which other work on the machine does not use up."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise a :class:`TimeoutError` inside when it is up; however it ends, no clock is left running."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s of the processor's time")

    before = signal.signal(signal.SIGPROF, too_long)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

"""How far a long computation is: a bar on standard error, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

DELAY = 0.5  # seconds before a bar appears: short work needs none


class Progress(Protocol):
    """Told how many more steps are done."""

    def __call__(self, steps: int = 1, /) -> None: ...


class Stages(Protocol):
    """Opens a stage of ``total`` steps and gives what to tell of each."""

    def __call__(self, label: str, total: int) -> AbstractContextManager[Progress]: ...


def ignored(steps: int = 1, /) -> None:
    """Progress that nobody is told of."""


@contextmanager
def silent(label: str, total: int) -> Iterator[Progress]:
    """No progress is shown."""
    yield ignored


@contextmanager
def bar(label: str, total: int) -> Iterator[Progress]:
    """A bar on standard error that says how much time is left, and leaves no trace."""
    from tqdm import tqdm

    with tqdm(total=total, desc=label, file=sys.stderr, leave=False, delay=DELAY) as shown:

        def advance(steps: int = 1) -> None:
            shown.update(steps)

        yield advance


def stages(verbose: bool | int) -> Stages:
    """The bar if ``verbose``, else silence."""
    return bar if verbose else silent

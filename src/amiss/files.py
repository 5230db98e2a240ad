"""Files that are written whole or not at all, in places known to be good before any work is done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from amiss.errors import DataError


def refuse_bad_place(path: Path, inputs: tuple[str, ...] = ()) -> None:
    """Find out now, and not after an hour of work, that it cannot be written."""
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; name a file in it")
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path}: there is no such folder; make it first")
    if any(each != "-" and Path(each).resolve() == path.resolve() for each in inputs):
        raise DataError(f"{path}: this is an input file; choose another name")
    handle, temporary = _temporary(path)
    os.close(handle)
    Path(temporary).unlink()


def _temporary(path: Path) -> tuple[int, str]:
    try:
        return tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside ``path`` that takes its name once everything is on the disk."""
    handle, temporary = _temporary(path)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Files that are written whole or not at all, in places known to be good before any work is done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    with _named(path):
        return tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """What the system refuses is said of ``path``, not of a temporary file, nor of no file at all."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def whole_or_nothing(path: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """A temporary file beside ``path`` that takes its name once everything is on the disk.

    ``mode`` are its permissions, by default what any new file would have.
    """
    handle, temporary = _temporary(path)
    try:
        with _named(path):
            os.close(handle)
            with Path(temporary).open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o666 & ~_umask() if mode is None else mode)
            Path(temporary).replace(path)
            _sync_folder(path.absolute().parent)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """The new name is on the disk too; where a system cannot do that, it does so in its own time."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Files that are written whole or not at all, in places known to be good before any work is done."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from amiss.errors import DataError


def check_writable(path: Path, inputs: tuple[str, ...] = (), pipes: bool = False) -> None:
    """Find out now, and not after an hour of work, that it cannot be written.

    ``pipes`` says whether pipes and devices will do, into which one can only write, and not whole or not at all.
    """
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; name a file in it")
    if is_special(path):
        if not pipes:
            raise DataError(f"{path}: this is not an ordinary file; choose another name")
        return
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path}: there is no such folder; make it first")
    if path.is_symlink() and os.path.realpath(path) == str(path.absolute()):
        raise DataError(f"{path}: this link leads back to itself; choose another name")
    if any(each != "-" and os.path.realpath(each) == os.path.realpath(path) for each in inputs):
        raise DataError(f"{path}: this is an input file; choose another name")
    handle, temporary = _temporary(path)
    os.close(handle)
    Path(temporary).unlink()


def is_special(path: Path) -> bool:
    """A pipe, a terminal, a device, a file that is open already: nothing that may be replaced by a file."""
    is_open = str(path.absolute()).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    return path.exists() and (is_open or not path.is_file())


def _temporary(path: Path) -> tuple[int, str]:
    target = Path(os.path.realpath(path))
    with _named(path):
        return tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")


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
def atomic_write(path: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """A temporary file beside ``path`` that takes its name once everything is on the disk.

    ``mode`` are its permissions, by default those of the file it replaces, or what any new file would have.
    A link is followed. Into a pipe or a device it is written as it comes.
    """
    if is_special(path):
        with _named(path), path.open("ab") as stream:  # what is there already stays
            yield stream
        return
    target = Path(os.path.realpath(path))
    mode = _usual_mode(target) if mode is None else mode
    handle, temporary = _temporary(path)
    try:
        with _named(path):
            os.close(handle)
            with Path(temporary).open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(mode)
            Path(temporary).replace(target)
            _sync_folder(target.parent)
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


def _usual_mode(path: Path) -> int:
    """A list that only its owner could read stays so."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

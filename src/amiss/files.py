"""Atomic writing: a file is written completely or not at all.

Whether a file can be written is checked before the work begins that produces it.
"""

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
    """Refuse a path that cannot be written, now rather than after an hour of work.

    ``inputs`` are files that must not be overwritten. ``pipes`` says whether pipes and devices are allowed;
    they cannot be written atomically.
    """
    if path.is_dir():
        raise DataError(f"{path}: this is a folder; give a file in it")
    if is_special(path):
        if not pipes:
            raise DataError(f"{path}: this is not an ordinary file; choose another name")
        return
    if not path.absolute().parent.is_dir():
        raise DataError(f"{path}: there is no such folder; create it first")
    if path.is_symlink() and os.path.realpath(path) == str(path.absolute()):
        raise DataError(f"{path}: this link points to itself; choose another name")
    if any(each != "-" and os.path.realpath(each) == os.path.realpath(path) for each in inputs):
        raise DataError(f"{path}: this is an input file; choose another name")
    handle, temporary = _temporary(path)
    os.close(handle)
    Path(temporary).unlink()


def is_special(path: Path) -> bool:
    """Whether this is a pipe, a terminal, a device or an open file, which must not be replaced by a new file."""
    is_open = str(path.absolute()).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    return path.exists() and (is_open or not path.is_file())


def _temporary(path: Path) -> tuple[int, str]:
    target = Path(os.path.realpath(path))
    with _named(path):
        return tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}.")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An error of the system names ``path``, and not a temporary file or no file at all."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def atomic_write(path: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """A temporary file next to ``path`` that is renamed to ``path`` once everything is on the disk.

    ``mode`` are its permissions, by default those of the file it replaces or those of any new file. Symbolic
    links are followed. Pipes and devices are written directly.
    """
    if is_special(path):
        with _named(path), path.open("ab") as stream:  # appends, in case it is an open file
            yield stream
        return
    target = Path(os.path.realpath(path))
    mode = _default_mode(target) if mode is None else mode
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
    """Make sure that the new name is on the disk too, on systems that can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _default_mode(path: Path) -> int:
    """The permissions of the file there, so that a private file stays private; else those of a new file."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

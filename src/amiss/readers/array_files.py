"""Plain arrays from NumPy's files: a single array (npy), or an archive of several (npz).

A file is not trusted. Pickled objects are never loaded, a header must not announce more data than there is, and an
archive that unpacks to far more than its size is refused.
"""

from __future__ import annotations

import errno
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from amiss.errors import DataError
from amiss.readers.source import BOMB, Source, is_decompression_bomb

NOT_OURS = (
    *(ValueError, TypeError, KeyError, AttributeError, EOFError, RuntimeError, OverflowError),
    *(zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError),
)
HEADERS = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
NUMBERS = "fiub"  # kinds of dtypes that hold numbers

Array = npt.NDArray[Any]


class Archive:
    """The arrays of an open npz file, by name; each is read when it is asked for."""

    def __init__(self, source: Source, archive: zipfile.ZipFile, size: int) -> None:
        self._source, self._archive, self._size = source, archive, size
        self._members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    def matrices(self) -> list[str]:
        """The names of all matrices of numbers; only their headers are read."""
        return [name for name in self._members if self._is_matrix(name)]

    def read(self, names: Collection[str]) -> dict[str, Array]:
        """Those of these arrays that exist. Sizes are checked before any array is read."""
        wanted = {name: member for name, member in self._members.items() if name in names}
        packed = min(self._size, sum(member.compress_size for member in wanted.values()))
        if is_decompression_bomb(sum(member.file_size for member in wanted.values()), packed):
            self._source.refuse(BOMB)
        return {name: self._array(member) for name, member in wanted.items()}

    def _is_matrix(self, name: str) -> bool:
        try:
            with self._archive.open(self._members[name]) as stream:
                shape, dtype = _announced(stream)
        except NOT_OURS:  # a member that is no array is not for us
            return False
        return len(shape) == 2 and dtype.kind in NUMBERS

    def _array(self, member: zipfile.ZipInfo) -> Array:
        with self._archive.open(member) as stream:
            _refuse_missing_data(stream, member.file_size)
        with self._archive.open(member) as stream:  # again, because a stream that jumps back checks no checksum
            return _plain_array(stream)


@contextmanager
def open_archive(source: Source, advice: str) -> Iterator[Archive]:
    """The archive in a file; what is not one is refused with ``advice`` on how to write one."""
    problem = f"this is not an npz file of plain arrays; {advice}"
    with source.open_seekable() as stream, _refusing(source, problem), zipfile.ZipFile(stream) as archive:
        yield Archive(source, archive, _size(stream))


def read_array(source: Source, advice: str) -> Array:
    """The array in an npy file; what is not one is refused with ``advice`` on how to write one."""
    with source.open_seekable() as stream, _refusing(source, f"this is not an npy file of numbers; {advice}"):
        _refuse_missing_data(stream, _size(stream))
        stream.seek(0)
        return _plain_array(stream)


def is_matrix_of_numbers(array: Array) -> bool:
    return array.ndim == 2 and array.dtype.kind in NUMBERS


def texts(array: Array) -> list[str]:
    """The entries of an array of names or ids, as texts.

    >>> texts(np.array([7, 8])), texts(np.array([b"a"]))
    (['7', '8'], ['a'])
    """
    return [each.decode(errors="replace") if isinstance(each, bytes) else str(each) for each in np.ravel(array)]


@contextmanager
def _refusing(source: Source, problem: str) -> Iterator[None]:
    """Whatever NumPy and zipfile raise at a damaged or hostile file becomes one refusal."""
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # the disk's fault; a wrong offset is the file's
            raise
        source.refuse(problem)
    except NOT_OURS:
        source.refuse(problem)


def _size(stream: IO[bytes]) -> int:
    """The length of a file, from whose beginning it is then read."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    return size


def _announced(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the dtype in the header of an array."""
    try:
        major, _ = np.lib.format.read_magic(stream)
        shape, _, dtype = HEADERS[major](stream)
    except OSError:
        raise
    except Exception:  # a header is a Python literal, so a damaged one raises whatever Python's parser does
        raise ValueError("the header is damaged") from None
    return shape, dtype


def _refuse_missing_data(stream: IO[bytes], size: int) -> None:
    shape, dtype = _announced(stream)
    if min(shape, default=0) < 0 or math.prod(shape) * max(1, dtype.itemsize) > size:
        raise ValueError("the header announces more data than there is")


def _plain_array(stream: IO[bytes]) -> Array:
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))

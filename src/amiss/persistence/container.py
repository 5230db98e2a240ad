"""Model files: arrays in the safetensors format, and JSON that says what they are. Never a pickle.

A file is looked at from the outside in, and refused at the first thing that is wrong, before more of it is
read: its kind and the length of its header; the SHA-256 of everything in it, which an altered or cut-off
file does not have; the places and sizes of its arrays, which must fill the file exactly, so that nothing
larger than the file is ever allocated; its format number. The checksum guards against accidents. Against a
file made by a stranger there is nothing in it to execute, and what reads it takes no array or name that does
not fit the others.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
import numpy.typing as npt

from amiss.errors import DataError
from amiss.files import atomic_write, is_special

FORMAT = 5
MODE = 0o600  # a model may hold data
LONGEST_HEADER = 32 << 20
MOST_NESTED = 250_000  # lists and objects in the header: empty ones take far more memory than room
CHUNK = 1 << 20
DIGEST = re.compile(rb'\\"sha256\\": \\"([0-9a-f]{64})\\"')  # in JSON that is a text within JSON
UNSIGNED = "0" * 64

Arrays = dict[str, npt.NDArray[Any]]


def write(path: Path, description: dict[str, Any], arrays: Arrays, check: Callable[[Path], object]) -> None:
    """Write a model file atomically: it takes its name once ``check`` has read it back."""
    from safetensors.numpy import save

    if is_special(path):
        raise DataError(f"{path}: this is not an ordinary file; choose another name")
    description = {"format": FORMAT, "sha256": UNSIGNED, **description}
    text = json.dumps(description, ensure_ascii=True, allow_nan=False)
    # safetensors writes the bytes of a Fortran-ordered array as if it were not.
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    content = bytearray(save(plain, metadata={"amiss": text}))  # of two entries the order would be random
    header_end = 8 + int.from_bytes(content[:8], "little")
    if header_end > LONGEST_HEADER:
        raise DataError(f"{path}: the names of columns and categories are too many for a model file")
    place = DIGEST.search(content, 8, header_end)
    assert place is not None
    content[place.start(1) : place.end(1)] = hashlib.sha256(content).hexdigest().encode()
    with atomic_write(path, MODE) as stream:
        stream.write(content)
        stream.flush()
        try:
            check(Path(stream.name))
        except DataError:
            raise DataError(f"{path}: what was written does not load again; nothing was kept") from None


@contextmanager
def opened(path: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    """The description in a model file, and the file as safetensors opens it, from which arrays are taken."""
    try:
        with path.open("rb") as stream:
            checked = os.fstat(stream.fileno())
            _check(stream, path, checked.st_size)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder; name a model file") from None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            if not _same(checked, path.stat()):
                raise DataError(f"{path}: the file was changed while it was read; try again")
            yield _description(file.metadata(), path), file
    except SafetensorError:
        refuse(path)


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    """Whether it is still the file that was checked."""
    fields = ("st_dev", "st_ino", "st_size", "st_mtime_ns")
    return all(getattr(one, each) == getattr(other, each) for each in fields)


def refuse(path: Path) -> NoReturn:
    """One line for everything that is wrong inside a file: nobody can mend it by hand."""
    raise DataError(f"{path}: the model file is damaged or altered; save the model again") from None


def _check(stream: IO[bytes], path: Path, size: int) -> None:
    """Refuse what is no model file, and what is not as it was written."""
    start = stream.read(8)
    length = int.from_bytes(start, "little")
    if len(start) < 8 or length > min(LONGEST_HEADER, max(size - 8, 0)) or stream.peek(1)[:1] != b"{":  # type: ignore[attr-defined]
        raise DataError(f"{path}: this is not a model file of amiss (pickles and archives are never opened)")
    header = stream.read(length)
    if header.count(b"[") + header.count(b"{") > MOST_NESTED:
        refuse(path)
    signed = DIGEST.findall(header)
    if len(signed) != 1:
        raise DataError(f"{path}: this is a safetensors file, but not a model file of amiss")
    digest = hashlib.sha256(start + header.replace(signed[0], UNSIGNED.encode()))
    while chunk := stream.read(CHUNK):
        digest.update(chunk)
    if digest.hexdigest().encode() != signed[0]:
        refuse(path)


def _description(metadata: Any, path: Path) -> dict[str, Any]:
    try:
        description = json.loads(metadata["amiss"])
        number = description["format"]
    except (KeyError, TypeError, ValueError, RecursionError):
        refuse(path)
    if not isinstance(description, dict) or type(number) is not int or number < 1:
        refuse(path)
    if number > FORMAT:
        raise DataError(
            f"{path}: the model was saved by a later amiss (format {number}, this one reads up to {FORMAT}); "
            "upgrade amiss"
        )
    return description

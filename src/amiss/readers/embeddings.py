"""Inputs that stand beside a table in NumPy files: embeddings of pictures or texts, say.

An npy file holds a matrix of numbers. An npz file holds one called ``X`` or ``embeddings`` (or anything else, if
it is the only matrix of numbers) and optionally ``ids``, one per row, and ``input_names``, one per column. Without
names the columns are called e0, e1 and so on.

Single precision stays single, because embeddings are wide and half the memory counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from amiss.arrays import Matrix
from amiss.data.table import Table
from amiss.errors import refuse_duplicates
from amiss.readers.array_files import Archive, Array, is_matrix_of_numbers, open_archive, read_array, texts
from amiss.readers.part import Part
from amiss.readers.select import Roles
from amiss.readers.source import Source

NAMES_OF_MATRIX = ("X", "embeddings")
EXACT_IN_SINGLE = 1 << 24  # up to this, every whole number is a float32
ADVICE = {".npy": "write it with numpy.save(file, X)", ".npz": "write it with numpy.savez(file, X=…, ids=…)"}


def read_embedding(source: Source) -> Part:
    """The matrix of one file, and the ids of its rows if it has them."""
    if source.suffix not in ADVICE:
        source.refuse("inputs beside a table are read from a .npy or .npz file; save them as one of these")
    arrays = _archived(source) if source.suffix == ".npz" else {"X": read_array(source, ADVICE[".npy"])}
    matrix = arrays["X"]
    if not is_matrix_of_numbers(matrix):
        source.refuse("this must be a matrix of numbers, one row per row of the table")
    if 0 in matrix.shape:
        source.refuse("the matrix is empty")
    table = Table(as_floats(matrix), _names(arrays, matrix.shape[1], source))
    ids = arrays.get("ids")
    if ids is not None and ids.shape != matrix.shape[:1]:
        source.refuse("ids must hold one entry per row")
    roles = Roles(kept=[*range(matrix.shape[1])], outputs=frozenset(), id=None, pictures=None)
    return Part.of(source, table, roles, None, None if ids is None else texts(ids))


def as_floats(matrix: Array) -> Matrix:
    """Numbers in single precision if the file has no more, or if they are whole numbers that it holds exactly.

    >>> [as_floats(np.ones((1, 1), dtype)).dtype.name for dtype in ("float16", "float32", "float64", "int8")]
    ['float32', 'float32', 'float64', 'float32']
    >>> as_floats(np.array([[2**24 + 1]])).dtype.name
    'float64'
    """
    if matrix.dtype.kind == "f":
        single = matrix.dtype.itemsize <= 4
    else:
        single = max(-int(matrix.min()), int(matrix.max())) <= EXACT_IN_SINGLE
    with np.errstate(over="ignore", invalid="ignore"):  # too large: infinite, and refused; a signalling NaN: NaN
        return np.asarray(matrix, dtype=np.float32 if single else np.float64)


def _archived(source: Source) -> dict[str, Array]:
    """The arrays of an npz file; the matrix is called X, whatever its name there is."""
    with open_archive(source, ADVICE[".npz"]) as archive:
        name = _name_of_matrix(archive, source)
        arrays = archive.read({name, "ids", "input_names"})
    return {"X": arrays.pop(name), **arrays}


def _name_of_matrix(archive: Archive, source: Source) -> str:
    found: Sequence[str] = [name for name in NAMES_OF_MATRIX if name in archive.names] or archive.matrices()
    if len(found) != 1:
        n_found = f"there are {len(found)} matrices of numbers" if found else "there is no matrix of numbers"
        source.refuse(f"{n_found}; the file needs one, called X or embeddings")
    return found[0]


def _names(arrays: dict[str, Array], n_columns: int, source: Source) -> tuple[str, ...]:
    if "input_names" not in arrays:
        return tuple(f"e{position}" for position in range(n_columns))
    names = tuple(texts(arrays["input_names"]))
    if len(names) != n_columns:
        source.refuse(f"input_names has {len(names)} names, but there are {n_columns} columns")
    refuse_duplicates(names, where=f"{source.name}: ")
    return names

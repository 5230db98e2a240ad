"""NumPy archives with ``X`` and ``Y``, and optionally ``input_names``, ``output_names``, ``ids``, ``pictures``.

A sparse matrix M is stored as the arrays of its CSR form: ``M_data``, ``M_indices``, ``M_indptr`` and
``M_shape``. Pickled objects are never loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Matrix, checked_csr_array
from amiss.data.table import Table
from amiss.readers.array_files import is_matrix_of_numbers, open_archive, texts
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source

CSR_FIELDS = ("data", "indices", "indptr", "shape")
KNOWN = {"X", "Y", *(f"{name}_{field}" for name in "XY" for field in CSR_FIELDS)}
KNOWN |= {"input_names", "output_names", "ids", "pictures"}
ADVICE = "write it with numpy.savez(file, X=…, Y=…)"


def read_npz(source: Source, selection: Selection) -> Part:
    """The selected columns of one archive; by default, the outputs are the columns of Y."""
    if selection.id is not None or selection.pictures is not None or selection.categorical:
        source.refuse(
            "an npz file has its ids and pictures in arrays called `ids` and `pictures`, and no categories; "
            "leave these options out"
        )
    with open_archive(source, ADVICE) as archive:
        arrays = archive.read(KNOWN)
    Y = _matrix(arrays, "Y", source)
    nothing = selection.inputs_elsewhere and not any(name == "X" or name.startswith("X_") for name in arrays)
    X = np.empty((Y.shape[0], 0)) if nothing else _matrix(arrays, "X", source)
    if X.shape[0] != Y.shape[0]:
        source.refuse(f"X has {X.shape[0]} rows but Y has {Y.shape[0]}; they must be the same rows")
    names = _names(arrays, "input_names", "x", X.shape[1], source)
    known = _names(arrays, "output_names", "y", Y.shape[1], source)
    roles = selection.roles([*names, *known], source, known=known)
    if sparse.issparse(X) or sparse.issparse(Y):
        both = sparse.csr_array(sparse.hstack([sparse.csr_array(X), sparse.csr_array(Y)], format="csr"))
    else:
        both = np.hstack([X, Y])
    ids = arrays.get("ids")
    if ids is not None and ids.shape != (X.shape[0],):
        source.refuse("ids must hold one entry per row")
    table = Table(both, (*names, *known)).select(roles.kept)
    row_ids = None if ids is None else texts(ids)
    pictures: Any = arrays.get("pictures")
    if pictures is not None and not (
        pictures.shape[:1] == X.shape[:1]
        and (pictures.ndim == 3 or (pictures.ndim == 4 and pictures.shape[3] in (3, 4)))
    ):
        source.refuse("pictures must be an array of shape (rows, height, width) or (rows, height, width, 3 or 4)")
    return Part.of(source, table, roles, None, row_ids, pictures)


NPZ = Format("npz", (".npz",), "a NumPy archive with arrays X and Y", read_npz)


def _matrix(arrays: dict[str, Any], name: str, source: Source) -> Matrix:
    if name in arrays:
        matrix = arrays[name]
        if not is_matrix_of_numbers(matrix):
            source.refuse(f"{name} must be a matrix of numbers")
        return np.asarray(matrix, dtype=np.float64)
    if not all(f"{name}_{field}" in arrays for field in CSR_FIELDS):
        source.refuse(f"there is no array {name}; {ADVICE}")
    data, indices, indptr, shape = (arrays[f"{name}_{field}"] for field in CSR_FIELDS)
    try:
        matrix = checked_csr_array(data.astype(float), indices, indptr, tuple(map(int, shape)))
    except (ValueError, TypeError, IndexError):
        source.refuse(f"{name}_data, {name}_indices, {name}_indptr and {name}_shape do not form a CSR matrix")
    matrix.sum_duplicates()
    return matrix


def _names(arrays: dict[str, Any], field: str, prefix: str, count: int, source: Source) -> list[str]:
    if field not in arrays:
        return [f"{prefix}{position}" for position in range(count)]
    names = texts(arrays[field])
    if len(names) != count:
        source.refuse(f"{field} has {len(names)} names, but there are {count} columns")
    return names

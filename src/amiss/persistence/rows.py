"""The rows of a fit: encoded inputs, outputs, fingerprints, places and groups."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, Rows, checked_csr_array
from amiss.data.columns import Columns
from amiss.data.fingerprints import Fingerprints
from amiss.encoding.encoder import Encoder
from amiss.models.conditional import FoldModels
from amiss.models.fitting import TrainingRows
from amiss.persistence.fields import Arrays, Fields, InvalidField
from amiss.persistence.layout import unpack_values

MISSING_OUTPUT = 2  # beside 0 and 1
LARGEST_INT32 = 2**31 - 1


def pack_rows(rows: TrainingRows, *, of_kinds: bool) -> Arrays:
    """``of_kinds`` says that outputs are of several kinds; otherwise they are 0 and 1, which take less room."""
    marks = rows.Y if of_kinds else np.where(np.isnan(rows.Y), MISSING_OUTPUT, rows.Y).astype(np.uint8)
    return {
        "rows.fingerprints": rows.fingerprints,
        "rows.Y": marks,
        "rows.place": rows.place.astype(np.int64),
        **_pack_design(rows.design),
        **({} if rows.groups is None else {"rows.groups": rows.groups.astype(np.int64)}),
    }


def unpack_rows(
    fields: Fields,
    encoder: Encoder,
    columns: Columns,
    fold_models: FoldModels | None,
    inputs_fold_models: FoldModels | None,
) -> TrainingRows:
    fingerprints = unpack_fingerprints(fields)
    n_rows = len(fingerprints)
    place = fields.array("rows.place", "I64", n_rows)
    if not np.array_equal(np.sort(place), np.arange(n_rows)):
        raise InvalidField("rows")
    return TrainingRows(
        design=unpack_design(fields, encoder, n_rows),
        Y=_unpack_outputs(fields, n_rows, columns),
        place=place.astype(np.intp),
        fingerprints=fingerprints,
        fold_models=fold_models,
        inputs_fold_models=inputs_fold_models,
        groups=_unpack_groups(fields, n_rows),
    )


def _unpack_outputs(fields: Fields, n_rows: int, columns: Columns) -> Floats:
    if columns.kinds:
        return unpack_values("rows.Y", fields, n_rows, columns.kinds)
    marks = fields.array("rows.Y", "U8", n_rows, len(columns.outputs))
    if (marks > MISSING_OUTPUT).any():
        raise InvalidField("rows")
    return np.where(marks == MISSING_OUTPUT, np.nan, marks)


def unpack_fingerprints(fields: Fields) -> Fingerprints:
    fingerprints = fields.array("rows.fingerprints", "U64", None)
    if not len(fingerprints) or (fingerprints[1:] < fingerprints[:-1]).any():
        raise InvalidField("fingerprints")
    return fingerprints


def _unpack_groups(fields: Fields, n_rows: int) -> Rows | None:
    if not fields.has("rows.groups"):
        return None
    groups = fields.array("rows.groups", "I64", n_rows)
    if ((groups < 0) | (groups >= n_rows)).any():
        raise InvalidField("groups")
    return groups.astype(np.intp)


def _pack_design(design: Matrix) -> Arrays:
    if not sparse.issparse(design):
        return {"rows.design": design}
    number = np.int32 if design.nnz <= LARGEST_INT32 else np.int64
    return {
        "rows.design.data": design.data,
        "rows.design.indices": design.indices.astype(number),
        "rows.design.indptr": design.indptr.astype(number),
    }


def unpack_design(fields: Fields, encoder: Encoder, n_rows: int) -> Matrix:
    if not encoder.stored_sparse:
        precision = "F32" if fields.is_single("rows.design") else "F64"
        return fields.array("rows.design", precision, n_rows, encoder.n_columns)
    data = fields.floats("rows.design.data", None)
    wide = "I32" if len(data) <= LARGEST_INT32 else "I64"
    indices = fields.array("rows.design.indices", wide, len(data))
    indptr = fields.array("rows.design.indptr", wide, n_rows + 1)
    return checked_csr_array(data, indices, indptr, (n_rows, encoder.n_columns))

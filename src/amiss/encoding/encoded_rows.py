"""New rows as a fit sees them: encoded, with the fingerprints by which rows of the fit are recognised."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from amiss.arrays import Floats, Matrix
from amiss.data.fingerprints import Fingerprints, row_fingerprints
from amiss.data.output_kinds import NewLevels
from amiss.data.table import Table
from amiss.encoding.encoder import Encoder
from amiss.wording import count

UNSEEN_LEVEL = np.uint64(0x9E3779B97F4A7C15)  # turns a fingerprint into one that no row of the fit has


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Rows with the columns of the fit: as they came, as the models see them, and their fingerprints.

    ``expanded`` are the encoded columns before they are scaled to the ``design``. ``new_levels`` are those
    of outputs that the fit had not.
    """

    inputs: Table
    expanded: Matrix
    design: Matrix
    Y: Floats
    fingerprints: Fingerprints
    new_levels: NewLevels = field(default_factory=dict)

    @classmethod
    def of(cls, encoder: Encoder, inputs: Table, outputs: Table, seed: int) -> EncodedRows:
        fingerprints = fingerprints_by_fit(encoder, inputs, outputs, seed)
        expanded = encoder.expanded(inputs)
        design, Y = encoder.scaled(expanded), np.asarray(outputs.values)
        return cls(inputs, expanded, design, Y, fingerprints, outputs.new_levels)

    def __len__(self) -> int:
        return len(self.Y)

    def __repr__(self) -> str:
        columns = f"{count(self.design.shape[1], 'encoded column')}, {count(self.Y.shape[1], 'output')}"
        return f"<EncodedRows: {count(len(self), 'row')}, {columns}>"


def fingerprints_by_fit(encoder: Encoder, inputs: Table, outputs: Table, seed: int) -> Fingerprints:
    """Fingerprints of rows, with categories numbered as in the fit; a row with an unseen category matches none."""
    known = encoder.matched(inputs)
    found = row_fingerprints(known.values, outputs.values, seed)
    unseen = np.zeros(len(found), dtype=bool)
    for column in known.levels:  # a category never seen is not a missing one
        unseen |= np.isnan(known.column(column)) & ~np.isnan(inputs.column(column))
    return np.where(unseen, found ^ UNSEEN_LEVEL, found)

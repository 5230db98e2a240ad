"""What is read from one file, and how the rows of several files become one dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from amiss.arrays import Rows
from amiss.data.alignment import missing_and_extra
from amiss.data.dataset import Dataset
from amiss.data.table import Origin, Table
from amiss.errors import DataError, quoted, quoted_list
from amiss.readers.select import Roles
from amiss.readers.source import Source

Texts = Literal["cells", "strings", "levels"]
"""Cells of a file that knows nothing but texts, strings beside numbers, or levels that the file declares."""


@dataclass(frozen=True)
class Part:
    """The selected columns of one file, with the names of its outputs, and its ids and pictures.

    If it ``may_omit_columns`` (svmlight), a column that it does not mention is zero in all of its rows. If its
    ``ids_found``, nobody asked for them. ``notes`` say how the file was read, where that needs saying. ``texts``
    says what its categories are before anybody looks at them, and ``decimal_comma`` that numbers have one.
    With ``thousands_points``, a point may stand between thousands; ``decimals`` are the marks that columns of
    numbers show. ``typed_numbers`` are the texts of cells that are numbers in the file, by column.
    """

    source: Source
    table: Table
    outputs: frozenset[str]
    ids: list[str] | None = None
    pictures: Sequence[Any] | None = None
    may_omit_columns: bool = False
    ids_found: bool = False
    notes: tuple[str, ...] = ()
    texts: Texts = "cells"
    decimal_comma: bool = False
    thousands_points: bool = False
    decimals: frozenset[str] = frozenset()
    typed_numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        source: Source,
        table: Table,
        roles: Roles,
        lines: Rows | None,
        ids: list[str] | None = None,
        pictures: Sequence[Any] | None = None,
    ) -> Part:
        """``lines`` are the line numbers of the rows; None for files without lines."""
        if len(table) == 0:
            source.refuse("there are column names but no rows")
        numbers, unit = (np.arange(1, len(table) + 1), "row") if lines is None else (lines, source.unit)
        origin = Origin((source.name,), np.zeros(len(table), dtype=np.intp), numbers, (unit,))
        return cls(source, replace(table, origin=origin), roles.outputs, ids, pictures)

    def split(self) -> Dataset:
        """Inputs and outputs, whose values nobody has checked yet; there may be no inputs."""
        names = self.table.names
        inputs = [column for column, name in enumerate(names) if name not in self.outputs]
        outputs = [column for column, name in enumerate(names) if name in self.outputs]
        ids = None if self.ids is None else tuple(self.ids)
        pictures = None if self.pictures is None else tuple(self.pictures)
        return Dataset(self.table.select(inputs), self.table.select(outputs), ids, pictures, notes=self.notes)


def concatenated(parts: Sequence[Part], like: tuple[Sequence[str], Sequence[str]] | None = None) -> Part:
    """One part with the rows of all parts, whose columns are matched by name.

    ``like`` are inputs and outputs of another table. Parts that may omit columns get those they do not mention.
    """
    names, outputs = _all_columns(parts, *(like or ((), ())))
    parts = [_aligned(part, names, outputs, parts[0]) for part in parts]
    levels = _common_levels(parts)
    matrices = [part.table.with_levels(levels).values for part in parts]
    if len(matrices) == 1:
        values = matrices[0]
    elif any(sparse.issparse(matrix) for matrix in matrices):
        values = sparse.csr_array(sparse.vstack([sparse.csr_array(m) for m in matrices], format="csr"))
    else:
        values = np.vstack(matrices)
    table = Table(values, names, levels, _joined_origins(parts))
    pictures = None
    if all(part.pictures is not None for part in parts):
        pictures = [picture for part in parts if part.pictures is not None for picture in part.pictures]
    return replace(
        parts[0],
        table=table,
        ids=_joined_ids(parts),
        pictures=pictures,
        notes=_joined_notes(parts),
        thousands_points=any(part.thousands_points for part in parts),
        decimals=frozenset().union(*(part.decimals for part in parts)),
        typed_numbers={
            name: frozenset().union(*(part.typed_numbers.get(name, ()) for part in parts)) for name in names
        },
    )


def _joined_notes(parts: Sequence[Part]) -> tuple[str, ...]:
    if len(parts) == 1:
        return parts[0].notes
    return tuple(f"{part.source.name}: {note}" for part in parts for note in part.notes)


def _joined_ids(parts: Sequence[Part]) -> list[str] | None:
    if all(part.ids is None or part.ids_found for part in parts) and any(part.ids is None for part in parts):
        return None
    without = [part for part in parts if part.ids is None]
    if 0 < len(without) < len(parts):
        without[0].source.refuse("there are no ids here, but in another file; give ids in all files or in none")
    return None if without else [row_id for part in parts for row_id in part.ids or []]


def _all_columns(
    parts: Sequence[Part], more_inputs: Sequence[str], more_outputs: Sequence[str]
) -> tuple[tuple[str, ...], frozenset[str]]:
    if not all(part.may_omit_columns for part in parts):
        return parts[0].table.names, parts[0].outputs
    outputs = frozenset(more_outputs).union(*(part.outputs for part in parts))
    mentioned = (name for part in parts for name in part.table.names)
    return tuple(dict.fromkeys([*mentioned, *more_inputs, *more_outputs])), outputs


def _aligned(part: Part, names: tuple[str, ...], outputs: frozenset[str], first: Part) -> Part:
    table = part.table
    if part.may_omit_columns:
        missing, _ = missing_and_extra(table.names, names)
        empty = sparse.csr_array((len(table), len(missing)))
        wider = sparse.csr_array(sparse.hstack([sparse.csr_array(table.values), empty], format="csr"))
        table = replace(table, values=wider, names=table.names + tuple(missing))
    missing, extra = missing_and_extra(table.names, names)
    if missing:
        part.source.refuse(f"column {quoted_list(missing)} of {first.source.name} is missing here")
    if extra:
        part.source.refuse(f"column {quoted_list(extra)} is not in {first.source.name}")
    return replace(part, table=table.select_named(names), outputs=outputs)


def _common_levels(parts: Sequence[Part]) -> dict[int, tuple[str, ...]]:
    """The levels of each categorical column: those of the first file if all agree, otherwise all, sorted."""
    levels: dict[int, tuple[str, ...]] = {}
    for column in sorted({column for part in parts for column in part.table.levels}):
        name = parts[0].table.names[column]
        for part in parts:
            if column not in part.table.levels and not np.isnan(part.table.column(column)).all():
                raise DataError(
                    f"{part.source.name}, column {quoted(name)}: it holds numbers here and texts in "
                    "another file; use one kind in all files, or read it as categories (--categorical)"
                )
        found = [part.table.levels[column] for part in parts if column in part.table.levels]
        same = all(each == found[0] for each in found)
        levels[column] = found[0] if same else tuple(sorted(set().union(*found)))
    return levels


def _joined_origins(parts: Sequence[Part]) -> Origin:
    origins = [part.table.origin for part in parts if part.table.origin is not None]
    return Origin(
        tuple(part.source.name for part in parts),
        np.repeat(np.arange(len(parts)), [len(part.table) for part in parts]),
        np.concatenate([origin.number_of_row for origin in origins]),
        tuple(origin.units[0] for origin in origins),
    )

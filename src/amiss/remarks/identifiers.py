"""Inputs that identify rows: whole numbers that count them, or that differ from row to row in order."""

from __future__ import annotations

import shlex

import numpy as np

from amiss.arrays import Floats
from amiss.data.table import Table
from amiss.wording import printable

FEWEST_ROWS = 20  # of which it is telling that whole numbers differ
GIVE_ID, DROP = "If it identifies them, pass --id", "If it says nothing else, pass --drop"


def remarks_on_identifiers(inputs: Table) -> list[str]:
    """A sentence on each column that looks like an identifier."""
    if not isinstance(inputs.values, np.ndarray) or len(inputs) < 3:
        return []
    lines = []
    for column in _candidates(inputs):
        cells, name = inputs.column(column), printable(inputs.names[column])
        advice = f"{GIVE_ID} {shlex.quote(name)}."
        if (np.diff(cells) == 1).all():
            lines.append(f'Column "{name}" only numbers the rows. {advice}')
        elif len(cells) >= FEWEST_ROWS and _numbers_rows(cells):
            lines.append(f'Column "{name}" holds a whole number of its own for every row. {advice}')
    return lines


def with_ids(text: str) -> str:
    """The same advice where the rows have an id already."""
    return text.replace(GIVE_ID, DROP)


def _candidates(inputs: Table) -> list[int]:
    """The columns whose first rows hold different whole numbers."""
    head = np.asarray(inputs.values[:1000], dtype=np.float64)
    with np.errstate(invalid="ignore"):
        whole = (head == np.floor(head)).all(axis=0)
    numbers = [column for column in np.flatnonzero(whole).tolist() if column not in inputs.levels]
    return [column for column in numbers if len(np.unique(head[:, column])) == len(head)]


def _numbers_rows(cells: Floats) -> bool:
    """Whether all are different whole numbers, and either in order or without a gap."""
    if not (cells == np.floor(cells)).all():
        return False
    steps = np.diff(cells)
    if (steps > 0).all() or (steps < 0).all():
        return True
    return len(np.unique(cells)) == len(cells) == cells.max() - cells.min() + 1

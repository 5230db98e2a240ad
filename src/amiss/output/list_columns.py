"""The ranked list as columns, a block of rows at a time; values are those of ``RankedRow``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.output.ranking import RankedList
from amiss.output.six_digits import six_digit_values

ROWS = 8192  # of a block


@dataclass(frozen=True, eq=False)
class Coded:
    """Texts by their numbers; -1 where a row has none."""

    codes: Rows
    texts: Sequence[str]


Column: TypeAlias = list[Any] | Rows | Floats | Coded
"""Values of some rows: None, NaN or -1 where a row has none."""

Columns = dict[str, Column]
"""Values of some rows by the names of the columns."""

Lists = dict[str, list[Any]]
"""The same as Python's own values."""


def plain(column: Column) -> list[Any]:
    """The values as Python's own, None where a row has none."""
    if isinstance(column, Coded):
        return [None if code < 0 else column.texts[code] for code in column.codes.tolist()]
    if isinstance(column, np.ndarray):
        return [None if value != value else value for value in column.tolist()]
    return column


def list_columns(ranked: RankedList, n_reasons: int) -> Iterator[Columns]:
    """The rows of the list, each with ``n_reasons`` outputs, in blocks."""
    for start in range(0, len(ranked.order), ROWS):
        yield _block(ranked, start, ranked.order[start : start + ROWS], n_reasons)


def joined(blocks: Iterator[Columns]) -> Lists:
    """All blocks as one."""
    whole: Lists = {}
    for block in blocks:
        for name, values in block.items():
            whole.setdefault(name, []).extend(plain(values))
    return whole


def _block(ranked: RankedList, start: int, rows: Rows, n_reasons: int) -> Columns:
    data, scored = ranked.data, ranked.rows
    columns: Columns = {"rank": np.arange(start + 1, start + len(rows) + 1), "row": rows + 1}
    columns |= _places(ranked, rows)
    if data.ids is not None:
        columns["id"] = [data.ids[row] for row in rows.tolist()]
    columns |= {
        "score": six_digit_values(scored.scores[rows]),
        "flagged": ranked.flagged[rows].astype(np.intp),
    }
    if ranked.p_values is not None:
        columns["p_value"] = six_digit_values(ranked.p_values[rows])
    elif ranked.is_new:
        columns["p_value"] = [None] * len(rows)
    if ranked.is_new:
        known = ranked.in_fit
        columns["in_fit"] = [None] * len(rows) if known is None else known[rows].astype(np.intp)
    outputs, named = ranked.largest(rows, n_reasons)
    for place in range(n_reasons):
        columns |= _reason(ranked, rows, outputs[:, place], named[:, place], f"_{place + 1}")
    return columns


def _places(ranked: RankedList, rows: Rows) -> Columns:
    """Where each row stands: its file if there are several, its line if files have lines."""
    origin = ranked.data.Y.origin
    if origin is None:
        return {}
    file, columns = origin.file_of_row[rows], Columns()
    if len(origin.files) > 1:
        columns["file"] = Coded(file, origin.files)
    if origin.has_lines:
        numbers = origin.number_of_row[rows]
        has_line = np.array([unit != "row" for unit in origin.units])[file]
        columns["line"] = numbers if has_line.all() else _spread(numbers[has_line].tolist(), has_line)
    return columns


def _reason(ranked: RankedList, rows: Rows, outputs: Rows, named: Mask, suffix: str) -> Columns:
    """One output of each row, and what it adds to the score."""
    scored, at = ranked.rows, (rows[named], outputs[named])

    def numbers(values: Floats) -> Floats:
        result = np.full(len(rows), np.nan)
        result[named] = six_digit_values(values)
        return result

    columns: Columns = {
        "output": Coded(np.where(named, outputs, -1), scored.output_names),
        "observed": _spread(_observed(ranked, *at), named),
        "probability": numbers(scored.judged_probabilities_of(rows)[named, outputs[named]]),
        "contribution": numbers(scored.contributions[at]),
    }
    if ranked.is_new:
        known = ranked.output_p_values
        columns["p_value"] = [None] * len(rows) if known is None else numbers(known[at])
    return {name + suffix: values for name, values in columns.items()}


def _spread(values: list[Any] | Rows, where: Mask) -> list[Any] | Rows:
    """Values of some rows, None for all others."""
    if where.all():
        return values
    result = np.full(len(where), None)
    result[where] = values
    return list(result)


def _observed(ranked: RankedList, rows: Rows, outputs: Rows) -> list[Any] | Rows:
    """Observed values as a program reads them."""
    values = ranked.rows.Y[rows, outputs]
    if ranked.rows.forecast is None:  # each is 0 or 1
        return values.astype(np.intp)
    return list(map(ranked.rows.observed_value, rows.tolist(), outputs.tolist()))

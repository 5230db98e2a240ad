"""The ranked list as columns, a block of rows at a time; values are those of ``RankedRow``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from amiss.arrays import Mask, Rows
from amiss.output.ranking import RankedList
from amiss.output.six_digits import six_digit_values

ROWS = 8192  # of a block

Columns = dict[str, list[Any]]
"""Values of some rows by the names of the columns; None where a row has none."""


def list_columns(ranked: RankedList, n_reasons: int) -> Iterator[Columns]:
    """The rows of the list, each with ``n_reasons`` outputs, in blocks."""
    for start in range(0, len(ranked.order), ROWS):
        yield _block(ranked, start, ranked.order[start : start + ROWS], n_reasons)


def joined(blocks: Iterator[Columns]) -> Columns:
    """All blocks as one."""
    whole: Columns = {}
    for block in blocks:
        for name, values in block.items():
            whole.setdefault(name, []).extend(values)
    return whole


def _block(ranked: RankedList, start: int, rows: Rows, n_reasons: int) -> Columns:
    data, scored = ranked.data, ranked.rows
    columns: Columns = {"rank": list(range(start + 1, start + len(rows) + 1)), "row": (rows + 1).tolist()}
    columns |= _places(ranked, rows)
    if data.ids is not None:
        columns["id"] = [data.ids[row] for row in rows.tolist()]
    columns |= {
        "score": six_digit_values(scored.scores[rows]),
        "flagged": ranked.flagged[rows].astype(int).tolist(),
    }
    if ranked.p_values is not None:
        columns["p_value"] = six_digit_values(ranked.p_values[rows])
    elif ranked.is_new:
        columns["p_value"] = [None] * len(rows)
    if ranked.is_new:
        known = ranked.in_fit
        columns["in_fit"] = [None] * len(rows) if known is None else known[rows].astype(int).tolist()
    outputs, named = ranked.largest(rows, n_reasons)
    for place in range(n_reasons):
        columns |= _reason(ranked, rows, outputs[:, place], named[:, place], f"_{place + 1}")
    return columns


def _places(ranked: RankedList, rows: Rows) -> Columns:
    """Where each row stands: its file if there are several, its line if files have lines."""
    origin = ranked.data.Y.origin
    if origin is None:
        return {}
    file, columns = origin.file_of_row[rows].tolist(), Columns()
    if len(origin.files) > 1:
        columns["file"] = [origin.files[each] for each in file]
    if origin.has_lines:
        numbers = origin.number_of_row[rows].tolist()
        columns["line"] = [
            None if origin.units[each] == "row" else number for number, each in zip(numbers, file, strict=True)
        ]
    return columns


def _reason(ranked: RankedList, rows: Rows, outputs: Rows, named: Mask, suffix: str) -> Columns:
    """One output of each row, and what it adds to the score."""
    scored, n_rows = ranked.rows, len(rows)
    some = np.flatnonzero(named)
    at = rows[some], outputs[some]

    def spread(values: list[Any]) -> list[Any]:
        if len(some) == n_rows:
            return values
        result = [None] * n_rows
        for place, value in zip(some.tolist(), values, strict=True):
            result[place] = value
        return result

    columns = {
        "output": spread([scored.output_names[output] for output in at[1].tolist()]),
        "observed": spread(_observed(ranked, *at)),
        "probability": spread(six_digit_values(scored.probabilities[at])),
        "contribution": spread(six_digit_values(scored.contributions[at])),
    }
    if ranked.is_new:
        known = ranked.output_p_values
        columns["p_value"] = [None] * n_rows if known is None else spread(six_digit_values(known[at]))
    return {name + suffix: values for name, values in columns.items()}


def _observed(ranked: RankedList, rows: Rows, outputs: Rows) -> list[Any]:
    """Observed values as a program reads them."""
    values = ranked.rows.Y[rows, outputs]
    if ranked.rows.forecast is None:  # each is 0 or 1
        return values.astype(int).tolist()
    kinds = ranked.rows.columns
    return [kinds[output].plain(value) for output, value in zip(outputs.tolist(), values.tolist(), strict=True)]

"""The ranked list with one line per reason: what a pivot table or a work list takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amiss.output.list_columns import Columns, Lists, plain

OF_A_REASON = ("output", "observed", "probability", "contribution", "p_value")


def reason_lines(blocks: Iterator[Columns]) -> Iterator[dict[str, Any]]:
    """One line per output that a row names, with what the row's line has. A row that names none has no line.

    The p-value of an output is called ``output_p_value``, because the row has one too.
    """
    for columns in blocks:
        block = {name: plain(values) for name, values in columns.items()}
        places = sum(name.startswith("output_") and name[7:].isdecimal() for name in block)
        own = {f"{part}_{place}" for part in OF_A_REASON for place in range(1, places + 1)}
        of_row = [name for name in block if name not in own]
        for line in range(len(block["row"])):
            row = {name: block[name][line] for name in of_row}
            for place in range(1, places + 1):
                if block[f"output_{place}"][line] is not None:
                    yield row | {"reason": place} | _reason(block, place, line)


def _reason(block: Lists, place: int, line: int) -> dict[str, Any]:
    found = {part: block[f"{part}_{place}"][line] for part in OF_A_REASON if f"{part}_{place}" in block}
    return {"output_p_value" if part == "p_value" else part: value for part, value in found.items()}

"""Columns of the table that are shown beside each row of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from amiss.output.list_columns import Columns, plain
from amiss.output.list_formats import record
from amiss.output.ranking import RankedRow

OURS = re.compile(
    r"rank|row|file|line|id|score|flagged|p_value|in_fit|reason|output|outputs|observed|suggested|low|high|probability"
    r"|contribution|(output|observed|probability|contribution|p_value)_[0-9]+"
)

Shown = Mapping[str, Sequence[str]]
"""By name, a text for each row of the table."""


def name_in_list(name: str, shown: Shown) -> str:
    """What a shown column is called in a list, which has columns of its own.

    >>> name_in_list("age", {"age": []}), name_in_list("score", {"score": []})
    ('age', 'table_score')
    """
    while OURS.fullmatch(name):
        name = f"table_{name}"
        while name in shown:
            name += "_"
    return name


def with_shown(blocks: Iterator[Columns], shown: Shown) -> Iterator[Columns]:
    """Blocks of the ranked list with these columns before the score."""
    for block in blocks:
        columns: Columns = {}
        rows = plain(block["row"])
        for name, values in block.items():
            if name == "score":
                columns |= {
                    name_in_list(each, shown): [texts[row - 1] for row in rows] for each, texts in shown.items()
                }
            columns[name] = values
        yield columns


def shown_of(row: int, shown: Shown) -> dict[str, Any]:
    """What is shown beside a row, counted from 0, under the names of a list."""
    return {name_in_list(name, shown): texts[row] for name, texts in shown.items()}


def record_with_shown(row: RankedRow, shown: Shown) -> dict[str, Any]:
    """A row of the list as JSON writes it, with what is shown before the score."""
    own = record(row)
    head = {name: own.pop(name) for name in [*own] if name in ("rank", "row", "file", "line", "id")}
    return head | shown_of(row.row - 1, shown) | own

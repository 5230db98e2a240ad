"""Options that say where the ranked list goes, shared by the commands that write one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from amiss.output.registry import LIST_FORMATS

_OPTIONS = (
    click.option(
        "-o",
        "--output",
        metavar="OUT",
        help="Ranked list of all rows: .csv, .xlsx, .parquet or .jsonl; - is standard output.",
    ),
    click.option(
        "--output-format",
        type=click.Choice([*LIST_FORMATS]),
        help="Format of the list, where the suffix does not tell.",
    ),
    click.option(
        "--reasons",
        type=click.IntRange(1),
        default=3,
        show_default=True,
        metavar="K",
        help="How many outputs each row of the list names.",
    ),
    click.option(
        "--top",
        type=click.IntRange(0),
        metavar="N",
        help="How many rows to print.  [default: 10, or as many as --alerts if that is more]",
    ),
)


def list_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Where the list goes, and how much a row of it says."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command

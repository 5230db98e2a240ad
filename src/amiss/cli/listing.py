"""Options that say where the ranked list goes, shared by the commands that write one."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from amiss.cli.grouped import OUTPUT, F, grouped
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
        "--one-line-per",
        type=click.Choice(["row", "reason"]),
        default="row",
        show_default=True,
        help="Whether a line of the list is a row with all its reasons, or one reason.",
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
    return grouped(OUTPUT, *_OPTIONS)(command)


def refuse_lines_without_a_list(options: dict[str, Any]) -> None:
    """One line per reason is a form of the list of rows that -o writes."""
    if options["one_line_per"] == "reason" and (options["output"] is None or options.get("cells")):
        raise click.UsageError("--one-line-per reason is for the list of rows; add -o found.csv, without --cells")


def refuse_mistaken_output(options: dict[str, Any]) -> None:
    """--output is the list and --outputs are columns: who mixes them up is told so."""
    named = options["output"]
    if named and named != "-" and not options["outputs"] and not Path(named).suffix:
        raise click.UsageError(
            f"--output is a file to write; to say which columns are outputs, pass --outputs {shlex.quote(named)}"
        )


def output_option(*names: str, **attributes: Any) -> Callable[[F], F]:
    """An option of one command about what it prints and writes."""
    return grouped(OUTPUT, click.option(*names, **attributes))

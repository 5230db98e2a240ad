"""The report as find and score write it: its options, its name, and what it is told of the table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.grouped import OUTPUT, grouped
from amiss.cli.lazy import ShownDefault, value_of

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset

_OPTIONS = (
    click.option("--report", metavar="HTML", help="Also write a report: one HTML file that works offline."),
    click.option(
        "--report-rows",
        type=click.IntRange(1),
        cls=ShownDefault,
        lazy_default=value_of("amiss.output.report.material", "DETAILED_ROWS"),
        metavar="N",
        help="How many rows of the report carry an explanation.",
    ),
)


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether to write a report, and how much of it."""
    return grouped(OUTPUT, *_OPTIONS)(command)


def check_report(report: str, output: str | None, files: tuple[str, ...]) -> None:
    """Refuse a name that the report cannot have, before any work is done."""
    from amiss.errors import DataError
    from amiss.files import check_writable

    if Path(report).suffix.lower() not in (".html", ".htm"):
        raise DataError(f"{report}: a report is an HTML file; name it .html")
    if output is not None and Path(output).resolve() == Path(report).resolve():
        raise DataError(f"{report}: the list and the report cannot be one file; choose another name")
    check_writable(Path(report), files)


def about_report(data: Dataset, files: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """What a report says beside the fit or the batch."""
    from amiss.output.report.material import DETAILED_ROWS

    named = ["standard input" if name == "-" else Path(name).name for name in files]
    return {
        "ids": data.ids,
        "shown": data.shown,
        "n_details": options["report_rows"] or DETAILED_ROWS,
        "title": f"{named[0]}{f' and {len(named) - 1} more' * (len(named) > 1)}: unusual rows",
    }

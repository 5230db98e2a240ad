"""Options that say what to read, shared by the commands that read a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amiss.dataset import Dataset

_OPTIONS = (
    click.argument("files", nargs=-1, required=True, metavar="FILE..."),
    click.option(
        "--outputs",
        metavar="SPEC",
        multiple=True,
        help="Output columns: names or globs ('tag_*'), "
        "a Mulan XML file, or last:14. Not needed for svmlight and npz.",
    ),
    click.option("--id", "id_column", metavar="COL", help="Column that names the rows."),
    click.option("--pictures", metavar="COL", help="Column of picture files for the report; not an input."),
    click.option("--drop", metavar="COL", multiple=True, help="Columns to leave out."),
    click.option("--categorical", metavar="COL", multiple=True, help="Columns of numbers that are categories."),
    click.option(
        "--format",
        "file_format",
        type=click.Choice(["csv", "tsv", "arff", "svmlight", "npz", "parquet"]),
        help="Format of the files, where the suffix does not tell.",
    ),
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The files, which columns are outputs, and which to leave out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_table(files: tuple[str, ...], options: dict[str, Any]) -> Dataset:
    """Read what those options say."""
    from amiss.readers import read

    return read(
        *files,
        outputs=options["outputs"] or None,
        id=options["id_column"],
        drop=options["drop"],
        categorical=options["categorical"],
        format=options["file_format"],
        pictures=options["pictures"],
    )

"""Options that say what to read, shared by the commands that read a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.grouped import DATA, grouped
from amiss.cli.lazy import LazyOption
from amiss.readers.registry import FORMATS

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.fitted import FittedDetector

_FILES = click.argument("files", nargs=-1, required=True, metavar="FILE...")
_ID = click.option("--id", "id_column", metavar="COL", help="Column that identifies the rows.")
_INPUTS = click.option(
    "--inputs",
    metavar="NPY",
    multiple=True,
    help="Further inputs, such as embeddings: a .npy or .npz file with one row per row of FILE. "
    "If it has ids, they are matched with --id.",
)
_GIVEN = click.option(
    "--probabilities",
    metavar="COL",
    multiple=True,
    help="Columns with your own out-of-fold predictions, one per output ('p_*'): the probability that it is 1, or "
    "of each level of a class (p_colour_red), or the expected number. They take the place of the models of the "
    "inputs.",
)
_GROUP = click.option(
    "--group",
    metavar="COL",
    help="Column that says which rows belong together, such as pictures of one patient; auto finds near copies.",
)
_SHOW = click.option(
    "--show",
    metavar="COL",
    multiple=True,
    help="Columns to show beside each row in the list and the report; they are no inputs.",
)
_DROP = click.option("--drop", metavar="COL", multiple=True, help="Columns to leave out.")
_COLUMNS = click.option(
    "--columns",
    "columns_file",
    metavar="TOML",
    help="File that says what each column is; amiss check --save writes one. Other options win over it.",
)
_FORMAT = click.option(
    "--format",
    "file_format",
    cls=LazyOption,
    lazy_default=lambda: None,
    described=FORMATS,
    type=click.Choice([*FORMATS]),
    help="Format of the files, where the suffix does not tell.",
)
_OUTPUTS = click.option(
    "--outputs",
    metavar="SPEC",
    multiple=True,
    help="Output columns: names or globs ('tag_*'), "
    "a Mulan XML file, or last:14. Not needed for svmlight and npz.",
)
_KINDS = click.option(
    "--kinds",
    metavar="COL=KIND",
    multiple=True,
    help="Kind of an output, where its values do not tell: binary, class, ordinal, count or number, or levels "
    "in their order ('grade=low<medium<high'). Several are separated by commas.",
)
_PART_OF_A_FILE = (
    click.option(
        "--sheet", metavar="NAME", help="Sheet of a workbook. By default the first that has the outputs."
    ),
    click.option(
        "--table", metavar="NAME", help="Table of a database, or a SELECT. Not needed if there is only one table."
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of text files that are not UTF-8, such as cp1252."),
)
_KINDS_OF_COLUMNS = (
    click.option("--categorical", metavar="COL", multiple=True, help="Columns of numbers that are categories."),
    click.option(
        "--text",
        metavar="COL",
        multiple=True,
        help="Columns of free text: their most frequent words become inputs.",
    ),
    click.option(
        "--true", metavar="VALUE", multiple=True, help="What outputs of yes and no hold for yes: --true 1"
    ),
    click.option("--false", metavar="VALUE", multiple=True, help="and for no: --false 2."),
)
_OPTIONS = (
    _FILES,
    _OUTPUTS,
    _KINDS,
    _INPUTS,
    _GIVEN,
    _GROUP,
    _ID,
    _SHOW,
    click.option("--pictures", metavar="COL", help="Column of picture files for the report; not an input."),
    _DROP,
    *_KINDS_OF_COLUMNS,
    _COLUMNS,
    _FORMAT,
    *_PART_OF_A_FILE,
)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The files, which columns are outputs, and which to leave out."""
    return grouped(DATA, *_OPTIONS)(command)


def checking_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The files, and what is known of their columns."""
    asked = _FILES, _OUTPUTS, _KINDS, _ID, _SHOW, _DROP, *_KINDS_OF_COLUMNS, _COLUMNS, _FORMAT
    return grouped(DATA, *asked, *_PART_OF_A_FILE)(command)


def rereading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The files, where a model knows their columns."""
    return grouped(DATA, _FILES, _INPUTS, _ID, _SHOW, _DROP, _FORMAT, *_PART_OF_A_FILE)(command)


def all_files(files: tuple[str, ...], options: dict[str, Any]) -> tuple[str, ...]:
    """All files that are read: the tables, inputs beside them, and a list of labels."""
    from amiss.readers.source import path_of

    labels = (spec for spec in options.get("outputs", ()) if spec.lower().endswith(".xml"))
    described = [options["columns_file"]] if options.get("columns_file") else []
    return (*map(path_of, files), *options.get("inputs", ()), *labels, *described)


def read_like(fitted: FittedDetector, files: tuple[str, ...], options: dict[str, Any]) -> Dataset:
    """Read files as those were read that a model was fitted to; ``options`` come first."""
    from amiss.readers.reading import read

    reading, columns = fitted.reading, fitted.columns
    categories = [columns.inputs[column] for column in fitted.models.encoder.levels]
    row_id = options["id_column"] if options["id_column"] is not None else reading.get("id")
    return read(
        *files,
        outputs=list(columns.outputs),
        id=row_id or None,
        drop=options["drop"],
        show=options["show"],
        may_drop=(*reading.get("drop", ()), *([] if row_id else filter(None, [reading.get("id")]))),
        probabilities=reading.get("probabilities", ()),
        categorical=categories,
        format=options["file_format"],
        sheet=options["sheet"],
        table=options["table"],
        encoding=options["encoding"],
        inputs=options["inputs"],
        known=columns.output_columns,
        columns=reading.get("columns"),
        like=(columns.inputs, columns.outputs),
    )


def read_table(files: tuple[str, ...], options: dict[str, Any]) -> Dataset:
    """Read what those options say."""
    from amiss.errors import DataError
    from amiss.readers.reading import read

    for name in files:
        if name.endswith(".amiss"):
            raise DataError(f"{name}: this is a model; use amiss score {name} FILE")
    return read(
        *files,
        outputs=options["outputs"] or None,
        id=options["id_column"],
        drop=options["drop"],
        show=options["show"],
        categorical=options["categorical"],
        format=options["file_format"],
        sheet=options["sheet"],
        table=options["table"],
        encoding=options["encoding"],
        pictures=options["pictures"],
        inputs=options["inputs"],
        probabilities=options["probabilities"],
        group=options["group"],
        output_kinds=said_kinds(options["kinds"]),
        columns=options["columns_file"],
        text=options["text"],
        true=options["true"],
        false=options["false"],
    )


def said_kinds(items: tuple[str, ...]) -> dict[str, Any]:
    """The kinds of outputs that --kinds says.

    >>> said_kinds(("dose=number,grade=low<high",))
    {'dose': 'number', 'grade': ['low', 'high']}
    """
    from amiss.data.output_kinds import checked_kinds

    found: dict[str, Any] = {}
    for item in filter(None, (part.strip() for each in items for part in each.split(","))):
        name, equals, kind = item.rpartition("=")
        if not equals:
            raise click.UsageError(f"--kinds {item!r}: write NAME=KIND, as in dose=number")
        found[name.strip()] = [level.strip() for level in kind.split("<")] if "<" in kind else kind.strip()
    try:
        checked_kinds(found)
    except ValueError as error:
        raise click.UsageError(str(error).replace("output_kinds", "--kinds")) from None
    return found

"""``amiss check``: what the columns of a table are, and what is wrong with them, before any model is fitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from amiss.cli.reading import all_files, checking_options, said_kinds


@click.command(short_help="Say what the columns are, and what is wrong.")
@checking_options
@click.option("--save", metavar="TOML", help="Also write columns.toml, which amiss find and amiss fit accept.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check(files: tuple[str, ...], **options: Any) -> None:
    """Say what role and kind each column of FILE has, and name every problem at once.

    No model is fitted. The exit code is 2 if nothing can be done with the table: no column can be an input, or a
    column that is named as an output cannot be one.

    \b
    amiss check visits.csv
    amiss check visits.csv --outputs 'tag_*' --save columns.toml
    amiss find visits.csv --columns columns.toml
    """
    from amiss.cli.terminal import width, wrapped
    from amiss.diagnosis.check import check as diagnosed
    from amiss.errors import DataError
    from amiss.files import check_writable

    if options["save"] is not None:
        if Path(options["save"]).suffix != ".toml":
            raise DataError(f"{options['save']}: name the file .toml")
        kept = options["columns_file"]  # a file may be completed
        read = tuple(name for name in all_files(files, options) if name != kept)
        check_writable(Path(options["save"]), read)
    found = diagnosed(
        *files,
        outputs=options["outputs"] or None,
        id=options["id_column"],
        drop=options["drop"],
        show=options["show"],
        categorical=options["categorical"],
        text=options["text"],
        true=options["true"],
        false=options["false"],
        columns=options["columns_file"],
        output_kinds=said_kinds(options["kinds"]),
        format=options["file_format"],
        sheet=options["sheet"],
        table=options["table"],
        encoding=options["encoding"],
    )
    if options["save"] is not None:
        found.save(options["save"])
    if options["as_json"]:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        click.echo(found.table(width()))
        if found.undecided:
            click.echo("\nNeed a decision:")
        for line in found.advice():
            click.echo(wrapped(line))
        if options["save"] is not None:
            click.echo(f"\nColumns: {options['save']}")
    if found.problem:
        raise DataError(f"{', '.join(files)}: {found.problem}")

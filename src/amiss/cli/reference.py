"""docs/cli.md: every command and option, from the code that defines them.

python -m amiss.cli.reference > docs/cli.md
"""

from __future__ import annotations

import inspect

import click

from amiss.cli import cli
from amiss.cli.grouped import OTHERS, GroupedCommand

HEAD = """# All commands and options

This page is written by `python -m amiss.cli.reference`. `amiss COMMAND --help` says the same in the terminal.
"""


def reference() -> str:
    """The page in Markdown."""
    root = click.Context(cli, info_name="amiss")
    sections = [_section(command, click.Context(command, root, name)) for name, command in cli.commands.items()]
    return "\n".join([HEAD, *sections])


def _section(command: click.Command, ctx: click.Context) -> str:
    told, _, examples = inspect.cleandoc(command.help or "").partition("\n\b\n")
    usage = f"{ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}"
    parts = [f"## amiss {ctx.info_name}", f"```\n{usage}\n```", told.strip()]
    if examples:
        parts.append(f"```\n{examples.strip()}\n```")
    for group, records in _records(command, ctx).items():
        lines = [
            f"| {group} | |",
            "| --- | --- |",
            *(f"| `{_cell(option)}` | {_cell(what)} |" for option, what in records),
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _records(command: click.Command, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
    if isinstance(command, GroupedCommand):
        return command.option_records(ctx)
    records = [each.get_help_record(ctx) for each in command.get_params(ctx) if isinstance(each, click.Option)]
    return {OTHERS: [record for record in records if record is not None]}


def _cell(text: str) -> str:
    """A text in a cell of a table: one line, and no bar that would end it."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    click.echo(reference(), nl=False)

"""Options in groups: a help text of forty options is read in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Any, TypeVar

import click

DATA, METHOD, CUT, OUTPUT = "Data", "Method", "Where to cut", "Output"
GROUPS = (DATA, METHOD, CUT, OUTPUT)
OTHERS = "Options"
NEARLY = 0.06  # of a similarity from 0 to 1

F = TypeVar("F", bound=Callable[..., Any])


def grouped(group: str, *options: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator that adds all of these options, as one group of the help text."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
            command.__click_params__[-1].help_group = group  # type: ignore[attr-defined]
        return command

    return decorate


def group_of(parameter: click.Parameter) -> str:
    """The group of an option; those of no group come last."""
    return getattr(parameter, "help_group", OTHERS)


def nearest_options(wanted: str, known: Iterable[str]) -> list[str]:
    """The option that is most like a mistyped one, and those that are nearly as much like it.

    >>> nearest_options("--output", ["--inputs", "--outputs", "--group"])
    ['--outputs']
    """
    bare = wanted.removeprefix("--")  # two dashes that all have are no likeness
    like = {
        name: SequenceMatcher(None, bare, name.removeprefix("--")).ratio()
        for name in known
        if name.startswith("--")
    }
    best = max(like.values(), default=0.0)
    return [name for name, ratio in like.items() if ratio >= max(0.6, best - NEARLY)]


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups, and which suggests the option that is meant."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = [
                name
                for option in self.get_params(ctx)
                if not getattr(option, "hidden", False)
                for name in option.opts
            ]
            meant = nearest_options(error.option_name, known)
            raise click.NoSuchOption(error.option_name, possibilities=meant, ctx=error.ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, records in self.option_records(ctx).items():
            with formatter.section(group):
                formatter.write_dl(records)

    def option_records(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """What help says of each option, by groups; hidden ones are left out."""
        found: dict[str, list[tuple[str, str]]] = {group: [] for group in (*GROUPS, OTHERS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                found[group_of(parameter)].append(record)
        return {group: records for group, records in found.items() if records}

"""Options whose defaults and choices are explained elsewhere, and looked up there only when they are needed.

The detector's defaults and the descriptions of rules, scalings and the like stand beside the code that uses
them. Importing that code takes a moment, which ``amiss --help`` does not need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import click


def value_of(module: str, name: str) -> Callable[[], Any]:
    """What a module calls by that name, once it is asked for."""
    return lambda: getattr(import_module(module), name)


def default_of(parameter: str) -> Callable[[], Any]:
    """The detector's default of a parameter, once it is asked for."""
    return lambda: value_of("amiss.settings", "DEFAULTS")()[parameter]


class LazyOption(click.Option):
    """An option whose default ``lazy_default`` gives.

    Its help describes the choices of a registry (``described``) and other choices (``also``).
    """

    def __init__(
        self,
        *arguments: Any,
        lazy_default: Callable[[], Any],
        described: Mapping[str, Any] | None = None,
        also: Mapping[str, str] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **{"show_default": True, **attributes})
        self.lazy_default, self.described, self.also = lazy_default, described or {}, also or {}

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        return self.lazy_default()

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        plain = self.help
        choices = {name: entry.description for name, entry in self.described.items()} | dict(self.also)
        if choices:
            self.help = f"{plain} {'; '.join(f'{name}: {what}' for name, what in choices.items())}."
        try:
            return super().get_help_record(ctx)
        finally:
            self.help = plain


class ShownDefault(LazyOption):
    """An option whose default only its help looks up; a command that is not told it gets None."""

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        return None if call else super().get_default(ctx, call)

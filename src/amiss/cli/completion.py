"""``amiss completion``: a script by which the shell completes commands, options and their choices."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_AMISS_COMPLETE"  # the name click expects of a program called amiss


@click.command(short_help="Print a script that completes commands in your shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print a script that completes commands, options and their choices in your SHELL.

    \b
    amiss completion bash >> ~/.bashrc
    amiss completion zsh >> ~/.zshrc
    amiss completion fish > ~/.config/fish/completions/amiss.fish
    """  # fmt: skip
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None
    program = click.get_current_context().find_root().command
    script = found(program, {}, "amiss", VARIABLE)
    click.echo(script.source_template % script.source_vars())  # source() would ask bash for its version first

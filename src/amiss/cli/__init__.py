"""The command line, one file per command.

Commands import what they need when they run, so that ``amiss --help`` answers at once.
"""

from __future__ import annotations

import io
import os
import signal
import sys

import click

from amiss.cli.check import check
from amiss.cli.completion import completion
from amiss.cli.demo import demo
from amiss.cli.evaluate import evaluate
from amiss.cli.explain import explain
from amiss.cli.find import find
from amiss.cli.fit import fit
from amiss.cli.reproduce import reproduce
from amiss.cli.score import score
from amiss.errors import DataError, MissingDependencyError
from amiss.version import __version__

BAD_INPUT, OUR_TROUBLE = 2, 1


FIRST_STEPS = """amiss finds the rows of a table whose outputs do not match their inputs.

  amiss demo --save demo                                    see it work, on a table that it makes
  amiss find records.csv --outputs 'tag_*'                  list the most unusual rows
  amiss explain records.csv 17 --outputs 'tag_*'            say why row 17 has its score
  amiss fit records.csv --outputs 'tag_*' -o model.amiss    keep a model,
  amiss score model.amiss today.csv                         and score new rows with it

amiss --help lists all commands, amiss find --help the options of one."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="amiss")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find the rows of a table whose outputs do not match their inputs.

    Outputs are tags (0 and 1), classes, grades, counts or numbers: labels, diagnoses, decisions, doses. Every
    other column is an input.

    \b
    amiss demo                                       see it work, no data needed
    amiss check records.csv                          what the columns are, and what is wrong
    amiss find records.csv --outputs 'tag_*'         print the most unusual rows
    amiss find records.csv --outputs 'tag_*' -o found.csv --report report.html
    amiss explain records.csv 17 --outputs 'tag_*'   why a row is unusual
    amiss fit records.csv --outputs 'tag_*' -o model.amiss    keep a model,
    amiss score model.amiss today.csv                         and score new rows with it
    amiss evaluate records.csv --outputs 'tag_*'     what precision to expect
    """
    if ctx.invoked_subcommand is None:
        click.echo(FIRST_STEPS)


cli.add_command(check)
cli.add_command(find)
cli.add_command(explain)
cli.add_command(fit)
cli.add_command(score)
cli.add_command(demo)
cli.add_command(evaluate)
cli.add_command(reproduce)
cli.add_command(completion)


def main() -> None:
    """Run a command; every failure is one line on standard error and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a letter shows "?"
    signal.signal(signal.SIGTERM, _terminated)
    try:
        cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _fail("stopped", 143 if _terminated.called else 130)
    except DataError as error:
        _fail(str(error), BAD_INPUT)
    except MissingDependencyError as error:
        _fail(str(error), OUR_TROUBLE)
    except OSError as error:
        _fail(f"{error.filename or 'system'}: {error.strerror or error}", OUR_TROUBLE)
    except MemoryError:
        _fail("out of memory; use fewer rows or columns", OUR_TROUBLE)
    except Exception as error:
        if os.environ.get("AMISS_DEBUG"):
            raise
        # The text of an unexpected error may quote cells, so only its kind is shown.
        _fail(
            f"internal error ({type(error).__name__}); please report it, AMISS_DEBUG=1 shows more",
            OUR_TROUBLE,
        )


class _Terminated:
    """What stops a run by Ctrl-C also stops it when the system asks it to end: nothing half written is left."""

    called = False

    def __call__(self, *_: object) -> None:
        self.called = True
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)


_terminated = _Terminated()


def _fail(message: str, code: int) -> None:
    click.echo("amiss: " + " ".join(message.split()), err=True)
    sys.exit(code)

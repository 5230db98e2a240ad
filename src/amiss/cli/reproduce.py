"""``amiss reproduce``: the paper's Table 2 and figures, or the benchmark of numeric tables, beside other tools."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.pipes import readers_may_leave
from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.paper.comparison import Cell

# What can be reproduced, by name.
TABLES: Registry[Callable[[dict[str, Any]], None]] = Registry(
    "table", "amiss.cli.reproduce", {"paper": "paper_table", "contextual": "contextual_table"}
)


@click.command(short_help="Reproduce the paper's results, beside other tools.")
@click.option("--data", required=True, metavar="DIR", help="Folder with a folder of each Mulan dataset.")
@click.option(
    "--table",
    type=click.Choice(tuple(TABLES)),
    default="paper",
    show_default=True,
    help="What to reproduce. contextual: PR-AUC on numeric tables; DIR holds tables.json and the CSV files.",
)
@click.option("--datasets", metavar="NAMES", help="Some of the datasets, separated by commas.  [default: all]")
@click.option(
    "--repeats", type=click.IntRange(1), help="Seeds 0, 1, … of the errors.  [default: 10; contextual: 3]"
)
@click.option("--methods", metavar="NAMES", help="Some of the methods, separated by commas.  [default: all]")
@click.option(
    "-o", "--output", metavar="DIR", help="Where results, table and figures go.  [required; not for contextual]"
)
@click.option("--partial", is_flag=True, help="Compute nothing: show what is finished.")
@click.option("--no-figures", is_flag=True, help="Draw nothing (matplotlib is not needed then).")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def reproduce(**options: Any) -> None:
    """Reproduce the paper's Table 2 and figures, and compare with other tools.

    1 % of the rows get 2.5 to 20 % of their outputs flipped; every method sees the same flipped
    table, and its models are fitted to it. What is finished is kept: a run that was stopped goes on
    where it stopped.

    With --table contextual: outputs are numbers, of which some were moved (the benchmark of Li and
    van Leeuwen, 2023). It prints its table, and keeps nothing else.

    \b
    amiss reproduce --data mulan -o results                                  the whole table: hours
    amiss reproduce --data mulan --datasets yeast,birds --repeats 2 -o some  a minute
    amiss reproduce --table contextual --data numeric                        minutes
    """  # fmt: skip
    TABLES[options.pop("table")](options)


def paper_table(options: dict[str, Any]) -> None:
    """Table 2 and its figures."""
    from amiss import progress
    from amiss.errors import DataError
    from amiss.files import atomic_write
    from amiss.output.plots import require_matplotlib
    from amiss.paper.cells import collected, jobs, run
    from amiss.paper.comparison import markdown
    from amiss.paper.methods import METHODS
    from amiss.paper.table2 import TABLE

    if options["output"] is None:
        context = click.get_current_context()
        raise click.MissingParameter(ctx=context, param=_parameter(context, "output"))
    options["repeats"] = options["repeats"] or 10
    datasets = _chosen(options["datasets"], tuple(TABLE), "--datasets")
    methods = _chosen(options["methods"], METHODS, "--methods")
    data, folder = Path(options["data"]), Path(options["output"])
    _refuse_file(folder)
    if not options["partial"]:
        _writable(folder, "table.md")
    if not options["no_figures"]:
        require_matplotlib()
    todo = jobs(folder, datasets, options["repeats"])
    if not options["partial"]:
        run(data, todo, methods, progress.stages(not options["quiet"] and sys.stderr.isatty()))
    cells = list(collected(todo, methods))
    if not cells:
        raise DataError(f"{folder}: nothing is finished yet; leave out --partial to begin")
    text = markdown(cells, methods, _command(options))
    with atomic_write(folder / "table.md") as stream:
        stream.write(text.encode())
    with readers_may_leave():
        if not options["quiet"]:
            click.echo(text)
        figures = [] if options["no_figures"] else _draw(data, folder, cells, not options["partial"])
        if not options["quiet"]:
            click.echo("Written: " + ", ".join(map(str, [folder / "table.md", *figures])))


def contextual_table(options: dict[str, Any]) -> None:
    """PR-AUC on numeric tables; the table goes to a file too if a folder is named."""
    from amiss import progress
    from amiss.errors import DataError
    from amiss.files import atomic_write
    from amiss.paper.contextual import names_of_tables
    from amiss.paper.contextual_cells import run
    from amiss.paper.contextual_comparison import markdown
    from amiss.paper.contextual_methods import SCORERS

    for option in ("partial", "no_figures"):
        if options[option]:
            flag = "--" + option.replace("_", "-")
            raise DataError(f"--table contextual keeps no results and draws no figures; leave out {flag}")
    if options["quiet"] and options["output"] is None:
        raise DataError("with -q nothing is printed; name a folder for the table (-o DIR)")
    data, options["repeats"] = Path(options["data"]), options["repeats"] or 3
    tables = _chosen(options["datasets"], names_of_tables(data), "--datasets")
    methods = _chosen(options["methods"], tuple(SCORERS), "--methods")
    file = None if options["output"] is None else _writable(Path(options["output"]), "contextual.md")
    stages = progress.stages(not options["quiet"] and sys.stderr.isatty())
    cells = list(run(data, tables, methods, range(options["repeats"]), stages))
    text = markdown(cells, methods, _command(options, "--table contextual"))
    if file is not None:
        with atomic_write(file) as stream:
            stream.write(text.encode())
    with readers_may_leave():
        if not options["quiet"]:
            click.echo(text)
            if file is not None:
                click.echo(f"Written: {file}")


def _writable(folder: Path, name: str) -> Path:
    """A file in a folder, which is made if it is missing; refused now rather than after the work."""
    from amiss.files import check_writable

    _refuse_file(folder)
    folder.mkdir(parents=True, exist_ok=True)
    check_writable(folder / name)
    return folder / name


def _refuse_file(folder: Path) -> None:
    from amiss.errors import DataError

    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: this is a file; name a folder")


def _parameter(context: click.Context, name: str) -> click.Parameter:
    """The option of that name, for a message."""
    return next(each for each in context.command.params if each.name == name)


def _chosen(text: str | None, known: tuple[str, ...], option: str) -> list[str]:
    """The names an option lists, in the order of the paper."""
    if text is None:
        return list(known)
    asked = [name.strip() for name in text.split(",") if name.strip()]
    for name in asked:
        if name not in known:
            raise click.BadParameter(f"there is no {name!r}; choose from {', '.join(known)}", param_hint=option)
    if not asked:
        raise click.BadParameter("must name at least one", param_hint=option)
    return [name for name in known if name in asked]


def _command(options: dict[str, Any], *more: str) -> str:
    """What was asked for, without the folders of this machine."""
    words = ["amiss reproduce", *more, "--data DIR"]
    words += [f"--{name} '{options[name]}'" for name in ("datasets", "methods") if options[name]]
    words += ["--partial"] * options["partial"]
    words += [f"--repeats {options['repeats']}"]
    return " ".join([*words, *["-o DIR"] * (options["output"] is not None)])


def _draw(data: Path, folder: Path, cells: list[Cell], fitting: bool) -> list[Path]:
    """The curves of each dataset and, ``fitting`` its models once more, the projection of the smallest."""
    from amiss.output.plots import save
    from amiss.paper.figures import curves_of, projection
    from amiss.paper.table2 import files

    written = []
    for dataset in dict.fromkeys(name for name, _, _ in cells):
        written.append(folder / f"tpar-{dataset}.png")
        save(curves_of(dataset, cells), written[-1])
    if fitting:
        smallest = min(
            {name for name, _, _ in cells},
            key=lambda name: sum(file.stat().st_size for file in files(data, name)[0]),
        )
        written.append(folder / f"rho-{smallest}.png")
        save(projection(data, smallest), written[-1])
    return written

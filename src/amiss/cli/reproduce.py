"""``amiss reproduce``: the paper's Table 2 and figures, beside other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.pipes import readers_may_leave

if TYPE_CHECKING:
    from amiss.paper.comparison import Cell


@click.command(short_help="Reproduce the paper's results, beside other tools.")
@click.option("--data", required=True, metavar="DIR", help="Folder with a folder of each Mulan dataset.")
@click.option(
    "--datasets", metavar="NAMES", help="Some of the datasets, separated by commas.  [default: all eight]"
)
@click.option(
    "--repeats", type=click.IntRange(1), default=10, show_default=True, help="Seeds 0, 1, … of the flips."
)
@click.option("--methods", metavar="NAMES", help="Some of the methods, separated by commas.  [default: all]")
@click.option("-o", "--output", required=True, metavar="DIR", help="Where results, table and figures go.")
@click.option("--partial", is_flag=True, help="Compute nothing: show what is finished.")
@click.option("--no-figures", is_flag=True, help="Draw nothing (matplotlib is not needed then).")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def reproduce(**options: Any) -> None:
    """Reproduce the paper's Table 2 and figures, and compare with other tools.

    1 % of the rows get 2.5 to 20 % of their outputs flipped; every method sees the same flipped
    table, and its models are fitted to it. What is finished is kept: a run that was stopped goes on
    where it stopped.

    \b
    amiss reproduce --data mulan -o results                                  the whole table: hours
    amiss reproduce --data mulan --datasets yeast,birds --repeats 2 -o some  a minute
    """  # fmt: skip
    from amiss import progress
    from amiss.errors import DataError
    from amiss.files import atomic_write, check_writable
    from amiss.output.plots import require_matplotlib
    from amiss.paper.cells import collected, jobs, run
    from amiss.paper.comparison import markdown
    from amiss.paper.methods import METHODS
    from amiss.paper.table2 import TABLE

    datasets = _chosen(options["datasets"], tuple(TABLE), "--datasets")
    methods = _chosen(options["methods"], METHODS, "--methods")
    data, folder = Path(options["data"]), Path(options["output"])
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: this is a file; name a folder")
    if not options["partial"]:
        folder.mkdir(parents=True, exist_ok=True)
        check_writable(folder / "table.md")
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


def _command(options: dict[str, Any]) -> str:
    """What was asked for, without the folders of this machine."""
    words = ["amiss reproduce --data DIR"]
    words += [f"--{name} '{options[name]}'" for name in ("datasets", "methods") if options[name]]
    words += ["--partial"] * options["partial"]
    return " ".join([*words, f"--repeats {options['repeats']}", "-o DIR"])


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

"""``amiss find``: files in, a ranked list out."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from amiss.dataset import Dataset
    from amiss.detector import MCODE


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--outputs",
    metavar="SPEC",
    help="Output columns: names or globs ('tag_*') separated by commas, "
    "a Mulan XML file, or last:14. Not needed for svmlight and npz.",
)
@click.option("--id", "id_column", metavar="COL", help="Column that names the rows.")
@click.option("--drop", metavar="COL", multiple=True, help="Column (or glob) to leave out; may be repeated.")
@click.option("--categorical", metavar="COL", multiple=True, help="Column of numbers that are categories.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["csv", "tsv", "arff", "svmlight", "npz", "parquet"]),
    help="Format of the files, where the suffix does not tell.",
)
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    help="Ranked list of all rows: .csv, .parquet or .jsonl; - is CSV on standard output.",
)
@click.option(
    "--reasons",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="K",
    help="How many outputs a row of the list names.",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    metavar="N",
    help="How many rows to print.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.01,
    show_default=True,
    metavar="SHARE",
    help="Share of the rows to flag.",
)
@click.option(
    "--alerts", type=click.IntRange(1), metavar="N", help="Number of rows to flag, instead of --rate."
)
@click.option(
    "--score",
    type=click.Choice(["lrw", "rw", "prod"]),
    default="lrw",
    show_default=True,
    help="Weights from each row's neighbourhood, from all rows, or none.",
)
@click.option(
    "--weighting",
    type=click.Choice(["sqrt", "error", "brier"]),
    default="sqrt",
    show_default=True,
    help="What the weights are the inverse of.",
)
@click.option(
    "--parents",
    type=click.Choice(["others", "chain", "none"]),
    default="others",
    show_default=True,
    help="Which other outputs the model of an output sees.",
)
@click.option(
    "--crossfit",
    type=click.Choice(["half", "yes", "no"]),
    default="half",
    show_default=True,
    help="Score rows by models that did not see them.",
)
@click.option(
    "--scaling",
    type=click.Choice(["block", "none", "standard", "maxabs", "log-unit"]),
    default="block",
    show_default=True,
    help="How inputs are scaled.",
)
@click.option(
    "--neighbors",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="K",
    help="Size of the neighbourhood for lrw.",
)
@click.option(
    "--neighbor-space",
    type=click.Choice(["joint", "inputs"]),
    default="joint",
    show_default=True,
    help="Where neighbours are near: in inputs and outputs, or in inputs.",
)
@click.option(
    "--exclude",
    metavar="COL",
    multiple=True,
    help="Output (or glob) to leave out of the score; it still serves as a parent.",
)
@click.option("--min-skill", type=float, metavar="S", help="Leave outputs below this skill out of the score.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seeds the folds.")
@click.option("--jobs", type=int, default=-1, show_default=True, help="Threads; -1 is all cores.")
@click.option("--quality", is_flag=True, help="Also print how good the model of each output is.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary and the top rows as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def find(files: tuple[str, ...], **options: Any) -> None:
    """Find the rows whose outputs do not go with their inputs.

    FILE may be CSV, TSV, Parquet, ARFF, svmlight or npz, plain or gzipped, or - for standard input;
    the rows of several files are joined. Outputs are columns of 0 and 1, and an empty cell is missing.

    \b
    amiss find photos.csv --outputs 'tag_*' --id photo -o found.csv
    amiss find yeast.arff --outputs yeast.xml
    zcat today.csv.gz | amiss find - --outputs last:14 -o - | head
    """  # fmt: skip
    from amiss.cli import output, terminal
    from amiss.readers import read

    if options["exclude"] and options["min_skill"] is not None:
        raise click.UsageError("--exclude and --min-skill cannot be combined")
    target = None
    if options["output"] is not None:
        target = output.Target.of(options["output"], inputs=files)
    data = read(
        *files,
        outputs=options["outputs"],
        id=options["id_column"],
        drop=options["drop"],
        categorical=options["categorical"],
        format=options["file_format"],
    )
    detector = _detector(data, options).fit(data.X, data.Y)
    if target is not None:
        output.write(target, detector, data, options["reasons"])
    if options["quiet"] or (target is not None and target.is_stdout):
        return
    if options["as_json"]:
        click.echo(terminal.as_json(detector, data, options["top"], options["reasons"]))
        return
    click.echo(terminal.summary(detector, data))
    click.echo(terminal.top_table(detector, data, options["top"], options["reasons"]))
    if options["quality"]:
        click.echo("\n" + str(detector.output_quality_))
    if target is not None:
        click.echo(f"\nAll {len(data)} rows, ranked: {target.path}")


def _detector(data: Dataset, options: dict[str, Any]) -> MCODE:
    from amiss.detector import MCODE
    from amiss.errors import DataError

    share = options["rate"]
    if options["alerts"] is not None:
        if options["alerts"] > len(data) / 2:
            raise DataError(f"--alerts {options['alerts']} is more than half of the {len(data)} rows")
        share = options["alerts"] / len(data)
    exclude: Any = options["min_skill"]
    if options["exclude"]:
        exclude = _excluded(options["exclude"], data.output_names)
    return MCODE(
        parents=options["parents"],
        score=options["score"],
        weighting=options["weighting"],
        crossfit="half" if options["crossfit"] == "half" else options["crossfit"] == "yes",
        n_neighbors=options["neighbors"],
        neighbor_space=options["neighbor_space"],
        scaling=options["scaling"],
        exclude=exclude,
        contamination=share,
        random_state=options["seed"],
        n_jobs=options["jobs"],
        verbose=not options["quiet"] and sys.stderr.isatty(),
    )


def _excluded(patterns: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    from fnmatch import fnmatchcase

    from amiss.errors import DataError, listed, shown

    found = []
    for pattern in patterns:
        matching = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not matching:
            raise DataError(
                f"--exclude: no output is named or matches {shown(pattern)}; there are {listed(names)}"
            )
        found.extend(matching)
    return found

"""``amiss fit``: files in, a model file out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.detecting import fitted_to, given, model_options, refuse_contradictions
from amiss.cli.grouped import GroupedCommand
from amiss.cli.listing import output_option, refuse_mistaken_output
from amiss.cli.reading import all_files, read_table, reading_options

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.fitted import FittedDetector


@click.command(cls=GroupedCommand, short_help="Fit and save a model, to score new rows later.")
@reading_options
@output_option("-o", "--output", metavar="MODEL", required=True, help="The model file, such as model.amiss.")
@output_option(
    "--without-rows",
    is_flag=True,
    help="Keep no row in the model. Weights then come from all rows, not from each row's neighbours.",
)
@output_option(
    "--no-calibration",
    is_flag=True,
    help="Save four fifths of the time. amiss score then has no p-values, and --fdr compares with the models.",
)
@model_options
@output_option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def fit(files: tuple[str, ...], **options: Any) -> None:
    """Fit a model to the rows of FILE and save it, to score new rows later.

    The model holds the rows, unless --without-rows says otherwise, so guard it like the data; only you can
    read it (mode 0600). Even without rows it holds the names of columns and categories and up to 256 values of
    each column, and a coarse trace of each row. How high unseen rows score is measured too (five more fits), for
    the threshold, p-values and --fdr.

    \b
    amiss fit photos.csv --outputs 'tag_*' --id photo -o photos.amiss
    amiss score photos.amiss new-photos.csv -o found.csv
    """  # fmt: skip
    from amiss.decisions.calibration import FEWEST_ROWS
    from amiss.errors import DataError
    from amiss.files import check_writable
    from amiss.persistence import save_fitted
    from amiss.wording import count

    refuse_contradictions(options)
    refuse_mistaken_output(options)
    if options["alerts"] is not None:
        raise click.UsageError("--alerts counts rows of one table; use --rate here, or --alerts with amiss score")
    path = Path(options["output"])
    if path.suffix != ".amiss":
        raise DataError(f"{path}: a model file ends in .amiss")
    check_writable(path, all_files(files, options))
    if options["without_rows"]:
        if given("neighbors") and options["neighbors"]:
            raise click.UsageError("neighbours are rows of the fit; leave out --neighbors or --without-rows")
        options["neighbors"] = 0
    data = read_table(files, options)
    if len(data) < FEWEST_ROWS and not options["no_calibration"]:
        raise DataError(
            f"{data.Y.files}{count(len(data), 'row')} are too few for a calibration; pass --no-calibration"
        )
    fitted = fitted_to(data, options)
    why_not = ""
    if not options["no_calibration"]:
        try:
            fitted = fitted.calibrated(*fitted.columns.align(data.X, data.Y, data.probabilities))
        except DataError as error:  # the fit is good all the same
            why_not = f" ({error})"
    group = () if data.groups is None else data.groups.names
    reading = {
        "id": data.id_column,
        "drop": [*data.left_out, *filter(None, [options["pictures"]]), *group, *data.shown],
        "probabilities": () if data.probabilities is None else data.probabilities.names,
        "columns": data.columns,
    }
    fitted = replace(fitted, reading=reading)
    save_fitted(fitted, path, rows=not options["without_rows"])
    if why_not:
        click.echo(f"amiss: the model is not calibrated{why_not}; new rows will have no p-values", err=True)
    if not options["quiet"]:
        click.echo(_summary(fitted, data, path, options))


def _summary(fitted: FittedDetector, data: Dataset, path: Path, options: dict[str, Any]) -> str:
    from amiss.cli.terminal import inputs_of, listing, wrapped
    from amiss.output.summary import BY_SIMULATION, remarks
    from amiss.wording import count

    holds = "without the rows" if options["without_rows"] else "with the rows, so guard it like the data"
    lines = [
        f"{count(len(data), 'row')}, {inputs_of(data)}, "
        f"{count(len(fitted.columns.outputs), 'output')}: {path}, {_size(path)}, {holds}.",
        *(wrapped(line) for line in [*data.notes, *remarks(fitted)] if line != BY_SIMULATION),
    ]
    if data.X.levels:
        lines.append(
            listing("Inputs read as categories", [data.input_names[column] for column in sorted(data.X.levels)])
        )
    by_level = options["fdr"] is not None or options["rate"] == "auto"
    if fitted.calibration is None:
        reason = "the threshold is that of rows of the fit; new rows score a little higher."
        if by_level:
            reason = "new rows are compared with rows simulated by the models."
        lines.append(wrapped(f"Not calibrated: {reason}"))
    elif not by_level:
        above = int((fitted.calibration.scores > fitted.decision.threshold).sum())
        about = "about " if options["without_rows"] else ""  # the file has it rounded
        lines.append(
            f"A new row is flagged if it scores above {about}{fitted.decision.threshold:.4g}. "
            f"Of {count(len(fitted.calibration), 'held-out row')}, {above:,} {'does' if above == 1 else 'do'}."
        )
    lines.append(f"To score other rows: amiss score {path} FILE{' --inputs NPY' * bool(options['inputs'])}")
    return "\n".join(lines)


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"

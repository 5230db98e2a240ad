"""``amiss find``: files in, a ranked list out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from amiss.cli.detecting import detector_options, fitted_to, refuse_contradictions, refuse_quiet_json
from amiss.cli.grouped import GroupedCommand
from amiss.cli.listing import list_options, output_option, refuse_lines_without_a_list, refuse_mistaken_output
from amiss.cli.pipes import readers_may_leave
from amiss.cli.reading import all_files, read_table, reading_options
from amiss.cli.reports import about_report, check_report, report_options

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.fitted import FittedDetector
    from amiss.output.lists import Target
    from amiss.output.ranking import RankedRow


@click.command(cls=GroupedCommand)
@reading_options
@list_options
@output_option(
    "--cells",
    is_flag=True,
    help="List single outputs instead of rows: which value of which row to correct, most suspicious first.",
)
@report_options
@detector_options
@output_option("--quality", is_flag=True, help="Also print how good the model of each output is.")
@output_option("--json", "as_json", is_flag=True, help="Print the summary and the top rows as JSON.")
@output_option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def find(files: tuple[str, ...], **options: Any) -> None:
    """Find the rows whose outputs do not match their inputs.

    FILE may be CSV, TSV, Excel, SQLite, DuckDB, Parquet, Arrow, JSON, ARFF, svmlight or npz, plain or gzipped,
    or - for standard input; the rows of several files are joined. Outputs are tags (0 and 1), classes, counts or
    numbers; an empty cell is missing.
    Options that name columns take names and globs, separated by commas or repeated.

    \b
    amiss find photos.csv --outputs 'tag_*' --id photo -o found.csv
    amiss find photos.csv --outputs 'tag_*' --id photo --cells -o cells.csv
    amiss find photos.csv --outputs 'tag_*' --id photo --pictures file --report photos.html
    amiss find tags.csv --outputs 'tag_*' --inputs embeddings.npy
    amiss find yeast.arff --outputs yeast.xml
    amiss find photos.xlsx --sheet 2024 --outputs 'tag_*' -o found.xlsx
    amiss find 'clinic.sqlite::SELECT * FROM visits WHERE year = 2024' --outputs ill
    zcat today.csv.gz | amiss find - --outputs last:14 -o - | head
    """  # fmt: skip
    from amiss.output.cells import suspicious_cells
    from amiss.output.lists import Target, write_cells, write_list
    from amiss.output.ranking import RankedList

    refuse_contradictions(options)
    refuse_quiet_json(options)
    refuse_lines_without_a_list(options)
    if options["output_format"] is None:
        refuse_mistaken_output(options)
    if options["output"] == "-" and options["as_json"]:
        raise click.UsageError("--json and -o - both write to standard output; use --output-format jsonl")
    target = None
    if options["output"] is not None:
        target = Target.of(options["output"], options["output_format"], inputs=all_files(files, options))
    if options["report"] is not None:
        check_report(options["report"], options["output"], all_files(files, options))
    elif options["pictures"] is not None:
        raise click.UsageError("--pictures is for the report; add --report report.html, or --drop the column")
    data = read_table(files, options)
    if target is not None:
        target.check_size(len(data) * (len(data.output_names) if options["cells"] else 1))
    has_report = options["report"] is not None
    fitted = fitted_to(data, options, overwrite=not has_report)
    if has_report:
        _report(fitted, data, files, options)
    data = data.without_inputs()
    top = options["top"] if options["top"] is not None else max(10, options["alerts"] or 0)
    ranked = RankedList.of_fit(fitted, data, top if target is None or options["cells"] else None)
    rows = list(ranked.ranked(options["reasons"], top))
    in_a_pipe = target is not None and target.is_stdout
    with readers_may_leave():
        if in_a_pipe and not options["quiet"]:  # whose reader may leave
            _print(fitted, data, rows, target, options)
        if target is not None and options["cells"]:
            write_cells(target, suspicious_cells(fitted.training_rows), data)
        elif target is not None:
            n_reasons = min(options["reasons"], len(fitted.columns.outputs))
            write_list(target, ranked, n_reasons, options["one_line_per"])
        if not in_a_pipe and not options["quiet"]:
            _print(fitted, data, rows, target, options)


def _print(
    fitted: FittedDetector,
    data: Dataset,
    rows: list[RankedRow],
    target: Target | None,
    options: dict[str, Any],
) -> None:
    """What a person or a program reads, beside the list; on standard error if the list has the other."""
    from amiss.cli import terminal
    from amiss.output.cells import suspicious_cells
    from amiss.wording import count

    to_stdout = target is not None and target.is_stdout
    if options["as_json"]:
        click.echo(terminal.as_json(fitted, data, rows, options["quality"]))
        return
    click.echo(terminal.summary(fitted, data), err=to_stdout)
    if not to_stdout and options["cells"]:
        click.echo(terminal.cell_table(list(suspicious_cells(fitted.training_rows, len(rows))), data))
    elif not to_stdout:
        click.echo(terminal.top_table(rows, fitted.training_scores, fitted.decision.flagged))
    if options["quality"]:
        click.echo(terminal.quality_table(fitted), err=to_stdout)
    if target is not None and not to_stdout:
        n_listed = int(fitted.training_rows.counted.sum()) if options["cells"] else len(data)
        what = count(n_listed, "cell" if options["cells"] else "row")
        click.echo(f"\nAll {what}, ranked: {target.path}")
    if options["report"] is not None:
        click.echo(f"\nReport: {options['report']}", err=to_stdout)


def _report(fitted: FittedDetector, data: Dataset, files: tuple[str, ...], options: dict[str, Any]) -> None:
    from amiss.output.report import write_report

    inputs = fitted.columns.align(data.X, data.Y, data.probabilities)[0]
    write_report(options["report"], fitted, inputs, pictures=data.pictures, **about_report(data, files, options))

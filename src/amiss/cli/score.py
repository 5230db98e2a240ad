"""``amiss score``: new rows, by a model that was fitted before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.detecting import Level, cut_option, refuse_quiet_json, refuse_two_cuts
from amiss.cli.grouped import GroupedCommand
from amiss.cli.listing import list_options, output_option, refuse_lines_without_a_list
from amiss.cli.pipes import readers_may_leave
from amiss.cli.reading import all_files, read_like, rereading_options
from amiss.cli.reports import about_report, check_report, report_options
from amiss.decisions.registry import COMPARISONS

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.monitoring.batch import ScoredBatch
    from amiss.output.lists import Target
    from amiss.output.ranking import RankedRow


@click.command(cls=GroupedCommand, short_help="Score new rows by a model.")
@click.argument("model", metavar="MODEL")
@rereading_options
@list_options
@report_options
@cut_option(
    "--rate",
    type=Level(0.5, highest_too=True),
    metavar="SHARE",
    help="Flag rows that score as high as this share of the rows held out of the fit.",
)
@cut_option("--alerts", type=click.IntRange(1), metavar="N", help="Flag the N most unusual of these rows.")
@cut_option(
    "--fdr",
    type=Level(1),
    metavar="LEVEL",
    help="Flag as many of these rows as keep the share of false ones at this level.",
)
@cut_option(
    "--against",
    type=click.Choice([*COMPARISONS]),
    help="What --fdr compares with. rows: rows held out of the fit, which is right if clean new rows are like "
    "them but finds little if many of them are wrong. models: rows simulated by the models, which is right only "
    "if their probabilities are accurate.  [default: rows, if the model is calibrated]",
)
@output_option("--strict", is_flag=True, help="Refuse rows with categories, scales or gaps the fit has not seen.")
@output_option("--drift", is_flag=True, help="Also print each output's mean error against the fit.")
@output_option("--json", "as_json", is_flag=True, help="Print the summary, the drift and the top rows as JSON.")
@output_option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def score(model: str, files: tuple[str, ...], **options: Any) -> None:
    """Score the rows of FILE by a MODEL that amiss fit has made, most unusual first.

    Columns are matched by name, in any order; the id, dropped columns and categories are those of the fit unless
    options say otherwise. By default rows are flagged as the fit decided: by its threshold, or by its --fdr level.
    --rate, --alerts and --fdr override this. A row that was used in the fit keeps the score it had there.

    For a few rows a day use the threshold or --alerts: to find k wrong rows among N, --fdr LEVEL needs
    N / (k LEVEL) rows in the fit, and a smaller share of wrong rows among them.

    \b
    amiss score photos.amiss new-photos.csv -o found.csv
    amiss score photos.amiss new-photos.csv --alerts 5
    amiss score photos.amiss new-photos.csv --fdr 0.1
    amiss score photos.amiss new-tags.csv --inputs new-embeddings.npy
    """  # fmt: skip
    from amiss.decisions.settings import BatchRequest
    from amiss.output.lists import Target, write_list
    from amiss.output.ranking import RankedList
    from amiss.persistence import load_fitted

    refuse_two_cuts(options)
    refuse_quiet_json(options)
    refuse_lines_without_a_list(options)
    if options["against"] is not None and options["fdr"] is None:
        raise click.UsageError("--against is for --fdr")
    if options["output"] == "-" and options["as_json"]:
        raise click.UsageError("--json and -o - both write to standard output; use --output-format jsonl")
    target = None
    if options["output"] is not None:
        read = (model, *all_files(files, options))
        target = Target.of(options["output"], options["output_format"], inputs=read)
    if options["report"] is not None:
        check_report(options["report"], options["output"], (model, *all_files(files, options)))
    fitted = load_fitted(Path(model))
    if options["fdr"] is not None and fitted.calibration is None:
        asked_for = options["against"]
        if asked_for is not None and COMPARISONS[asked_for].needs_calibration:
            raise click.UsageError("the model is not calibrated (see amiss fit); --against models needs none")
    data = read_like(fitted, files, options)
    if target is not None:
        target.check_size(len(data))
    request = BatchRequest(*(options[name] for name in ("fdr", "rate", "alerts", "against")))
    table = fitted.columns.align(data.X, data.Y, data.probabilities)
    batch = fitted.score_batch(fitted.encode(*table), request)
    if options["strict"]:
        _refuse_unseen(batch, data)
    if options["report"] is not None:
        from amiss.output.report import write_report

        write_report(options["report"], fitted, table[0], batch=batch, **about_report(data, files, options))
    top = options["top"] if options["top"] is not None else max(10, options["alerts"] or 0)
    n_reasons = min(options["reasons"], len(fitted.columns.outputs))
    ranked = RankedList.of_batch(fitted, batch, data, None if target is not None else top)
    rows = list(ranked.ranked(n_reasons, top))
    in_a_pipe = target is not None and target.is_stdout
    with readers_may_leave():
        if in_a_pipe and not options["quiet"]:  # whose reader may leave
            _print(batch, data, rows, target, options)
        if target is not None:
            write_list(target, ranked, n_reasons, options["one_line_per"])
        if not in_a_pipe and not options["quiet"]:
            _print(batch, data, rows, target, options)


def _refuse_unseen(batch: ScoredBatch, data: Dataset) -> None:
    from amiss.errors import DataError, quoted

    found = [
        f"{data.X.where(int(each.rows[0]))}, column {quoted(each.column)}: {each.finding}"
        for each in batch.findings.unseen
    ]
    if found:
        raise DataError("; ".join(found))


def _print(
    batch: ScoredBatch, data: Dataset, rows: list[RankedRow], target: Target | None, options: dict[str, Any]
) -> None:
    from amiss.cli import terminal
    from amiss.wording import count

    to_stdout = target is not None and target.is_stdout
    if options["as_json"]:
        click.echo(_as_json(batch, data, rows))
        return
    click.echo(_summary(batch, data), err=to_stdout)
    if not to_stdout:
        click.echo(terminal.top_table(rows, batch.scores, batch.flagged))
    if options["drift"]:
        click.echo("\n" + _drift_table(batch), err=to_stdout)
    if target is not None and not to_stdout:
        click.echo(f"\nAll {count(len(data), 'row')}, ranked: {target.path}")
    if options["report"] is not None:
        click.echo(f"\nReport: {options['report']}", err=to_stdout)


def _summary(batch: ScoredBatch, data: Dataset) -> str:
    from amiss.cli.terminal import wrapped
    from amiss.wording import count

    first = f"{count(len(data), 'row')}: {batch.decision.in_words()}"
    expected, new = batch.expected_by_chance, batch.rows.is_new
    if expected is not None and batch.decision.level is None and new.any():
        n_new = int(new.sum())
        if not new.all():
            n_found = int(batch.flagged[new].sum())
            are = "is" if n_found == 1 else "are"
            first += f" Of the {count(n_new, 'new row')}, {n_found:,} {are} flagged."
        ordinary = count(n_new, "ordinary new row")
        first += f" Of {ordinary}, about {_about(expected)} would score this high by chance."
    return "\n".join(map(wrapped, [first, *data.notes, *batch.remarks()]))


def _about(number: float) -> str:
    """
    >>> _about(0.04), _about(5.97), _about(2.46), _about(1234.5)
    ('0.04', '6', '2.5', '1,234')
    """
    if number < 0.95:
        return f"{number:.1g}"
    return f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:,.0f}"


def _drift_table(batch: ScoredBatch) -> str:
    from amiss.cli.terminal import aligned
    from amiss.wording import printable

    head = ["output", "rows", "mean error", "in the fit", "standard errors apart", ""]
    lines = [
        [
            printable(name),
            f"{rows:.0f}",
            f"{found:.3f}",
            f"{usual:.3f}",
            f"{z:+.1f}",
            "drifted" if drifted else "",
        ]
        for name, rows, found, usual, z, drifted in zip(
            batch.findings.drift.name,
            batch.findings.drift.rows,
            batch.findings.drift.found,
            batch.findings.drift.usual,
            batch.findings.drift.z,
            batch.findings.drift.drifted,
            strict=True,
        )
    ]
    return aligned([head, *lines])


def _as_json(batch: ScoredBatch, data: Dataset, rows: list[RankedRow]) -> str:
    import json

    from amiss.output.shown import record_with_shown
    from amiss.wording import six_digits

    result = {
        "rows": len(batch),
        "flagged": int(batch.flagged.sum()),
        "threshold": six_digits(batch.threshold),
        "by": batch.decision.by,
        "reason": batch.decision.reason,
        "fdr": batch.decision.level,
        "expected_by_chance": six_digits(batch.expected_by_chance),
        "in_fit": int((batch.in_fit >= 0).sum()) if batch.knows_fit else None,
        "remarks": batch.remarks(),
        "remark_codes": [str(remark.code) for remark in batch.coded_remarks()],
        "unseen": [
            {"column": each.column, "kind": each.kind, "rows": len(each.rows), "first_row": int(each.rows[0]) + 1}
            for each in batch.findings.unseen
        ],
        "shifted": [each.to_dict() for each in batch.findings.shifts],
        "drift": batch.findings.drift.to_dict(),
        "top": [record_with_shown(row, data.shown) for row in rows],
    }
    return json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False)

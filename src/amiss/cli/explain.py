"""``amiss explain``: why one row has its score."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amiss.cli.detecting import (
    detector_options,
    fitted_to,
    refuse_contradictions,
    refuse_detector_options,
)
from amiss.cli.grouped import GroupedCommand
from amiss.cli.listing import output_option
from amiss.cli.pipes import readers_may_leave
from amiss.cli.reading import read_like, read_table, reading_options
from amiss.wording import six_digits

if TYPE_CHECKING:
    from amiss.data.dataset import Dataset
    from amiss.explanations.explained_output import ExplainedOutput
    from amiss.explanations.explanation import Explanation

MOST_TERMS = 8


class _WithRow(GroupedCommand):
    """Of one name alone, click takes the row and misses the file; a person has given the file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter:
            if ctx.params.get("row") is None:
                raise click.UsageError("Missing arguments FILE and ROW: amiss explain FILE ROW", ctx) from None
            raise click.UsageError("name the row too: amiss explain FILE ROW", ctx) from None


@click.command(cls=_WithRow, short_help="Say why a row has its score.")
@reading_options
@click.argument("row", is_eager=True)
@detector_options
@output_option("--json", "as_json", is_flag=True, help="Print the explanation as JSON.")
@output_option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
def explain(files: tuple[str, ...], row: str, **options: Any) -> None:
    """Say why a row of FILE has its score: which output is suspicious, what was expected, and why.

    ROW is the row's number, counted from 1 as in the list of amiss find, or with --id its id (or, if no row
    has that id, its number). FILE is read and fitted as by amiss find, so give the same options. Or name a model
    of amiss fit first: it explains the row of FILE and needs no options.

    \b
    amiss explain photos.csv 477 --outputs 'tag_*'
    amiss explain photos.csv IMG_0477 --outputs 'tag_*' --id photo
    amiss explain photos.amiss new-photos.csv IMG_0512     by a model of amiss fit
    """  # fmt: skip
    import json

    from amiss.fitted import explain_new_row
    from amiss.persistence import load_fitted
    from amiss.wording import row_name

    refuse_contradictions(options)
    by_model = files[0].endswith(".amiss")
    if by_model and len(files) == 1:
        raise click.UsageError("name the file with the row too: amiss explain MODEL FILE ROW")
    if by_model:
        refuse_detector_options()
        fitted = load_fitted(Path(files[0]))
        data = read_like(fitted, files[1:], options)
        number = _number(row, data)
        table = fitted.columns.align(data.X, data.Y, data.probabilities)
        explanation = explain_new_row(fitted, *table, number)
    else:
        data = read_table(files, options)
        number = _number(row, data)
        explanation = next(fitted_to(data, options).explainer.training_rows([number]))
    explanation = replace(explanation, label=row_name(number, data.ids), values=data.X.texts(number))
    with readers_may_leave():
        if options["as_json"]:
            plain = explanation.to_dict() | {"row": number + 1}
            near = explanation.neighbors and [near + 1 for near in explanation.neighbors]
            plain["neighbors"] = near
            if by_model:  # they are rows of the fit, not of this file
                plain["neighbors_in_fit"] = plain.pop("neighbors")
            del plain["values"]  # the file has them
            click.echo(json.dumps(_rounded(plain), ensure_ascii=False, indent=2, allow_nan=False))
        else:
            click.echo(_text(explanation))


def _rounded(entry: Any) -> Any:
    """The same with every number as lists and other JSON have it."""
    if isinstance(entry, dict):
        return {name: _rounded(value) for name, value in entry.items()}
    if isinstance(entry, list | tuple):
        return [_rounded(value) for value in entry]
    return six_digits(entry) if isinstance(entry, float) else entry


def _number(row: str, data: Dataset) -> int:
    """The number from 0 of the row that is meant."""
    from amiss.errors import DataError, quoted

    found = [number for number, each in enumerate(data.ids or ()) if each == row]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(
            f"{len(found)} rows have the id {quoted(row)}; give the row's number instead, without --id "
            "(or with --id '')"
        )
    if _is_file(row):
        raise DataError(f"{row} is a file; name the row after the files: amiss explain {row} ROW")
    is_number = row.isdecimal() and len(row) < 18 and 1 <= int(row) <= len(data)
    if not is_number:
        named = "no row has the id" if data.ids is not None else "there is no row"
        raise DataError(f"{named} {quoted(row)}; rows are numbered from 1 to {len(data):,}")
    return int(row) - 1


def _is_file(row: str) -> bool:
    try:
        return Path(row).is_file()
    except (OSError, ValueError):  # no name of a file
        return False


def _text(explanation: Explanation) -> str:
    """Sentences, then the numbers behind them."""
    from amiss.cli.terminal import wrapped

    parts = [wrapped(" ".join(explanation.sentences()))]
    if explanation.suspects:
        parts.append(_outputs(explanation))
        first = explanation.suspects[0]
        if first.grounds is not None:
            parts.append(_grounds(first, explanation))
    return "\n\n".join(parts)


def _outputs(explanation: Explanation) -> str:
    from amiss.cli.terminal import aligned
    from amiss.wording import percent, printable, value_text

    tags = all(each.is_tag for each in explanation.outputs)
    head = [
        "output",
        "is",
        "chance of 1" if tags else "chance of it",
        "contribution",
        "share",
        "score if changed",
        "neighbours alike",
    ]
    lines = [
        [
            printable(each.output),
            printable(value_text(each.observed)),
            percent(each.chance_of_one if tags and each.chance_of_one is not None else each.probability),
            f"{six_digits(each.contribution):.4g}",  # as the report has it, which rounds what JSON has
            percent(each.share_of_score),
            "" if each.score_if_changed is None else f"{six_digits(each.score_if_changed):.4g}",
            "" if each.neighbors_known is None else f"{each.neighbors_alike} of {each.neighbors_known}",
        ]
        for each in explanation.suspects
    ]
    others = explanation.outputs[explanation.n_suspects :]
    if others:
        rest = sum(each.contribution for each in others)
        lines.append([f"({len(others)} more)", "", "", f"{rest:.4g}", percent(rest / explanation.score), "", ""])
    return aligned([head, *lines])


def _grounds(output: ExplainedOutput, explanation: Explanation) -> str:
    from amiss.cli.terminal import aligned
    from amiss.wording import printable, value_text

    grounds = output.grounds
    assert grounds is not None
    terms = grounds.largest(MOST_TERMS)
    lines = [[f"{term.kind} {explanation.with_value(term)}", f"{term.log_odds:+.3f}"] for term in terms]
    named = sum(term.log_odds for term in terms)
    rest = float(grounds.inputs.sum() + grounds.outputs.sum()) - named
    lines = [
        ["in the average row", f"{grounds.average:+.3f}"],
        *lines,
        ["all other columns", f"{rest:+.3f}"],
        ["in this row", f"{grounds.log_odds:+.3f}"],
    ]
    what = "is 1 (plus speaks for 1, minus for 0)"
    if not output.is_tag:
        what = f"is {printable(value_text(output.observed))} (plus speaks for it, minus against it)"
    return f"Log-odds that {printable(output.output)} {what}:\n{aligned(lines)}"

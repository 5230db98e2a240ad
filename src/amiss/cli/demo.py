"""``amiss demo``: falsified tags of handwritten digits, and how many of them are found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amiss.cli.pipes import readers_may_leave

if TYPE_CHECKING:
    from amiss.detector import MCODE
    from amiss.evaluation.digits import TaggedDigits
    from amiss.output.ranking import RankedRow

N_ROWS, N_PICTURES = 10, 5
SHADES, PLAIN_SHADES = " ░▒▓█", " .:*#"


@click.command()
@click.option(
    "--save", metavar="DIR", help="Also write the table (digits.csv) and the truth (falsified.csv) there."
)
@click.option("--report", metavar="HTML", help="Also write a report with the pictures.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Which tags are falsified.")
def demo(save: str | None, report: str | None, seed: int) -> None:
    """Falsify tags of handwritten digits, and find them again.

    The pictures are scikit-learn's own, so nothing is downloaded. Seven tags say what a digit is
    (even, prime, has a loop, ...); in 2 % of the pictures, drawn at random, one tag is flipped.
    """
    from amiss.detector import MCODE
    from amiss.evaluation.digits import tagged_digits

    if report is not None:
        _make_folder_of(report)
    tagged = tagged_digits(seed)
    data, n_false = tagged.data, len(tagged.falsified)
    detector = MCODE(contamination=n_false / len(data), verbose=sys.stderr.isatty()).fit(data.X, data.Y)
    with readers_may_leave():
        _print(detector, tagged)
        if save is not None:
            _save(tagged, Path(save))
        if report is not None:
            _report(detector, tagged, report)


def _print(detector: MCODE, tagged: TaggedDigits) -> None:
    from amiss.cli.terminal import top_table
    from amiss.output.ranking import RankedList
    from amiss.wording import count

    data, n_false = tagged.data, len(tagged.falsified)
    click.echo(
        f"{count(len(data), 'picture')} of handwritten digits with {len(data.output_names)} tags each; "
        f"in {n_false} of them one tag was falsified."
    )
    rows = list(RankedList.of_fit(detector.fitted_, data, N_ROWS).ranked(1))
    click.echo(top_table(rows))
    click.echo("\nThe first of them:\n")
    click.echo(_pictures(rows[:N_PICTURES], tagged))
    click.echo("\n" + _verdict(detector, tagged))


def _pictures(rows: list[RankedRow], tagged: TaggedDigits) -> str:
    """The top pictures side by side, each with its rank, what is wrong, and the truth."""
    shades = SHADES if (sys.stdout.encoding or "").lower().startswith("utf") else PLAIN_SHADES
    columns = []
    for row in rows:
        reason, number = row.reasons[0], row.row - 1
        art = ["".join(shades[int(cell / 16 * (len(shades) - 1) + 0.5)] * 2 for cell in line)
               for line in tagged.picture(number)]  # fmt: skip
        truth = "falsified" if number in tagged.falsified else "as it was"
        columns.append([*art, f"{reason.output[4:]} = {reason.observed}?", f"({truth})"])
    return "\n".join("   ".join(cell.ljust(18) for cell in line).rstrip() for line in zip(*columns, strict=True))


def _verdict(detector: MCODE, tagged: TaggedDigits) -> str:
    import numpy as np

    n_false = len(tagged.falsified)
    top = np.argsort(-detector.decision_scores_, kind="stable")[:n_false].tolist()
    falsified = [row for row in top if row in tagged.falsified]
    found, named = len(falsified), 0
    for row, why in zip(falsified, detector.explain_rows(falsified), strict=True):
        named += why.suspects[0].output == tagged.falsified[row]
    return (
        f"Of the {n_false} most unusual pictures, {found} were falsified ({found / n_false:.0%}; "
        f"{n_false / len(tagged.data):.0%} by chance). In {named} of these {found}, "
        "amiss explain names the falsified tag first."
    )


def _make_folder_of(report: str) -> None:
    from amiss.files import check_writable

    Path(report).absolute().parent.mkdir(parents=True, exist_ok=True)
    check_writable(Path(report))


def _report(detector: MCODE, tagged: TaggedDigits, report: str) -> None:
    from amiss.output.report import write_report

    data = tagged.data
    pictures = [tagged.picture(row) for row in range(len(data))]
    write_report(report, detector.fitted_, data.X, ids=data.ids, pictures=pictures, title="Handwritten digits")
    click.echo(f"\nA report to look at: {report}")


def _save(tagged: TaggedDigits, folder: Path) -> None:
    import csv

    from amiss.files import atomic_write
    from amiss.output.list_formats import as_text

    data = tagged.data
    folder.mkdir(parents=True, exist_ok=True)
    assert data.ids is not None
    with atomic_write(folder / "digits.csv") as file, as_text(file) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["picture", *data.input_names, *data.output_names])
        for row_id, pixels, tags in zip(data.ids, data.X.values, data.Y.values, strict=True):
            writer.writerow([row_id, *(f"{cell:g}" for cell in pixels), *(f"{cell:g}" for cell in tags)])
    with atomic_write(folder / "falsified.csv") as file, as_text(file) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["picture", "tag"])
        writer.writerows((data.ids[row], tag) for row, tag in sorted(tagged.falsified.items()))
    click.echo(f"\nThe table: {folder / 'digits.csv'}; what was falsified in it: {folder / 'falsified.csv'}")

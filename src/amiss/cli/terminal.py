"""What a person reads in the terminal."""

from __future__ import annotations

import json
import shutil
import textwrap
from dataclasses import asdict
from typing import Any

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.data.dataset import Dataset
from amiss.data.remark import Code, Remark, coded
from amiss.fitted import FittedDetector
from amiss.output.cells import Cell
from amiss.output.ranking import RankedRow, Reason
from amiss.output.shown import record_with_shown
from amiss.output.summary import coded_remarks, estimate_sentence, left_out_of_the_score
from amiss.wording import count, percent, printable, probability, six_digits, value_text

LONGEST_ID, LONGEST_SHOWN, SHORT_SHOWN = 24, 16, 12
SMALL_SHARE = 0.05
LEGEND = "(! flagged; p: the model's probability of this value; %: its share of the score)"
CELL_LEGEND = "(p: the model's probability of this value; score: how suspicious it is, from 0 to 1)"
QUALITY_LEGEND = """(ones: share of 1; strength: penalty chosen; error: mean of 1 - p; brier: mean of its square;
skill: 0 is no better than always saying the base rate, 1 is perfect; auc: 0.5 is chance; weight: in the score)"""


def inputs_of(data: Dataset) -> str:
    """How many inputs there are, and whether the user's own predictions are beside them."""
    if data.probabilities is None:
        return count(len(data.input_names), "input")
    return "your probabilities" + (
        f", {count(len(data.input_names), 'further input')}" if data.input_names else ""
    )


def summary(fitted: FittedDetector, data: Dataset) -> str:
    """What was read as what, how much is flagged, and what looks doubtful."""
    names = list(data.output_names)
    left_out = left_out_of_the_score(fitted)
    lines = [
        f"{count(len(data), 'row')}, {inputs_of(data)}, {count(len(names), 'output')}"
        + (f" (left out of the score: {left_out})" if left_out else "")
        + f": {_flagged(fitted)}.",
        listing("Outputs", names),
    ]
    if data.X.levels:
        categories = [data.input_names[column] for column in sorted(data.X.levels)]
        lines.append(listing("Inputs read as categories", categories))
    if fitted.error_estimate is not None:
        lines.append(wrapped(estimate_sentence(fitted.error_estimate)))
    lines += [wrapped(remark.text) for remark in _remarks(fitted, data)]
    return "\n".join(lines)


def _remarks(fitted: FittedDetector, data: Dataset) -> list[Remark]:
    """How the table was read, where that needs saying, and what would mislead."""
    return [*coded(Code.READING, data.notes), *coded_remarks(fitted, data.ids)]


def _flagged(fitted: FittedDetector) -> str:
    decision = fitted.decision
    n_flagged, level = int(decision.flagged.sum()), decision.level
    by_level = "" if level is None else f" (false-discovery level {percent(level)})"
    if not n_flagged:
        return f"none flagged{by_level}"
    return f"{n_flagged:,} flagged, with a score above {decision.threshold:.4g}{by_level}"


def top_table(rows: list[RankedRow], scores: Floats | None = None, flagged: Mask | None = None) -> str:
    """The most unusual rows, one line each, cut to the width of the terminal; how many more are flagged of all."""
    if not rows:
        return ""
    text = _top_lines(rows, LONGEST_SHOWN)
    if rows[0].shown and max(map(len, text)) > width():  # reasons say more than what is shown beside them
        text = _top_lines(rows, SHORT_SHOWN)
    text = [_cut(line) for line in text]
    if scores is not None and flagged is not None:
        ranks = np.flatnonzero(flagged[np.argsort(-scores, kind="stable")]) + 1
        more = ranks[ranks > len(rows)]
        if len(more):
            are = "is" if len(more) == 1 else "are"
            them = "it" if len(more) == 1 else "them"
            text.append(
                f"{count(len(more), 'more row')} {are} flagged. "
                f"To see {them}, pass --top {more[-1]}, or write the list with -o."
            )
    return "\n" + "\n".join([*text, LEGEND])


def _top_lines(rows: list[RankedRow], longest: int) -> list[str]:
    """Head and rows of the table, with shown texts of at most ``longest`` characters."""
    with_ids, with_lines = rows[0].id is not None, [*rows[0].place] == ["line"]
    numbers = ["rank", "row", *(["line"] if with_lines else [])]
    shown = [printable(name, longest) for name in rows[0].shown]
    head = [*numbers, *(["id"] if with_ids else []), *shown, "score", "", "main contributions"]
    to_the_left = range(len(numbers), len(head) - 3)
    lines = [head]
    for row in rows:
        place = [str(row.place["line"])] if with_lines else []
        ids = [printable(row.id or "", LONGEST_ID)] if with_ids else []
        beside = [printable(text, longest) for text in row.shown.values()]
        mark = "!" if row.flagged else ""
        lines.append(
            [str(row.rank), str(row.row), *place, *ids, *beside, f"{row.score:.4g}", mark, _sentence(row)]
        )
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    text = []
    for line in lines:
        cells = [
            cell.ljust(width) if column in to_the_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line[:-1], widths, strict=True))
        ]
        text.append("  ".join([*cells, line[-1]]).rstrip())
    return text


def cell_table(cells: list[Cell], data: Dataset) -> str:
    """The cells that are most likely wrong, one line each."""
    if not cells:
        return ""
    ids = [] if data.ids is None else ["id"]
    shown = [printable(name, SHORT_SHOWN) for name in data.shown]
    lines = [["output", "row", *ids, *shown, "is", "suggested", "p", "score"]]
    for cell in cells:
        row_id = [] if data.ids is None else [printable(data.ids[cell.row], LONGEST_ID)]
        lines.append(
            [
                printable(cell.output, LONGEST_ID),
                str(cell.row + 1),
                *row_id,
                *(printable(texts[cell.row], SHORT_SHOWN) for texts in data.shown.values()),
                printable(value_text(cell.observed)),
                printable(value_text(cell.suggested)),
                probability(cell.probability),
                f"{cell.score:.3g}",
            ]
        )
    return "\n" + aligned(lines) + f"\n{CELL_LEGEND}"


def quality_table(fitted: FittedDetector) -> str:
    return f"\n{fitted.quality}\n{QUALITY_LEGEND}"


def as_json(fitted: FittedDetector, data: Dataset, rows: list[RankedRow], quality: bool) -> str:
    """Summary and top rows for a program."""
    decision, said = fitted.decision, _remarks(fitted, data)
    result: dict[str, Any] = {
        "rows": len(data),
        "inputs": len(data.input_names),
        "outputs": len(data.output_names),
        "output_names": list(data.output_names),
        "flagged": int(decision.flagged.sum()),
        "threshold": six_digits(decision.threshold),
        **({} if fitted.error_estimate is None else {"estimated_wrong": asdict(fitted.error_estimate)}),
        "rule": fitted.scorer.rule.name,
        **({} if fitted.choice is None else {"because": fitted.choice.why}),
        **({} if decision.level is None else {"fdr": decision.level}),
        "remarks": [remark.text for remark in said],
        "remark_codes": [str(remark.code) for remark in said],
        "top": [record_with_shown(row, data.shown) for row in rows],
    }
    if quality:
        columns = fitted.quality.to_dict()
        outputs = zip(*columns.values(), strict=True)
        result["quality"] = [dict(zip(columns, map(_without_nan, output), strict=True)) for output in outputs]
    return json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False)


def _without_nan(value: Any) -> Any:
    """JSON has none."""
    return None if isinstance(value, float) and value != value else value


def wrapped(text: str) -> str:
    """Prose broken at the width of the terminal."""
    return textwrap.fill(text, min(width(), 110), break_long_words=False, break_on_hyphens=False)


def aligned(lines: list[list[str]]) -> str:
    """A table: the first column to the left, the others to the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = []
    for first, *rest in lines:
        cells = [first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(rest, widths[1:], strict=True))]
        text.append(_cut("  ".join(cells)))
    return "\n".join(text)


def width() -> int:
    """How many characters a line of the terminal has."""
    return shutil.get_terminal_size((110, 24)).columns


def _cut(line: str) -> str:
    room = width()
    return (line if len(line) <= room else line[: room - 1] + "…").rstrip()


def listing(label: str, names: list[str]) -> str:
    """Names in one line."""
    return _cut(f"{label}: {', '.join(map(printable, names))}")


def _sentence(row: RankedRow) -> str:
    """The outputs that make the score, small parts left out."""
    telling = [reason for reason in row.reasons if reason.contribution >= SMALL_SHARE * row.score]
    return "; ".join(_reason(reason, row.score) for reason in telling)


def _reason(reason: Reason, score: float) -> str:
    name = printable(reason.output)
    share = reason.contribution / score
    return f"{name} = {printable(value_text(reason.observed))} (p {probability(reason.probability)}, {share:.0%})"

"""What a person reads in the terminal."""

from __future__ import annotations

import json
import shutil

from amiss.cli.output import record
from amiss.dataset import Dataset
from amiss.detector import MCODE
from amiss.ranking import RankedRow, Reason, ranked_rows

LONGEST_ID = 24
LONGEST_OUTPUT = 32
REASONS = "what does not fit (probability of the value, share of the score)"


def printable(text: str, longest: int) -> str:
    """Text as it may be printed: no control characters, not too long."""
    clean = "".join(letter if letter.isprintable() else "�" for letter in text)
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def summary(detector: MCODE, data: Dataset) -> str:
    """One sentence: how much was read, how much is flagged."""
    flagged = int(detector.labels_.sum())
    counts = f"{len(data)} rows, {len(data.input_names)} inputs, {len(data.output_names)} outputs"
    left_out = int(detector.output_quality_.excluded.sum())
    counts += f" ({left_out} left out of the score)" if left_out else ""
    struggling = int((~detector.output_quality_.converged).sum())
    note = f"\nThe models of {struggling} outputs did not converge; see --quality." if struggling else ""
    return f"{counts}: {flagged} flagged, with a score above {detector.threshold_:.4g}.{note}"


def top_table(detector: MCODE, data: Dataset, n_rows: int, n_reasons: int) -> str:
    """The most unusual rows, one line each, cut to the width of the terminal."""
    if n_rows == 0:
        return ""
    rows = list(ranked_rows(detector, data.Y, data.ids, n_reasons, n_rows))
    with_ids = data.ids is not None
    head = ["rank", "row", *(["id"] if with_ids else []), "score", "", REASONS]
    lines = [head, *([*_cells(row, with_ids), _sentence(row)] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head) - 1)]
    room = shutil.get_terminal_size((110, 24)).columns
    text = []
    for line in lines:
        cells = [
            cell.ljust(width) if head[column] == "id" else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line[:-1], widths, strict=True))
        ]
        whole = "  ".join([*cells, line[-1]])
        text.append((whole if len(whole) <= room else whole[: room - 1] + "…").rstrip())
    return "\n" + "\n".join(text)


def as_json(detector: MCODE, data: Dataset, n_rows: int, n_reasons: int) -> str:
    """Summary and top rows for a program."""
    rows = ranked_rows(detector, data.Y, data.ids, n_reasons, n_rows)
    return json.dumps(
        {
            "rows": len(data),
            "inputs": len(data.input_names),
            "outputs": len(data.output_names),
            "flagged": int(detector.labels_.sum()),
            "threshold": float(f"{detector.threshold_:.6g}"),
            "top": [record(row) for row in rows],
        },
        ensure_ascii=False,
        indent=2,
    )


def _cells(row: RankedRow, with_ids: bool) -> list[str]:
    ids = [printable(row.id or "", LONGEST_ID)] if with_ids else []
    return [str(row.rank), str(row.row), *ids, f"{row.score:.4g}", "!" if row.flagged else ""]


def _sentence(row: RankedRow) -> str:
    return "; ".join(_reason(reason, row.score) for reason in row.reasons)


def _reason(reason: Reason, score: float) -> str:
    name = printable(reason.output, LONGEST_OUTPUT)
    return f"{name} = {reason.observed} (p {_probability(reason.probability)}, {reason.share / score:.0%})"


def _probability(p: float) -> str:
    """Two digits that matter, never a flat zero.

    >>> _probability(0.4), _probability(0.012), _probability(0.00001)
    ('0.40', '0.012', '<0.001')
    """
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"

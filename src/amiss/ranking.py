"""The ranked list: rows from most to least unusual, each with the outputs that make its score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from amiss.dataset import Dataset
from amiss.table import Origin, Rows

if TYPE_CHECKING:
    from amiss.detector import MCODE

EXPLAINED = 1000  # flagged rows whose suspects are found; beyond, the largest shares have to do


@dataclass(frozen=True)
class Reason:
    """One output's part in a row's score."""

    output: str
    observed: int
    probability: float
    share: float


@dataclass(frozen=True)
class RankedRow:
    """One row of the list; ``row`` counts from 1, and the shares of all outputs add up to the score.

    ``place`` is where the row stands in a file: its name if there are several, and its line if it has
    lines.
    """

    rank: int
    row: int
    id: str | None
    place: dict[str, Any]
    score: float
    flagged: bool
    reasons: tuple[Reason, ...]


def flagged_suspects(detector: MCODE, order: Rows) -> dict[int, list[int]]:
    """The suspects of the flagged rows among ``order``, of the first ``EXPLAINED`` of them."""
    flagged = [int(row) for row in order[:EXPLAINED] if detector.labels_[row]]
    return dict(zip(flagged, detector.suspects(flagged), strict=True))


def ranked_rows(
    detector: MCODE, data: Dataset, n_reasons: int = 3, n_rows: int | None = None
) -> Iterator[RankedRow]:
    """The rows a detector was fitted to, most unusual first; ties stay in row order.

    ``data`` is what it was fitted to, ``n_reasons`` how many outputs a row names at most: those with the
    largest shares, in flagged rows the suspects of the explanation first.
    """
    observed = np.asarray(data.Y, dtype=float)
    order = np.argsort(-detector.decision_scores_, kind="stable")[:n_rows]
    suspects = flagged_suspects(detector, order)
    for rank, row in enumerate(order, start=1):
        parts = detector.contributions_[row]
        first = suspects.get(int(row), [])
        rest = [int(i) for i in np.argsort(-parts, kind="stable")[: n_reasons + len(first)] if i not in first]
        largest = [i for i in [*first, *rest][:n_reasons] if parts[i] > 0]
        yield RankedRow(
            rank=rank,
            row=int(row) + 1,
            id=None if data.ids is None else data.ids[row],
            place={} if data.Y.origin is None else _place(data.Y.origin, row),
            score=float(detector.decision_scores_[row]),
            flagged=bool(detector.labels_[row]),
            reasons=tuple(
                Reason(
                    output=detector.output_names_[i],
                    observed=int(observed[row, i]),
                    probability=float(detector.rho_[row, i]),
                    share=float(parts[i]),
                )
                for i in largest
            ),
        )


def _place(origin: Origin, row: int) -> dict[str, Any]:
    file = origin.file_of_row[row]
    place: dict[str, Any] = {"file": origin.files[file]} if len(origin.files) > 1 else {}
    if "line" in origin.units:
        place["line"] = int(origin.number_of_row[row]) if origin.units[file] == "line" else None
    return place

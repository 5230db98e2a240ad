"""The ranked list: rows from most to least unusual, each with the outputs that make its score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from amiss.arrays import Floats, Mask, Rows
from amiss.data.dataset import Dataset
from amiss.data.table import Origin

if TYPE_CHECKING:
    from amiss.detector import MCODE
    from amiss.monitoring.batch import Batch

EXPLAINED = 1000  # flagged rows whose suspects are found; beyond, the largest shares have to do


@dataclass(frozen=True)
class Reason:
    """One output's part in a row's score."""

    output: str
    observed: int
    probability: float
    share: float
    p_value: float | None = None  # of a new row's output: how often it adds as much in rows held out of the fit


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
    p_value: float | None = None
    is_new: bool = False  # judged by a model, not fitted to
    in_fit: bool | None = None  # whether the model has seen it all the same, if that is known


@dataclass(frozen=True)
class _Judged:
    """Rows with what a detector says of them; ``suspects`` gives those of some rows, in their order."""

    scores: Floats
    flagged: Mask
    contributions: Floats
    probability: Floats
    output_names: tuple[str, ...]
    suspects: Callable[[list[int]], Iterator[list[int]]]
    p_values: Floats | None
    in_fit: Mask | None = None
    output_p_values: Floats | None = None
    is_new: bool = False


def ranked_rows(
    detector: MCODE, data: Dataset, n_reasons: int = 3, n_rows: int | None = None
) -> Iterator[RankedRow]:
    """The rows a detector was fitted to, most unusual first; ties stay in row order.

    ``data`` is what it was fitted to, ``n_reasons`` how many outputs a row names at most: those with the
    largest shares, in flagged rows the suspects of the explanation first.
    """
    judged = _Judged(
        scores=detector.decision_scores_,
        flagged=detector.labels_ == 1,
        contributions=detector.contributions_,
        probability=detector.rho_,
        output_names=detector.output_names_,
        suspects=detector.suspects,
        p_values=getattr(detector, "p_values_", None),
    )
    return _ranked(judged, data, np.asarray(data.Y, dtype=float), n_reasons, n_rows)


def ranked_batch(
    detector: MCODE, batch: Batch, data: Dataset, n_reasons: int = 3, n_rows: int | None = None
) -> Iterator[RankedRow]:
    """The same for new rows, which ``detector`` has judged."""

    def suspects(rows: list[int]) -> Iterator[list[int]]:
        return detector.suspects_of_new(data.X[rows], data.Y[rows])

    judged = _Judged(
        scores=batch.scores,
        flagged=batch.flagged,
        contributions=batch.contributions,
        probability=batch.probability,
        output_names=detector.output_names_,
        suspects=suspects,
        p_values=batch.p_values,
        in_fit=batch.in_fit >= 0 if batch.knows_fit else None,
        output_p_values=batch.output_p_values,
        is_new=True,
    )
    observed = np.asarray(data.Y.select_named(detector.output_names_), dtype=float)
    return _ranked(judged, data, observed, n_reasons, n_rows)


def flagged_suspects(detector: MCODE, order: Rows) -> dict[int, list[int]]:
    """The suspects of the flagged rows of the fit among ``order``, of the first ``EXPLAINED`` of them."""
    return _suspects(order, detector.labels_ == 1, detector.suspects)


def _suspects(
    order: Rows, flagged: Mask, suspects: Callable[[list[int]], Iterator[list[int]]]
) -> dict[int, list[int]]:
    some = [int(row) for row in order[:EXPLAINED] if flagged[row]]
    return dict(zip(some, suspects(some), strict=True)) if some else {}


def _ranked(
    judged: _Judged, data: Dataset, observed: Floats, n_reasons: int, n_rows: int | None
) -> Iterator[RankedRow]:
    order = np.argsort(-judged.scores, kind="stable")[:n_rows]
    suspects = _suspects(order, judged.flagged, judged.suspects)
    for rank, row in enumerate(order, start=1):
        parts = judged.contributions[row]
        first = suspects.get(int(row), [])
        rest = [int(i) for i in np.argsort(-parts, kind="stable")[: n_reasons + len(first)] if i not in first]
        largest = [i for i in [*first, *rest][:n_reasons] if parts[i] > 0]
        yield RankedRow(
            rank=rank,
            row=int(row) + 1,
            id=None if data.ids is None else data.ids[row],
            place={} if data.Y.origin is None else _place(data.Y.origin, row),
            score=float(judged.scores[row]),
            flagged=bool(judged.flagged[row]),
            reasons=tuple(
                Reason(
                    output=judged.output_names[i],
                    observed=int(observed[row, i]),
                    probability=float(judged.probability[row, i]),
                    share=float(parts[i]),
                    p_value=_known(judged.output_p_values, (row, i)),
                )
                for i in largest
            ),
            p_value=_known(judged.p_values, row),
            is_new=judged.is_new,
            in_fit=None if judged.in_fit is None else bool(judged.in_fit[row]),
        )


def _known(p_values: Floats | None, place: Any) -> float | None:
    """A row that was in the fit has no p-value."""
    return None if p_values is None or np.isnan(p_values[place]) else float(p_values[place])


def _place(origin: Origin, row: int) -> dict[str, Any]:
    file = origin.file_of_row[row]
    place: dict[str, Any] = {"file": origin.files[file]} if len(origin.files) > 1 else {}
    if "line" in origin.units:
        place["line"] = int(origin.number_of_row[row]) if origin.units[file] == "line" else None
    return place

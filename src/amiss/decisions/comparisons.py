"""Comparisons: with whom new rows are compared under a false-discovery level.

A new comparison is one class here and one line in :mod:`amiss.decisions.registry`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.decisions.calibration import Calibration
from amiss.decisions.p_values import discoveries, p_values
from amiss.errors import DataError
from amiss.scoring.rows import ScoredRows
from amiss.wording import count

Drawn = Callable[[float], Floats]
"""From a false-discovery level to the scores of simulated rows, sorted ascending."""


@dataclass(frozen=True, eq=False)
class Compared:
    """The p-values of a batch (NaN for rows of the fit), which new rows pass, and with whom they were compared."""

    p_values: Floats
    passed: Mask
    whom: str


class Comparison(Protocol):
    """Gives new rows p-values and lets some of them pass."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def needs_calibration(self) -> bool: ...

    def compare(
        self, rows: ScoredRows, level: float, calibration: Calibration | None, drawn: Drawn, /
    ) -> Compared:
        """Compare the rows of a batch at a level."""

    def why_none(self, p: Floats, level: float, calibration: Calibration | None, /) -> str:
        """Why no new row passes, of at least one with these p-values."""


@dataclass(frozen=True)
class AgainstRows:
    """With rows held out of the fit."""

    name: str = "rows"
    description: str = "rows held out of the fit"
    needs_calibration: bool = True

    def compare(self, rows: ScoredRows, level: float, calibration: Calibration | None, drawn: Drawn) -> Compared:
        if calibration is None:
            raise DataError("no rows were held out of the fit to compare with; call calibrate(X, Y) after fit")
        new, p = rows.is_new, calibration.p_values_of(rows)
        passed = np.zeros(len(new), dtype=bool)
        passed[new] = discoveries(p[new], level)
        return Compared(p, passed, f"{count(len(calibration), 'row')} held out of the fit")

    def why_none(self, p: Floats, level: float, calibration: Calibration | None) -> str:
        if calibration is not None and p.min() * (len(calibration) + 1) < 1.5:
            needed = int(np.ceil(len(p) / level / max(1, int((p == p.min()).sum()))))
            return (
                f"Some rows score higher than all {len(calibration)} rows held out of the fit, but these are "
                f"too few to tell at this level: it takes about {needed}."
            )
        if p.min() > level:
            return "No row scores higher than rows like those of the fit do by chance."
        return (
            "Too few rows score higher than those held out of the fit. If as large a share of those is wrong, "
            "fit to rows you trust, or compare with the models instead."
        )


@dataclass(frozen=True)
class AgainstModels:
    """With rows simulated by the models."""

    name: str = "models"
    description: str = "rows simulated by the models"
    needs_calibration: bool = False

    def compare(self, rows: ScoredRows, level: float, calibration: Calibration | None, drawn: Drawn) -> Compared:
        # Rows of the fit are drawn and compared too: the batch is as large as it is.
        p = p_values(rows.scores, drawn(level))
        passed = discoveries(p, level) & rows.is_new
        p[~rows.is_new] = np.nan
        return Compared(p, passed, self.description)

    def why_none(self, p: Floats, level: float, calibration: Calibration | None) -> str:
        return "Too few rows score higher than rows simulated by the models to tell them from chance."

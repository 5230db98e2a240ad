"""Drift: outputs whose models err more or less in a batch than on unseen rows like those of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from amiss.arrays import Floats, Mask
from amiss.scoring.error_rates import ErrorRates
from amiss.scoring.rows import ScoredRows
from amiss.wording import count, first_few, percent, printable, six_digits

CHANCE = 0.01  # of calling an output drifted, among all of them, in a batch like the fit
WHOLE_ERRORS = 3.0  # a drift is at least so many errors more or fewer than usual: fewer say nothing


@dataclass(frozen=True, eq=False)
class Drift:
    """Each output's error rate (mean of 1 - rho) in a batch, against unseen rows like those of the fit.

    ``z`` is their difference in standard errors; ``drifted`` says where it is more than chance, and at
    least three whole errors.
    """

    name: tuple[str, ...]
    usual: Floats
    found: Floats
    rows: Floats
    z: Floats
    drifted: Mask

    def __repr__(self) -> str:
        return f"<Drift: {int(self.drifted.sum())} of {count(len(self.name), 'output')} drifted>"

    @classmethod
    def between(cls, names: tuple[str, ...], usual: ErrorRates, found: ErrorRates) -> Drift:
        both = (usual.count > 0) & (found.count > 0)
        difference = np.where(both, found.mean - usual.mean, 0.0)
        share = 1.0 / np.maximum(usual.count, 1) + 1.0 / np.maximum(found.count, 1)
        error = np.sqrt(usual.deviation**2 * share)
        sure = np.where(difference == 0, 0.0, np.copysign(np.inf, difference))
        z = np.divide(difference, error, out=sure, where=error > 0)
        limit = -ndtri(CHANCE / 2 / max(1, len(names)))
        drifted = (np.abs(z) > limit) & (np.abs(difference) * found.count >= WHOLE_ERRORS)
        return cls(names, usual.mean, np.where(found.count > 0, found.mean, np.nan), found.count, z, drifted)

    def to_dict(self) -> list[dict[str, Any]]:
        """One entry per output."""
        columns = zip(self.name, self.usual, self.found, self.rows, self.z, self.drifted, strict=True)
        return [
            {
                "output": name,
                "usual_error": six_digits(usual),
                "error": six_digits(found),
                "rows": int(rows),
                "z": six_digits(z),
                "drifted": bool(drifted),
            }
            for name, usual, found, rows, z, drifted in columns
        ]

    def remarks(self) -> list[str]:
        """A sentence on the outputs whose error rate changed."""
        which = np.flatnonzero(self.drifted)
        which = which[np.argsort(-np.abs(self.z[which]), kind="stable")]
        if not len(which):
            return []
        said = [
            f"{printable(self.name[i])} {percent(self.found[i])} ({percent(self.usual[i])} in the fit)"
            for i in which
        ]
        what = "The error rate of one output" if len(said) == 1 else f"The error rates of {len(said)} outputs"
        return [f"{what} changed: {first_few(said)}."]


def drift_of(rows: ScoredRows, usual: ErrorRates) -> Drift:
    """The drift of the new rows of a batch."""
    unseen = rows.observed & rows.is_new[:, None]
    found = ErrorRates.of(np.where(unseen, 1.0 - rows.probabilities, 0.0), unseen)
    return Drift.between(rows.output_names, usual, found)

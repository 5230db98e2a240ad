"""Calibration: how high rows score that a fit has not seen, and how wrong its models are about them.

The rows are either others than those of the fit, or those of the fit themselves, each scored by a
detector that was fitted anew without its fold: models, strengths, scales and neighbours know nothing
of it. (The out-of-fold log-odds of the fit itself are not enough: strengths were chosen by them, and the
neighbours' errors come from models that saw the row, so they are a little too low.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask, Rows
from amiss.data.fingerprints import Fingerprints
from amiss.data.table import Table
from amiss.decisions.p_values import p_values
from amiss.errors import DataError
from amiss.scoring.error_rates import ErrorRates
from amiss.scoring.rows import ScoredRows
from amiss.scoring.rules import scores
from amiss.wording import count

FOLDS = 5
FEWEST_ROWS = 20

FitAndScore = Callable[[tuple[Table, Table], tuple[Table, Table], Rows | None], ScoredRows]
"""Fits to the inputs and outputs of the first, in the groups of the third, and scores the rows of the second."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Scores and contributions of rows held out of the fit, both ascending (contributions in each column).

    ``contributions`` is ``(n_rows, n_outputs)``; NaN, where an output is missing or left out, stands last.
    """

    scores: Floats
    contributions: Floats
    errors: ErrorRates

    @classmethod
    def of(cls, rows: HeldOutRows) -> Calibration:
        """Of the rows that were new to whoever scored them."""
        new = rows.is_new
        contributions, observed = rows.contributions[new], rows.observed[new]
        errors = np.where(observed, 1.0 - rows.probabilities[new], 0.0)
        counted = np.where(observed & rows.included, contributions, np.nan)
        return cls(np.sort(scores(contributions)), np.sort(counted, axis=0), ErrorRates.of(errors, observed))

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<Calibration: {count(len(self), 'row')} held out of the fit>"

    def p_values(self, found: Floats) -> Floats:
        """How often held-out rows score as high, ``(n_rows,)``."""
        return p_values(found, self.scores)

    def p_values_of(self, rows: ScoredRows) -> Floats:
        """Conformal p-values of new rows, ``(n_rows,)``; NaN for rows of the fit, which have none."""
        p = self.p_values(rows.scores)
        p[~rows.is_new] = np.nan
        return p

    def output_p_values(self, contributions: Floats, counted: Mask) -> Floats:
        """How often an output adds as much in held-out rows, ``(n_rows, n_outputs)``; NaN if it does not count."""
        result = np.full(contributions.shape, np.nan)
        for output, usual in enumerate(self.contributions.T):
            mine = counted[:, output]
            known = usual[: np.count_nonzero(~np.isnan(usual))]
            result[mine, output] = p_values(contributions[mine, output], known)
        return result


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Rows scored by detectors that did not see them, but for copies of rows that they saw (not ``is_new``)."""

    contributions: Floats
    probabilities: Floats
    observed: Mask
    included: Mask
    is_new: Mask

    @classmethod
    def of(cls, rows: ScoredRows) -> HeldOutRows:
        return cls(rows.contributions, rows.probabilities, rows.observed, rows.included, rows.is_new)


def hold_out_folds(
    inputs: Table,
    outputs: Table,
    fingerprints: Fingerprints,
    included: Mask,
    fit_and_score: FitAndScore,
    verbose: bool = False,
    groups: Rows | None = None,
) -> HeldOutRows:
    """Score the rows of the fit, each by a detector that has not seen its fold.

    A row of which the other folds hold a copy is not new to that detector, as a new row that is a copy of one
    of the fit is not judged as new. Rows are dealt to folds in the order of their fingerprints, so their
    order in the table does not matter; those with the same number in ``groups`` stay together.
    """
    n_rows = len(outputs)
    if n_rows < FEWEST_ROWS:
        raise DataError(
            f"there are {n_rows} rows, and a calibration needs at least {FEWEST_ROWS}; leave it out "
            "(--no-calibration) or give more"
        )
    fold = np.empty(n_rows, dtype=np.intp)
    fold[np.argsort(fingerprints, kind="stable")] = np.arange(n_rows) % FOLDS
    if groups is not None:
        if groups.max() < FOLDS - 1:
            raise DataError(f"a calibration needs at least {FOLDS} groups")
        fold = groups % FOLDS
    contributions, probabilities = np.empty(outputs.shape), np.empty(outputs.shape)
    new = np.zeros(n_rows, dtype=bool)
    with progress.stages(verbose)("calibrating", FOLDS) as advance:
        for number in range(FOLDS):
            inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            rows = fit_and_score(
                (inputs.take(inside), outputs.take(inside)),
                (inputs.take(outside), outputs.take(outside)),
                None if groups is None else groups[inside],
            )
            contributions[outside], probabilities[outside] = rows.contributions, rows.probabilities
            new[outside] = rows.is_new
            advance(1)
    return HeldOutRows(contributions, probabilities, ~np.isnan(np.asarray(outputs.values)), included, new)

"""How high rows score that a fit has not seen, and how wrong its models are about them.

The rows are either others than those of the fit, or those of the fit themselves, each scored by a
detector that was fitted anew without its fold: models, strengths, scales and neighbours know nothing
of it. (The out-of-fold log-odds of the fit itself are not enough: strengths were chosen by them, and the
neighbours' errors come from models that saw the row, so they are a little too low.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from amiss import progress
from amiss.arrays import Floats, Mask
from amiss.data.fingerprints import Fingerprints
from amiss.data.table import Table
from amiss.decisions.thresholds import p_values
from amiss.errors import DataError
from amiss.scoring.rules import scores
from amiss.settings import undecided

if TYPE_CHECKING:
    from amiss.detector import MCODE

FOLDS = 5
FEWEST_ROWS = 20


@dataclass(frozen=True)
class ErrorLevels:
    """Mean and standard deviation of each output's error, 1 - rho, over the rows that show it."""

    mean: Floats
    deviation: Floats
    count: Floats

    @classmethod
    def unknown(cls, n_outputs: int) -> ErrorLevels:
        """Of models whose errors on rows they have not seen nobody knows."""
        return cls(np.full(n_outputs, np.nan), np.full(n_outputs, np.nan), np.zeros(n_outputs))

    @classmethod
    def of(cls, errors: Floats, observed: Mask) -> ErrorLevels:
        count = observed.sum(axis=0).astype(np.float64)
        some = np.maximum(count, 1)
        mean = np.where(observed, errors, 0.0).sum(axis=0) / some
        squares = np.where(observed, (errors - mean) ** 2, 0.0).sum(axis=0) / some
        return cls(mean, np.sqrt(squares), count)


@dataclass(frozen=True)
class Calibration:
    """What rows held out of the fit score: ``scores`` rising, ``parts`` rising in each column.

    ``parts`` is ``(n_rows, n_outputs)``, what an output adds to the score; NaN, where it is missing or left
    out, stands last.
    """

    scores: Floats
    parts: Floats
    errors: ErrorLevels

    @classmethod
    def of(cls, contributions: Floats, errors: Floats, observed: Mask, included: Mask) -> Calibration:
        parts = np.where(observed & included, contributions, np.nan)
        return cls(np.sort(scores(contributions)), np.sort(parts, axis=0), ErrorLevels.of(errors, observed))

    def __len__(self) -> int:
        return len(self.scores)

    def p_values(self, found: Floats) -> Floats:
        """How often held-out rows score as high, ``(n_rows,)``."""
        return p_values(found, self.scores)

    def output_p_values(self, contributions: Floats, counted: Mask) -> Floats:
        """How often an output adds as much in held-out rows, ``(n_rows, n_outputs)``; NaN if it does not count."""
        result = np.full(contributions.shape, np.nan)
        for output, usual in enumerate(self.parts.T):
            mine = counted[:, output]
            known = usual[: np.count_nonzero(~np.isnan(usual))]
            result[mine, output] = p_values(contributions[mine, output], known)
        return result


def held_out(detector: MCODE, inputs: Table, outputs: Table, content: Fingerprints) -> tuple[Floats, Floats, Mask]:
    """Contributions and probabilities of the rows of the fit, each by a detector that has not seen its fold.

    Also which of them are new to that detector: a row of which the other folds hold a copy is none, as a
    new row that is a copy of one of the fit is not judged as new. Rows are dealt to folds in the order of
    their ``content``, so their order in the table does not matter.
    """
    n_rows = len(outputs)
    if n_rows < FEWEST_ROWS:
        raise DataError(
            f"there are {n_rows} rows, and a calibration needs at least {FEWEST_ROWS}; leave it out "
            "(--no-calibration) or give more"
        )
    fold = np.empty(n_rows, dtype=np.intp)
    fold[np.argsort(content, kind="stable")] = np.arange(n_rows) % FOLDS
    contributions, probability = np.empty(outputs.shape), np.empty(outputs.shape)
    new = np.zeros(n_rows, dtype=bool)
    without = _like(detector)
    with progress.stages(detector.verbose)("calibrating", FOLDS) as advance:
        for number in range(FOLDS):
            inside, outside = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            without.score_rows(without.gather(inputs.take(inside), outputs.take(inside), part=True))
            batch = without.judge(inputs.take(outside), outputs.take(outside))
            contributions[outside], probability[outside] = batch.contributions, batch.probability
            new[outside] = batch.in_fit < 0
            advance(1)
    return contributions, probability, new


def _like(detector: MCODE) -> MCODE:
    """An unfitted detector that scores alike: what was chosen by the rows stays chosen."""
    excluded = np.flatnonzero(detector.output_quality_.excluded).tolist()
    chosen = {"score": detector.score_, "exclude": excluded or None, "random_state": detector._seed}
    fitted: MCODE = clone(type(detector)(**detector._fitted_by))  # whatever was set later
    return fitted.set_params(verbose=False, n_jobs=detector.n_jobs, **chosen, **undecided(fitted))

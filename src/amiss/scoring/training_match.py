"""New rows scored, and rows of the fit recognised among them.

The models have seen the rows of the fit and would find them usual. So a row that is the same as one of them
(recognised by its fingerprint) does not count as new: it keeps the score that it had in the fit.
"""

from __future__ import annotations

import numpy as np

from amiss.arrays import Rows
from amiss.data.fingerprints import Fingerprints
from amiss.encoding.encoded_rows import EncodedRows
from amiss.models.fitting import FittedModels, TrainingRows
from amiss.models.projection import rho
from amiss.scoring.rows import ScoredRows
from amiss.scoring.scorer import Scorer


def training_match(rows: TrainingRows | None, fingerprints: Fingerprints) -> Rows:
    """The row of the fit that each row is the same as; -1 if it is none, or the rows were not kept."""
    if rows is None:
        return np.full(len(fingerprints), -1)
    known = rows.fingerprints
    places = np.minimum(np.searchsorted(known, fingerprints), len(known) - 1)
    return np.where(known[places] == fingerprints, rows.order[places], -1)


def score_new_rows(
    models: FittedModels, scorer: Scorer, training: ScoredRows | None, rows: EncodedRows, names: tuple[str, ...]
) -> ScoredRows:
    """Score new rows; those that were in the fit have what they had as ``training`` rows."""
    Y = rows.Y
    log_odds, weights = scorer.log_odds_and_weights(models, rows.design, Y)
    contributions = scorer.contributions(log_odds, Y, weights)
    probabilities = np.where(np.isnan(Y), np.nan, rho(log_odds, Y))
    match = training_match(models.rows, rows.fingerprints)
    seen = match >= 0
    if training is not None and seen.any():
        contributions[seen] = training.contributions[match[seen]]
        probabilities[seen] = training.probabilities[match[seen]]
        log_odds[seen] = training.log_odds[match[seen]]
        if weights.ndim == 2:
            weights[seen] = training.weights[match[seen]]
    return ScoredRows(names, Y, log_odds, probabilities, weights, contributions, scorer.included, match)

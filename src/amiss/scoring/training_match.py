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
    Y = models.coded(rows.Y)
    seen = scorer.seen(models, rows.design, rows.Y)
    log_odds, weights, views = seen.log_odds, seen.weights, seen.views
    judged = scorer.judged(log_odds, Y, weights, views)
    match = training_match(models.rows, rows.fingerprints)
    known = match >= 0
    if training is not None and known.any():
        there = match[known]
        judged.contributions[known] = training.contributions[there]
        log_odds[known] = training.log_odds[there]
        if weights.ndim == 2:
            weights[known] = training.weights[there]
        for mine, theirs in ((judged.odds, training.odds), (judged.wrong, training.wrong)):
            if mine is not None and theirs is not None:
                mine[known] = theirs[there]
        if views is not None and training.views is not None:
            views = views.with_rows(np.flatnonzero(known), training.views.take(there))
    return ScoredRows(
        output_names=names,
        Y=rows.Y,
        log_odds=log_odds,
        weights=weights,
        contributions=judged.contributions,
        included=scorer.included,
        training_match=match,
        views=views,
        odds=judged.odds,
        wrong=judged.wrong,
        forecast=seen.forecast,
        new_levels=rows.new_levels,
    )

"""What an approximate search of neighbours changes: the order of some rows beside that by an exact search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amiss.arrays import average_ranks
from amiss.models.fitting import FittedModels
from amiss.scoring.neighbors import NearestRows
from amiss.scoring.rows import ScoredRows
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer

SAMPLE = 1000


def rank_correlation_with_exact(models: FittedModels, scorer: Scorer, scored: ScoredRows) -> float:
    """Spearman's correlation of scores of training rows, at even steps, with those by exact neighbours."""
    assert scorer.local is not None
    neighborhood, rows = scorer.local.neighborhood, models.training_rows
    some = np.linspace(0, len(rows.Y) - 1, min(SAMPLE, len(rows.Y))).astype(np.intp)
    filled = models.expectations.filled(rows.design[some], rows.Y[some])
    exact = replace(neighborhood, nearest=NearestRows(neighborhood.nearest.original))
    local = replace(scorer, local=replace(scorer.local, neighborhood=exact))
    near = local.neighbors(rows.design[some], filled, some)
    mine = rows.order[some]
    log_odds, views = scored.log_odds[mine], None if scored.views is None else scored.views.take(mine)
    if scorer.by_inputs is not None and views is not None:
        views = replace(views, weights=scorer.by_inputs.of(scorer.rule, scorer.weighting, near))
    added = scorer.contributions(log_odds, models.coded(rows.Y[some]), scorer.weights(near), views)
    ranks = [average_ranks(each) for each in (scored.scores[mine], scores(added))]
    return float(np.asarray(np.corrcoef(np.stack(ranks)))[0, 1])

"""Scores of the rows of a fit, and the scorer that scores other rows alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.fitting import FittedModels
from amiss.models.projection import errors, rho
from amiss.scoring.neighborhood import Neighborhood, find_neighborhood
from amiss.scoring.quality import OutputQuality, output_quality
from amiss.scoring.rows import ScoredRows
from amiss.scoring.scorer import LocalErrors, Scorer
from amiss.scoring.settings import ScoringSettings
from amiss.scoring.weights import mean_errors


@dataclass(frozen=True, eq=False)
class ScoredFit:
    """The rows of a fit with their scores, what scores other rows alike, and how good each output's model is."""

    scorer: Scorer
    rows: ScoredRows
    quality: OutputQuality


def neighborhood_of(
    models: FittedModels, settings: ScoringSettings, n_jobs: int | None, verbose: bool
) -> Neighborhood | None:
    """The neighbourhood that these settings need, if they need one."""
    if not settings.uses_neighbors:
        return None
    how = settings.n_neighbors, settings.neighbor_space, settings.neighbor_search
    return find_neighborhood(models, *how, n_jobs, verbose)


def score_training_rows(
    models: FittedModels,
    log_odds: Floats,
    output_names: tuple[str, ...],
    settings: ScoringSettings,
    neighborhood: Neighborhood | None,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ScoredFit:
    """Score the rows of a fit by their ``log_odds``, which are in the order of their fingerprints."""
    rows = models.training_rows
    Y, back = rows.Y, rows.place
    observed = ~np.isnan(Y)
    included = settings.included(output_names, log_odds, Y, observed)
    scorer = _scorer(settings, included, errors(log_odds, Y), observed, neighborhood, n_jobs, verbose)
    weights = scorer.weights(None if neighborhood is None else neighborhood.neighbors)
    quality = output_quality(
        output_names, models.strength, models.converged, log_odds, Y, observed, weights, included
    )
    added = scorer.contributions(log_odds, Y, weights)[back]
    weights = weights if weights.ndim == 1 else weights[back]
    scored = ScoredRows(
        output_names=output_names,
        Y=Y[back],
        log_odds=log_odds[back],
        probabilities=np.where(observed, rho(log_odds, Y), np.nan)[back],
        weights=weights,
        contributions=added,
        included=included,
        training_match=np.arange(len(Y)),
    )
    return ScoredFit(scorer, scored, quality)


def _scorer(
    settings: ScoringSettings,
    included: Mask,
    row_errors: Floats,
    observed: Mask,
    neighborhood: Neighborhood | None,
    n_jobs: int | None,
    verbose: bool,
) -> Scorer:
    rule, everywhere, local = settings.chosen_rule, None, None
    if neighborhood is None:
        everywhere = rule.global_weights(row_errors, observed, settings.weighting)
    else:
        local = LocalErrors(neighborhood, row_errors, observed, mean_errors(row_errors, observed))
    return Scorer(
        rule=rule,
        weighting=settings.weighting,
        included=included,
        share=settings.out_of_fold_share,
        global_weights=everywhere,
        local=local,
        neighbor_space=settings.neighbor_space,
        n_jobs=n_jobs,
        verbose=verbose,
    )

"""What a row would score if one of its suspicious outputs had its other value, or the one that is expected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix, Neighbors, Rows
from amiss.explanations.cases import Case
from amiss.models.conditional import ConditionalModel
from amiss.models.fitting import FittedModels
from amiss.models.projection import rho
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer
from amiss.scoring.views import Views


@dataclass(frozen=True)
class Changed:
    """A case with one output changed: its score, and the probability of each value that then stands there."""

    score: float
    probabilities: Floats


def if_changed(cases: list[Case], models: FittedModels, scorer: Scorer) -> list[dict[int, Changed]]:
    """For each case, what it would be with one suspect changed, for each suspect."""
    results: list[dict[int, Changed]] = [{} for _ in cases]
    for is_training in (True, False):  # a training row is not its own neighbour
        mine = [place for place, case in enumerate(cases) if (case.position is not None) == is_training]
        for place, changed in zip(mine, _if_changed([cases[i] for i in mine], models, scorer), strict=True):
            results[place] = changed
    return results


def _if_changed(cases: list[Case], models: FittedModels, scorer: Scorer) -> list[dict[int, Changed]]:
    """The same for cases that all are training rows, or all new."""
    pairs = [(place, i) for place, case in enumerate(cases) if case.model is not None for i in case.suspects]
    results: list[dict[int, Changed]] = [{} for _ in cases]
    if not pairs:
        return results
    of_case, changed = (np.array(column, dtype=np.intp) for column in zip(*pairs, strict=True))
    Y, filled = (np.stack([getattr(cases[place], name) for place in of_case]) for name in ("Y", "filled"))
    each, changing = np.arange(len(changed)), [cases[place] for place in of_case]
    if models.layout is None:
        Y[each, changed] = filled[each, changed] = 1 - Y[each, changed]
    else:
        Y[each, changed] = [case.instead(int(i)) for case, i in zip(changing, changed, strict=True)]
        filled = models.expectations.filled(_designs(changing, models), Y)
    log_odds = _log_odds([case.model for case in cases], cases, of_case, filled, models)
    near, views = _neighbors(changing, filled, models, scorer), None
    if scorer.by_inputs is not None and models.layout is not None:
        alone = _log_odds([case.inputs_model for case in cases], cases, of_case, filled, models)
        weights = scorer.by_inputs.of(scorer.rule, scorer.weighting, near)
        views = Views(log_odds, alone, alone, weights, models.usual_log_odds(filled))
    elif scorer.by_inputs is not None:
        doubted = _log_odds([case.doubting_model for case in cases], cases, of_case, filled, models)
        views = _views(changing, doubted, scorer.by_inputs.of(scorer.rule, scorer.weighting, near))
    coded = models.coded(Y)
    after = scores(scorer.contributions(log_odds, coded, scorer.weights(near), views))
    for place, i, score, values, odds in zip(of_case, changed, after, coded, log_odds, strict=True):
        results[place][int(i)] = Changed(float(score), rho(odds, values))
    return results


def _log_odds(
    of_cases: list[ConditionalModel | None], cases: list[Case], of_case: Rows, filled: Floats, models: FittedModels
) -> Floats:
    """Log-odds of changed rows by a model of each case that they belong to."""
    found = [
        model.log_odds(case.design[np.zeros(np.count_nonzero(mine), dtype=np.intp)], filled[mine])
        for model, case, mine in (
            (*pair, of_case == place) for place, pair in enumerate(zip(of_cases, cases, strict=True))
        )
        if model is not None and mine.any()
    ]
    return models.ties.normalised(np.vstack(found))


def _views(cases: list[Case], doubted: Floats, weights: Floats) -> Views:
    """The other views; another output changes nothing in those of the inputs alone but the neighbours' weights."""
    known = [case.views for case in cases if case.views is not None]
    by_inputs, held_out = (
        np.vstack([getattr(each, name) for each in known]) for name in ("by_inputs", "held_out")
    )
    return Views(doubted, by_inputs, held_out, weights)


def _neighbors(cases: list[Case], filled: Floats, models: FittedModels, scorer: Scorer) -> Neighbors | None:
    """The neighbours that each case would have with its outputs as in ``filled``."""
    if scorer.local is None:
        return None
    if not scorer.neighbor_space.has_outputs:  # then nothing moved
        return np.stack([case.neighbors for case in cases if case.neighbors is not None])
    return scorer.neighbors(_designs(cases, models), filled, _own(cases))


def _own(cases: list[Case]) -> Rows | None:
    """The training rows that the cases are, which are not their own neighbours; None for new rows."""
    positions = [case.position for case in cases]
    return None if None in positions else np.array(positions, dtype=np.intp)


def _designs(cases: list[Case], models: FittedModels) -> Matrix:
    if cases[0].position is not None:
        return models.training_rows.design[[case.position for case in cases]]
    designs = [case.design for case in cases]
    return sparse.vstack(designs, format="csr") if sparse.issparse(designs[0]) else np.vstack(designs)

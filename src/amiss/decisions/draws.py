"""Simulated rows: the outputs of a table drawn anew from the models' probabilities, and scored."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from amiss.arrays import Floats
from amiss.scoring.forecast import Forecast
from amiss.scoring.rules import scores
from amiss.scoring.scorer import Scorer
from amiss.scoring.views import Views

DRAWS, ENOUGH_DRAWN = 5, 20_000  # at least so many simulated tables, and so many simulated rows in all
MOST_DRAWN, MOST_ROWS = 200_000_000, 5_000_000  # simulated outputs and rows, at most
ENOUGH_AT_ONCE = 100_000  # outputs simulated in one step
DRAWS_AT_LEVEL = 2  # divided by the level: a single row among N passes if its p-value is below level/N


def drawn_scores(
    scorer: Scorer,
    log_odds: Floats,
    Y: Floats,
    weights: Floats,
    views: Views | None,
    *,
    seed: int,
    level: float,
    forecast: Forecast | None = None,
) -> Floats:
    """Scores of the same rows with outputs drawn from their log-odds, sorted ascending; what is missing stays so.

    They are drawn so often that a single row can pass the ``level``, as far as time allows.
    """
    rng, draws = np.random.default_rng(seed), n_draws(Y, level)
    if forecast is not None:
        return _drawn_of_kinds(scorer, Y, weights, views, forecast, rng, draws)
    chance, missing = expit(log_odds), np.isnan(Y)
    found = np.empty((draws, len(Y)))
    at_once = max(1, ENOUGH_AT_ONCE // Y.size)  # a small table is drawn several times in a step
    for first in range(0, draws, at_once):
        times = min(at_once, draws - first)
        drawn = (rng.random((times, *Y.shape)) < chance).astype(np.float64)
        drawn[:, missing] = np.nan
        many = np.tile(log_odds, (times, 1)), drawn.reshape(-1, Y.shape[1])
        mine = weights if weights.ndim == 1 else np.tile(weights, (times, 1))
        parts = scorer.contributions(*many, mine, None if views is None else views.repeated(times))
        found[first : first + times] = scores(parts).reshape(times, len(Y))
    in_order = found.ravel()
    in_order.sort()
    return in_order


def n_draws(Y: Floats, level: float) -> int:
    """How many tables to draw."""
    wanted = max(-(-ENOUGH_DRAWN // len(Y)), int(np.ceil(DRAWS_AT_LEVEL / level)))
    return max(DRAWS, min(wanted, MOST_DRAWN // Y.size, MOST_ROWS // len(Y)))


def _drawn_of_kinds(
    scorer: Scorer,
    Y: Floats,
    weights: Floats,
    views: Views | None,
    forecast: Forecast,
    rng: np.random.Generator,
    draws: int,
) -> Floats:
    """The same for outputs of several kinds: levels by their probabilities, amounts by residuals of the fit."""
    usual = np.zeros(Y.shape) if views is None or views.usual is None else views.usual
    found = np.empty((draws, len(Y)))
    for place in range(draws):
        log_odds, by_inputs, drawn = forecast.drawn(rng)
        seen = None if views is None else Views(log_odds, by_inputs, by_inputs, views.weights, usual)
        drawn = np.where(np.isnan(Y), np.nan, drawn)
        found[place] = scores(scorer.contributions(log_odds, drawn, weights, seen))
    return np.sort(found.ravel())

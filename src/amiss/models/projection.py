"""rho, the probability of what was observed, and how models that saw a row and models that did not are mixed.

rho[n, i] = P(y_i = the value observed in row n | x, the other outputs that the model of i sees)
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import expit, log_expit

from amiss.arrays import Floats
from amiss.models.conditional import Fit

Crossfit = Literal["half"] | float | bool


def crossfit_share(crossfit: Crossfit) -> float:
    """The share of the models that did not see a row."""
    return 0.5 if crossfit == "half" else float(crossfit)


def combined_log_odds(fit: Fit, crossfit: Crossfit) -> Floats:
    """In-sample (False), out-of-fold (True), or an average in which the latter have a share of ``crossfit``."""
    share = crossfit_share(crossfit)
    if share == 0:
        return fit.in_sample
    assert fit.out_of_fold is not None
    return fit.out_of_fold if share == 1 else (1 - share) * fit.in_sample + share * fit.out_of_fold


def log_rho(log_odds: Floats, outputs: Floats) -> Floats:
    """log rho = log P(the observed value), exact in both tails."""
    return np.asarray(log_expit(_towards_observed(log_odds, outputs)))


def rho(log_odds: Floats, outputs: Floats) -> Floats:
    """P(the observed value)."""
    return np.asarray(expit(_towards_observed(log_odds, outputs)))


def errors(log_odds: Floats, outputs: Floats) -> Floats:
    """eps = 1 - rho, exact where rho is near one."""
    return np.asarray(expit(-_towards_observed(log_odds, outputs)))


def _towards_observed(log_odds: Floats, outputs: Floats) -> Floats:
    return np.where(outputs == 1, log_odds, -log_odds)

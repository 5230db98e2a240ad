"""The projection: rho, the probability of what was observed.

rho[n, i] = P(y_i = the value observed in row n | x, the other outputs that the model of i sees)
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit

from amiss.arrays import Floats


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

"""P-values, and the rows that pass a false-discovery level.

Two kinds of p-values. For rows *of the fit*, outputs of all rows are drawn anew from the out-of-fold
probabilities, each given the observed others, and scored like the rows (:mod:`amiss.decisions.draws`); a row's
p-value is how often a simulated row scores as high. That is right if the models' probabilities are. (Ranking
the rows of a table among themselves could never flag one: the k-th of N has a p-value of k/N, which no level
below 1 lets pass.) For *new* rows, conformal p-values: how often rows held out of the fit score as high
(:mod:`amiss.decisions.calibration`). That holds if clean new rows are like those (nearly so, where folds of the
fit were held out: their models saw fewer rows); wrong rows among those held out only make it more careful.

Either way the p-values go through Benjamini and Hochberg's procedure. A p-value falls as the score rises,
so the flagged rows are always those above some score, the threshold.
"""

from __future__ import annotations

import numpy as np

from amiss.arrays import Floats, Mask


def p_values(found: Floats, usual: Floats) -> Floats:
    """How often ``usual`` scores, sorted ascending, are as high as each one found, which counts itself.

    >>> p_values(np.array([0.5, 3.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    array([1.  , 0.5 , 0.25])
    """
    as_high = len(usual) - np.searchsorted(usual, found, side="left")
    return np.asarray((1.0 + as_high) / (1.0 + len(usual)))


def discoveries(p: Floats, level: float) -> Mask:
    """Which p-values Benjamini and Hochberg's procedure lets pass at a false-discovery ``level``.

    >>> discoveries(np.array([0.01, 0.04, 0.03, 0.5]), 0.1)
    array([ True,  True,  True, False])
    """
    if not len(p):
        return np.zeros(0, dtype=bool)
    from scipy.stats import false_discovery_control  # takes half a second to import

    return np.asarray(false_discovery_control(p) <= level * (1 + 1e-12))  # 17/125 * 25/17 is above 0.2

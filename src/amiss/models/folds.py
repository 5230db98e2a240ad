"""Which fold each row belongs to, for each output: stratified, and the same in any order of rows.

Rows are expected in the order of their fingerprints. Copies of a row may then fall into different
folds; which copy goes where makes no difference to the fits, and :func:`averaged_over_copies`
makes the out-of-fold predictions of all copies alike.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats
from amiss.data.fingerprints import Fingerprints

Folds = npt.NDArray[np.int8]


def stratified_folds(Y: Floats, n_folds: int) -> Folds:
    """Fold numbers ``(n_rows, n_outputs)``, the ones and the zeros of each output dealt evenly.

    A missing output belongs to fold 0 and carries no weight anyway.
    """
    folds = np.zeros(Y.shape, dtype=np.int8)
    for output in range(Y.shape[1]):
        for value in (0.0, 1.0):
            rows = np.flatnonzero(Y[:, output] == value)
            dealt = np.arange(len(rows))
            # The ones start at the last fold, so that small classes do not all end up in fold 0.
            folds[rows, output] = (n_folds - 1 - dealt if value else dealt) % n_folds
    return folds


def averaged_over_copies(log_odds: Floats, content: Fingerprints) -> Floats:
    """Out-of-fold log-odds with those of equal rows replaced by their mean."""
    distinct, group = np.unique(content, return_inverse=True)
    if len(distinct) == len(content):
        return log_odds
    total = np.zeros((len(distinct), log_odds.shape[1]))
    np.add.at(total, group, log_odds)
    return (total / np.bincount(group)[:, None])[group]

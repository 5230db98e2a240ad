"""Which fold each row belongs to, for each output: stratified, and the same in any order of rows.

Rows are expected in the order of their fingerprints. Copies of a row may then fall into different
folds; which copy goes where makes no difference to the fits, and :func:`averaged_over_copies`
makes the out-of-fold predictions of all copies alike. Rows of one group always stay together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amiss.arrays import Floats, Rows
from amiss.data.fingerprints import Fingerprints

Folds = npt.NDArray[np.int8]


def stratified_folds(Y: Floats, n_folds: int, groups: Rows | None = None) -> Folds:
    """Fold numbers ``(n_rows, n_outputs)``, the ones and the zeros of each output dealt evenly.

    Rows with the same number in ``groups`` stay together: a group counts as a one if any of its rows is, and large
    groups are dealt first. A missing output belongs to fold 0, or to that of its group, and carries no weight
    anyway.
    """
    n_rows = len(Y)
    _, first, group, size = np.unique(
        np.arange(n_rows) if groups is None else groups, return_index=True, return_inverse=True, return_counts=True
    )
    by_size = np.lexsort((first, -size))
    folds = np.zeros((len(size), Y.shape[1]), dtype=np.int8)
    for output in range(Y.shape[1]):
        one, zero = (_any_of(Y[:, output] == value, group, len(size)) for value in (1.0, 0.0))
        for members, backwards in ((zero & ~one, False), (one, True)):
            units = by_size[members[by_size]]
            dealt = np.arange(len(units))
            # The ones start at the last fold, so that small classes do not all end up in fold 0.
            folds[units, output] = (n_folds - 1 - dealt if backwards else dealt) % n_folds
    return folds[group]


def _any_of(rows: npt.NDArray[np.bool_], group: Rows, n_groups: int) -> npt.NDArray[np.bool_]:
    """Whether any row of each group is among these."""
    found = np.zeros(n_groups, dtype=bool)
    found[group[rows]] = True
    return found


def in_company(groups: Rows | None, n_rows: int) -> npt.NDArray[np.bool_]:
    """Which rows are in a group with others."""
    if groups is None:
        return np.zeros(n_rows, dtype=bool)
    _, group, size = np.unique(groups, return_inverse=True, return_counts=True)
    return np.asarray(size[group] > 1)


def averaged_over_copies(log_odds: Floats, content: Fingerprints) -> Floats:
    """Out-of-fold log-odds with those of equal rows replaced by their mean."""
    distinct, group = np.unique(content, return_inverse=True)
    if len(distinct) == len(content):
        return log_odds
    total = np.zeros((len(distinct), log_odds.shape[1]))
    np.add.at(total, group, log_odds)
    return (total / np.bincount(group)[:, None])[group]

"""Which fold each row belongs to, for each output: stratified, and by content."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amiss.canonical import Fingerprints

Folds = npt.NDArray[np.int8]


def stratified_folds(Y: npt.NDArray[np.float64], content: Fingerprints, n_folds: int) -> Folds:
    """Fold numbers ``(n_rows, n_outputs)``, the ones and the zeros of each output dealt evenly.

    Rows of the same content go to the same fold: a copy of a row in the training part would
    give its answer away. A missing output belongs to fold 0 and carries no weight anyway.
    """
    _, distinct = np.unique(content, return_inverse=True)
    folds = np.zeros(Y.shape, dtype=np.int8)
    for output in range(Y.shape[1]):
        for value in (0.0, 1.0):
            rows = np.flatnonzero(Y[:, output] == value)
            _, dealt = np.unique(distinct[rows], return_inverse=True)
            # The ones start at the other end, so that small classes do not all meet in fold 0.
            folds[rows, output] = (n_folds - 1 - dealt if value else dealt) % n_folds
    return folds

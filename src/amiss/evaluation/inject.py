"""Simulated outliers: outputs of a few rows flipped on purpose (the paper's section 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Mask
from amiss.decisions.thresholds import rounded_share


def inject(
    Y: npt.NDArray[Any],
    ratio: float = 0.01,
    dimensionality: float = 0.05,
    random_state: int | np.random.Generator | None = None,
) -> tuple[npt.NDArray[Any], Mask]:
    """Flip a share ``dimensionality`` of the outputs in a share ``ratio`` of the rows.

    Both shares are rounded to whole numbers, halves up, at least one. A missing output (NaN) is never
    flipped, nor counted: a row with missing outputs gets as many flips as a complete one, or all it
    has, and one without any output is not chosen.

    Returns
    -------
    Y_perturbed : a copy of Y, of the same type, with the flips
    is_outlier : (n_rows,) which rows were touched

    Examples
    --------
    >>> perturbed, touched = inject(np.zeros((100, 20), dtype=int), random_state=0)
    >>> int(touched.sum()), int(perturbed.sum())
    (1, 1)
    """
    rng = np.random.default_rng(random_state)
    Y = np.asarray(Y)
    n_rows, n_outputs = Y.shape
    observed = Y == Y  # NaN is not itself
    choosable = np.flatnonzero(observed.any(axis=1))
    rows = rng.choice(choosable, size=min(rounded_share(ratio, n_rows), len(choosable)), replace=False)
    flips = rounded_share(dimensionality, n_outputs)
    perturbed = np.array(Y)
    for row in rows:
        present = np.flatnonzero(observed[row])
        columns = rng.choice(present, size=min(flips, len(present)), replace=False)
        perturbed[row, columns] = 1 - perturbed[row, columns]
    touched = np.zeros(n_rows, dtype=bool)
    touched[rows] = True
    return perturbed, touched

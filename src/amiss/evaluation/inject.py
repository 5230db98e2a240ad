"""Simulated outliers: outputs of a few rows changed on purpose (the paper's section 5.1 flips them)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.arrays import Mask
from amiss.decisions.thresholds import rounded_share
from amiss.evaluation.registry import ERROR_KINDS


def inject(
    Y: npt.NDArray[Any],
    ratio: float = 0.01,
    dimensionality: float = 0.05,
    random_state: int | np.random.Generator | None = None,
    *,
    kind: str = "flip",
) -> tuple[npt.NDArray[Any], Mask]:
    """Make errors in a share ``ratio`` of the rows; by default flip a share ``dimensionality`` of their outputs.

    Both shares are rounded to whole numbers, halves up, at least one. A missing output (NaN) is never
    changed, nor counted: a row with missing outputs gets as many flips as a complete one, or all it
    has, and one without any output is not chosen.

    Parameters
    ----------
    kind : {"flip", "omission", "commission", "replacement", "confusion", "swap", "blank"}
        What is done to a row: outputs are flipped; ones are set to 0; zeros to 1; one label takes the place of
        another; the same, always with the same two labels; all outputs are those of another row; all are 0. Only
        the first three heed ``dimensionality``.

    Returns
    -------
    Y_perturbed : a copy of Y, of the same type, with the errors
    is_outlier : (n_rows,) which rows were changed

    Examples
    --------
    >>> perturbed, touched = inject(np.zeros((100, 20), dtype=int), random_state=0)
    >>> int(touched.sum()), int(perturbed.sum())
    (1, 1)
    >>> perturbed, touched = inject(np.eye(20), 0.1, kind="blank", random_state=0)
    >>> int(touched.sum()), int(perturbed.sum())
    (2, 18)
    """
    rng, Y = np.random.default_rng(random_state), np.asarray(Y)
    n_rows, n_outputs = rounded_share(ratio, len(Y)), rounded_share(dimensionality, Y.shape[1])
    perturbed = ERROR_KINDS.named(kind).make(Y, n_rows, n_outputs, rng)
    return perturbed, ((perturbed != Y) & (Y == Y)).any(axis=1)

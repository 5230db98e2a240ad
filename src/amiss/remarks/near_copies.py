"""Near copies of rows in a fit, which :mod:`amiss.scoring.near_groups` finds, and what is said of them."""

from __future__ import annotations

import numpy as np

from amiss.arrays import Rows
from amiss.data.remark import Code, Remark
from amiss.models.fitting import FittedModels
from amiss.scoring.near_groups import near_groups, sampled_rows, share_of_near_copies
from amiss.scoring.scorer import Scorer
from amiss.wording import count

MANY_NEAR = 0.02  # of the rows, before near copies are reported


def look_like_copies(n_rows: int) -> Remark:
    return Remark(
        Code.NEAR_COPIES,
        f"{count(n_rows, 'row')} have the same outputs as another row, and nearly the same inputs. If these are "
        "copies, they vouch for each other's errors: name the groups of rows (groups, --group), or pass auto to "
        "keep near copies together.",
    )


def kept_together(n_rows: int) -> Remark:
    return Remark(
        Code.NEAR_COPIES, f"{count(n_rows, 'row')} are near copies of others; copies were kept together."
    )


def near_copy_groups(models: FittedModels, scorer: Scorer, least: float) -> Rows | None:
    """Which rows of the fit are near copies, as a group for each of the user's rows.

    None if there are none, or if in a sample less than that share of the rows has any.
    """
    if scorer.local is None:
        return None
    rows, near = models.training_rows, scorer.local.neighborhood
    points = near.inputs(rows.design)
    n_jobs, some = scorer.n_jobs, sampled_rows(len(rows.Y))
    if least and share_of_near_copies(points, rows.Y, some, near.of_rows(some, n_jobs)) < least:
        return None
    found = near_groups(points, rows.Y, near.of_rows(np.arange(len(rows.Y)), n_jobs))
    return None if found is None else found[rows.place]

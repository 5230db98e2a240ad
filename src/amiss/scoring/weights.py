"""Reliability weights: how much each output's model is to be trusted.

With eps[n, i] = 1 - rho[n, i] the error of output i in row n (the paper's section 4.2),

    global:  w_i    = N / Σ_n eps[n, i]
    local:   w_i(n) = |N_k(n)| / Σ_{n' in N_k(n)} eps[n', i]

So a weight is the inverse of a mean error. A :class:`~amiss.scoring.weightings.Weighting` chooses what is
averaged and how it is inverted. Missing outputs are left out of the means.

A hundred neighbours that all agree do not prove that errors never happen there. The *smoothed* local weights are
the inverse of a mean that counts ``PRIOR_ROWS`` rows of average error, and half an error, among the neighbours.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask, Neighbors, Rows
from amiss.scoring.weightings import MeanError, Weighting
from amiss.threads import in_blocks

PRIOR_ROWS, PRIOR_ERRORS = 30.0, 0.5
MEAN_ERROR = MeanError()


def global_weights(errors: Floats, observed: Mask, weighting: Weighting = MEAN_ERROR) -> Floats:
    """One weight per output, ``(n_outputs,)``."""
    return weighting.inverted(mean_errors(weighting.averaged(errors), observed))


def local_weights(
    errors: Floats,
    observed: Mask,
    neighbors: Neighbors,
    weighting: Weighting = MEAN_ERROR,
    n_jobs: int | None = None,
) -> Floats:
    """One weight per row and output, from each row's neighbours, ``(n_rows, n_outputs)``.

    ``neighbors[n]`` are rows of ``errors``. Where none of them shows an output (or there are no
    neighbours), its global weight stands in.
    """
    total, count = _local_sums(errors, observed, neighbors, weighting, n_jobs)
    means = np.divide(total, count, out=np.empty_like(total), where=count > 0)
    if not count.all():
        means = np.where(count > 0, means, mean_errors(weighting.averaged(errors), observed))
    return weighting.inverted(means)


def smoothed_local_weights(
    errors: Floats, observed: Mask, neighbors: Neighbors, means: Floats, n_jobs: int | None = None
) -> Floats:
    """Local weights shrunk towards the overall mean error.

    So neither few neighbours nor unanimous ones make them extreme.
    ``means`` are the :func:`mean_errors` of all rows.
    """
    total, count = _local_sums(errors, observed, neighbors, MEAN_ERROR, n_jobs)
    total += PRIOR_ROWS * means + PRIOR_ERRORS
    weights: Floats = (count + PRIOR_ROWS + PRIOR_ERRORS) / total
    return weights


def mean_errors(errors: Floats, observed: Mask) -> Floats:
    """Mean error of each output over the rows that show it, ``(n_outputs,)``."""
    total = np.where(observed, errors, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(observed.sum(axis=0), 1))


def _local_sums(
    errors: Floats, observed: Mask, neighbors: Neighbors, weighting: Weighting, n_jobs: int | None
) -> tuple[Floats, Floats]:
    """Sum over each row's neighbours of what is averaged, and how many of them show the output."""
    n_asked, k = neighbors.shape
    place: Neighbors | Rows = neighbors
    used: Neighbors | slice = slice(None)
    if n_asked * k < len(errors):  # a few new rows need not look at all there are
        used, place = np.unique(neighbors, return_inverse=True)
    near_errors, near_observed = weighting.averaged(errors[used]), observed[used]
    shown, all_shown = np.where(near_observed, near_errors, 0.0), bool(near_observed.all())
    total = np.empty((n_asked, shown.shape[1]))
    count = np.full(total.shape, float(k))

    def work(rows: slice) -> None:
        mine = place[rows]
        near = sparse.csr_array(
            (np.ones(mine.size), mine.ravel(), np.arange(len(mine) + 1) * k), shape=(len(mine), len(shown))
        )
        total[rows] = near @ shown
        if not all_shown:
            count[rows] = near @ near_observed.astype(float)

    in_blocks(n_asked, work, n_jobs)  # a matrix of all neighbours would be larger than most tables
    return total, count

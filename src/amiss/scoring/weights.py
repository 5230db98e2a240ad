"""Reliability weights: how much each output's model is to be trusted.

With eps[n, i] = 1 - rho[n, i] the error of output i in row n (the paper's section 4.2),

    global:  w_i    = N / Σ_n eps[n, i]
    local:   w_i(n) = |N_k(n)| / Σ_{n' in N_k(n)} eps[n', i]

so a weight is the inverse of a mean error. ``kind`` chooses what is averaged and inverted:
"error" is the paper's; "sqrt" the square root of that weight, which is gentler with rare outputs;
"brier" the inverse of the mean squared error, which the paper argues against.

Missing outputs are left out of the means. A mean below ``SMALLEST_ERROR`` counts as that, so a
weight is finite even where an output has no error at all.

A hundred neighbours that all agree do not prove that errors never happen there. The *steadied*
local weights are the inverse of a mean that counts ``PRIOR_ROWS`` rows of average error, and half
an error, among the neighbours.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Mask
from amiss.scoring.neighbors import Neighbors

Weighting = Literal["error", "sqrt", "brier"]
WEIGHTINGS = ("error", "sqrt", "brier")

SMALLEST_ERROR = 1e-9
PRIOR_ROWS, PRIOR_ERRORS = 30.0, 0.5


def global_weights(errors: Floats, observed: Mask, kind: Weighting = "error") -> Floats:
    """One weight an output, ``(n_outputs,)``."""
    return _inverted(_global_means(_averaged(errors, kind), observed), kind)


def local_weights(
    errors: Floats,
    observed: Mask,
    neighbors: Neighbors,
    kind: Weighting = "error",
) -> Floats:
    """One weight an output and row, from each row's neighbours, ``(n_rows, n_outputs)``.

    ``neighbors[n]`` are rows of ``errors``. Where none of them shows an output (or there are no
    neighbours), its global weight stands in.
    """
    total, count = _local_sums(errors, observed, neighbors, kind)
    means = np.divide(total, count, out=np.empty_like(total), where=count > 0)
    if not count.all():
        means = np.where(count > 0, means, _global_means(_averaged(errors, kind), observed))
    return _inverted(means, kind)


def steadied_local_weights(errors: Floats, observed: Mask, neighbors: Neighbors, means: Floats) -> Floats:
    """Local weights that neither a few neighbours nor their agreement can carry away.

    ``means`` are the :func:`mean_errors` of all rows.
    """
    total, count = _local_sums(errors, observed, neighbors, "error")
    total += PRIOR_ROWS * means + PRIOR_ERRORS
    weights: Floats = (count + PRIOR_ROWS + PRIOR_ERRORS) / total
    return weights


def _local_sums(errors: Floats, observed: Mask, neighbors: Neighbors, kind: Weighting) -> tuple[Floats, Floats]:
    """Sum over each row's neighbours of what is averaged, and how many of them show the output."""
    n_asked, k = neighbors.shape
    place: Neighbors = neighbors
    used: Neighbors | slice = slice(None)
    if n_asked * k < len(errors):  # a few new rows need not look at all there are
        used, place = np.unique(neighbors, return_inverse=True)
    near_errors, near_observed = _averaged(errors[used], kind), observed[used]
    near = sparse.csr_array(
        (np.ones(n_asked * k), place.ravel(), np.arange(n_asked + 1) * k),
        shape=(n_asked, len(near_errors)),
    )
    total = near @ np.where(near_observed, near_errors, 0.0)
    count = np.full(total.shape, float(k)) if near_observed.all() else near @ near_observed.astype(float)
    return total, count


def mean_errors(errors: Floats, observed: Mask) -> Floats:
    """Mean error of each output, ``(n_outputs,)``."""
    return _global_means(errors, observed)


def _averaged(errors: Floats, kind: Weighting) -> Floats:
    return errors**2 if kind == "brier" else errors


def _global_means(values: Floats, observed: Mask) -> Floats:
    total = np.where(observed, values, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(observed.sum(axis=0), 1))


def _inverted(means: Floats, kind: Weighting) -> Floats:
    weights = 1.0 / np.maximum(means, SMALLEST_ERROR)
    return np.sqrt(weights) if kind == "sqrt" else weights

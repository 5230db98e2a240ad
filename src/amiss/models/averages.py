"""Averages of two fits of the same table: how much of each, and what comes out.

The log-odds of an output become those of one fit, of the other, or the mean of both, by their log-loss outside the
folds. A mean of two models that were fitted in different ways often predicts better than either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amiss.arrays import Floats, Mask
from amiss.models.conditional import AverageModel, Fit
from amiss.models.fold_models import AverageFolds
from amiss.models.projection import log_rho

SHARES = (0.0, 0.5, 1.0)  # of the second fit


def best_shares(first: Floats, second: Floats, outputs: Floats, observed: Mask, least_gain: float = 0.0) -> Floats:
    """The share of the second that predicts each output best, by log-odds out of fold, ``(n_outputs,)``.

    It has none where it does not lower the loss of the first by ``least_gain`` of it.
    """
    losses = np.stack([
        np.where(observed, -log_rho((1 - share) * first + share * second, outputs), 0.0).sum(axis=0)
        for share in SHARES
    ])  # fmt: skip
    worth_it = losses.min(axis=0) <= (1 - least_gain) * losses[0]
    return np.where(worth_it, np.asarray(SHARES)[np.argmin(losses, axis=0)], 0.0)


def held_out(fit: Fit) -> Floats:
    """The log-odds out of fold of a fit with folds."""
    assert fit.out_of_fold is not None
    return fit.out_of_fold


def average_fit(first: Fit, second: Fit, share: Floats) -> Fit:
    """The average of two fits with folds, in which the second has a ``share`` of each output."""
    if not share.any():
        return replace(first, alone=None)

    def average(ours: Floats, theirs: Floats) -> Floats:
        return (1 - share) * ours + share * theirs

    assert first.fold_models is not None and second.fold_models is not None
    shares = np.stack([1 - share, share])
    shown = [fit.in_sample if fit.shown is None else fit.shown for fit in (first, second)]
    return replace(
        first,
        model=AverageModel((first.model, second.model), shares),
        in_sample=average(first.in_sample, second.in_sample),
        out_of_fold=average(held_out(first), held_out(second)),
        fold_models=AverageFolds((first.fold_models, second.fold_models), shares),
        shown=average(shown[0], shown[1]),
        alone=None,
    )

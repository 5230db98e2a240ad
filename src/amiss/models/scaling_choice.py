"""Which scaling suits a table: the one by which the inputs predict the outputs better.

Ranks suit skewed columns; they ruin columns whose information is in their extremes, such as the logits of a
classifier. Neither is known beforehand, so models of the inputs alone are fitted to a sample of the rows by each
scaling, and the lower log-loss on rows outside the fold wins.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from scipy import sparse

from amiss.arrays import is_single
from amiss.data.table import Table
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.leading_axes import is_wide
from amiss.encoding.scalings import SCALINGS
from amiss.encoding.scalings.base import Scaling
from amiss.models.folds import stratified_folds
from amiss.models.logistic.fit import cross_validated_loss
from amiss.threads import one_blas_thread

CANDIDATES = ("rank", "block")
MOST_ROWS, MOST_OUTPUTS = 1000, 10
STRENGTHS = (3.0, 0.3)
N_FOLDS = 2
SAME = 1e-9


def choose_scaling(inputs: Table, outputs: Table, *, n_jobs: int | None) -> Scaling:
    """The scaling of the ``CANDIDATES`` with the lowest log-loss; the first where it makes no difference.

    Rows are expected in the order of their fingerprints, so that the sample does not depend on another order.
    """
    some = np.unique(np.linspace(0, len(inputs) - 1, MOST_ROWS).astype(np.intp))
    usual, *others = (SCALINGS[name] for name in CANDIDATES)
    sample = _doubled(inputs.take(some))
    if len(some) < 4 * N_FOLDS or _two_valued(sample):
        return usual
    encoder = fit_encoder(sample, usual, part=True)
    if encoder.stored_sparse:  # a table that is mostly zeros is not ranked anyway
        return usual
    Y = np.asarray(outputs.values)[some]
    spread = np.minimum((Y == 0).sum(axis=0), (Y == 1).sum(axis=0))
    told = np.argsort(-spread, kind="stable")[:MOST_OUTPUTS]
    told = told[spread[told] >= N_FOLDS]
    if not len(told):
        return usual
    design = encoder.transform(sample)
    designs = {usual: design}
    for scaling in others:
        other = fit_encoder(sample, scaling, part=True).transform(sample)
        if np.abs(other - design).max() > SAME:
            designs[scaling] = other
    if len(designs) == 1:
        return usual
    told_Y = Y[:, told]
    folds = stratified_folds(told_Y, N_FOLDS)

    def loss(scaling: Scaling) -> float:
        # The axes of a thousand rows are found fastest by one thread.
        with one_blas_thread() if is_wide(inputs.values) else nullcontext():
            return float(cross_validated_loss(designs[scaling], told_Y, STRENGTHS, folds, n_jobs=n_jobs).sum())

    return min(designs, key=loss)


def _doubled(sample: Table) -> Table:
    """In double precision, so that the choice does not depend on the precision that the numbers came in."""
    return replace(sample, values=sample.values.astype(np.float64)) if is_single(sample.values) else sample


def _two_valued(inputs: Table) -> bool:
    """Whether no column has more than two values and none is missing: then every scaling is the same."""
    values = inputs.values
    if sparse.issparse(values) or np.isnan(values).any():
        return False
    return bool(((values == values.min(axis=0)) | (values == values.max(axis=0))).all())

"""A batch without rows, as a service that polls for new rows has now and then: an empty result, and no error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from amiss.decisions.decision import Decision
from amiss.encoding.encoded_rows import EncodedRows
from amiss.scoring.rows import ScoredRows


def stand_in(rows: EncodedRows) -> EncodedRows:
    """One row with the columns of a batch that has none, so that all shapes are as of any batch."""
    n_columns = rows.design.shape[1]
    design = sparse.csr_array((1, n_columns)) if sparse.issparse(rows.design) else np.zeros((1, n_columns))
    Y, fingerprint = np.zeros((1, rows.Y.shape[1])), np.zeros(1, dtype=np.uint64)
    return replace(rows, expanded=design, design=design, Y=Y, fingerprints=fingerprint)


def without_rows(scored: ScoredRows) -> ScoredRows:
    """The same without any row."""
    none = np.empty(0, dtype=np.intp)
    return replace(
        scored,
        Y=scored.Y[none],
        log_odds=scored.log_odds[none],
        weights=scored.weights_of(none),
        contributions=scored.contributions[none],
        training_match=scored.training_match[none],
        views=None if scored.views is None else scored.views.take(none),
        odds=None if scored.odds is None else scored.odds[none],
        wrong=None if scored.wrong is None else scored.wrong[none],
        forecast=None if scored.forecast is None else scored.forecast.take(none),
    )


def nothing_decided(threshold: float, has_p_values: bool) -> Decision:
    """The decision about no row."""
    p_values = np.empty(0) if has_p_values else None
    return Decision(threshold, np.empty(0, dtype=bool), p_values, "threshold", "the threshold of the fit")

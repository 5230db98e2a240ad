"""What a person would use instead, for comparison: unconditional outlier scores on joint columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from amiss.dataset import as_inputs, as_outputs
from amiss.design import Scaling, fit_encoding, joint
from amiss.missing import Expectations, base_rates
from amiss.table import Floats


def lof(X: Any, Y: Any, n_neighbors: int = 100, scaling: Scaling = "block") -> Floats:
    """Local outlier factor of each row in the space of inputs and outputs; higher is more unusual.

    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 2)), np.zeros((200, 1))
    >>> X[3] = 50
    >>> int(np.argmax(lof(X, Y)))
    3
    """
    from sklearn.neighbors import LocalOutlierFactor

    inputs, outputs = as_inputs(X), np.asarray(as_outputs(Y).values)
    design = fit_encoding(inputs, scaling).transform(inputs)
    rows = joint(design, Expectations(base_rates(outputs)).filled(design, outputs))
    model = LocalOutlierFactor(n_neighbors=min(n_neighbors, len(inputs) - 1)).fit(rows)
    return -np.asarray(model.negative_outlier_factor_)

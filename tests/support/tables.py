"""Small tables with known dependence."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd

from amiss import MCODE

ENVIRONMENT = {**os.environ, "COLUMNS": "110"}
# For processes that are killed or may write little, and for copies of the package: coverage fails or errs there.
UNMEASURED = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("COVERAGE")}


def make_table(n_rows=240, n_inputs=5, n_outputs=4, seed=0):
    """Outputs that depend on the inputs and on one another, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_inputs))
    signal = X @ rng.normal(size=(n_inputs, n_outputs))
    signal[:, 1:] += signal[:, :1]
    Y = (signal + 0.7 * rng.normal(size=signal.shape) > 0).astype(float)
    return X, Y


SCORES = ("prod", "rw", "lrw", "flip")


def fitted(X, Y, **parameters):
    return MCODE(**{"n_neighbors": 30, **parameters}).fit(X, Y)


def frame(X, Y):
    """The same table as two data frames with names."""
    inputs = pd.DataFrame(X, columns=[f"in{i}" for i in range(X.shape[1])])
    return inputs, pd.DataFrame(Y, columns=[f"tag{i}" for i in range(Y.shape[1])])


def mixed_table(n_rows=60, seed=0):
    """Numbers, categories of two and of three levels, missing inputs and outputs."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "ward, main": rng.choice(["eyes", 'no"se', "ünit"], n_rows),
        }
    )
    X.loc[3, "age"], X.loc[5, "ward, main"] = np.nan, None
    Y = pd.DataFrame((rng.random((n_rows, 3)) < 0.4).astype(float), columns=["a", "b", "c"])
    Y.loc[4, "b"] = np.nan
    return X, Y

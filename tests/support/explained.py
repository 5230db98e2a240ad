"""Tables whose rows are explained."""

from __future__ import annotations

import numpy as np
import pandas as pd

from amiss.scoring.registry import RULES
from support.tables import make_table

RULE_NAMES = tuple(RULES)
CROSSFITS = (False, True, 0.5, 0.6)


def mixed_table():
    """Numbers, categories of two and of four levels, missing inputs and outputs, copies of rows."""
    X, Y = make_table(150, 4, 5, seed=3)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X, columns=list("abcd"))
    table["ward"] = rng.choice(["eyes", "heart", "knees", "skin"], len(X))
    table["sex"] = rng.choice(["f", "m"], len(X))
    table.loc[::9, "a"] = np.nan
    table.loc[4::11, "ward"] = None
    Y[2::7, 1] = np.nan
    table.iloc[20:26], Y[20:26] = table.iloc[19], Y[19]
    return table, pd.DataFrame(Y, columns=[f"tag{i}" for i in range(5)])


def with_mistakes():
    """Two inputs that decide three outputs, of which two are alike; in row 3 the first output is false."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] > 0]).astype(float)
    Y[3, 0] = 1 - Y[3, 0]
    return pd.DataFrame(X, columns=["age", "dose"]), pd.DataFrame(Y, columns=["ill", "treated", "admitted"])

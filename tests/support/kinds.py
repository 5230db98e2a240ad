"""Small tables whose outputs are of every kind, and forests of few trees for tests of what is done with them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd

GRADES = ("low", "middle", "high")
KINDS = {"grade": list(GRADES), "visits": "count"}


def table_of_kinds(n_rows=80, seed=0):
    """Inputs with a category and a missing number; outputs of every kind, with missing ones and a rare level."""
    rng = np.random.default_rng(seed)
    level, load = rng.normal(size=(2, n_rows))
    X = pd.DataFrame({"level": level, "load": load, "ward": rng.choice(["eyes", "skin"], n_rows)})
    X.loc[3, "load"] = np.nan
    dose = 2 * level + load + 0.3 * rng.normal(size=n_rows)
    colour = np.where(level > 0.4, "red", np.where(load > 0, "green", "blue")).astype(object)
    Y = pd.DataFrame(
        {
            "tag": (level + 0.5 * rng.normal(size=n_rows) > 0).astype(float),
            "colour": colour,
            "grade": np.array(GRADES, dtype=object)[np.digitize(dose, [-1.0, 1.5])],
            "visits": rng.poisson(np.exp(np.clip(0.5 * level + 1, -2, 3))).astype(float),
            "dose": dose,
        }
    )
    if seed == 0:
        Y.loc[[1, 2], "colour"] = ["violet", "amber"]  # too rare to be learned
    for place, name in enumerate(Y.columns):
        Y.loc[5 + 2 * place, name] = None if Y[name].dtype == object else np.nan
    return X, Y


@contextmanager
def few_trees(n_trees=5):
    """Forests are small, and so are model files."""
    with ExitStack() as stack:
        for module in ("forest", "fit"):
            stack.enter_context(patch(f"amiss.models.numbers.{module}.N_TREES", n_trees))
        yield

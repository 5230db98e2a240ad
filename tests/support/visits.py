"""A table with an output of every kind, each told by the inputs and by the others."""

from __future__ import annotations

import numpy as np
import pandas as pd

COLOURS = ("red", "green", "blue")
KINDS = {"grade": ["none", "mild", "severe"]}


def make_kinds(n_rows=400, seed=0):
    """Inputs, and a frame of outputs: two tags, a class, a grade, a count and a number."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4))
    colour = np.argmax(
        np.column_stack([x[:, 0], x[:, 1], -x[:, 0] - x[:, 1]]) + 0.2 * rng.normal(size=(n_rows, 3)), 1
    )
    dose = 20 + 5 * x[:, 3] + 3 * x[:, 0] + 0.5 * rng.normal(size=n_rows)
    grade = np.digitize(x[:, 1] + 0.2 * rng.normal(size=n_rows), [-0.5, 0.7])
    Y = pd.DataFrame(
        {
            "tag_a": (x[:, 0] + 0.2 * rng.normal(size=n_rows) > 0).astype(int),
            "colour": np.array(COLOURS)[colour],
            "grade": np.array(KINDS["grade"])[grade],
            "lesions": rng.poisson(np.exp(1 + 0.8 * x[:, 2])),
            "dose": dose.round(3),
            "tag_b": (dose > 22).astype(int),
        }
    )
    return x, Y

"""Predictions of the outputs of a table of several kinds, made without the row they are of."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.model_selection import cross_val_predict

NUMERIC = ("lesions", "dose")


def predict_kinds(X, Y):
    """By output: probabilities of a 1, of the levels in their sorted order, or the value that is expected."""
    found = {}
    for name in Y.columns:
        if name in NUMERIC:
            found[name] = cross_val_predict(ExtraTreesRegressor(50, random_state=0), X, Y[name])
            continue
        trees = ExtraTreesClassifier(50, min_samples_leaf=3, random_state=0)
        chances = cross_val_predict(trees, X, Y[name], method="predict_proba")
        levels = sorted(Y[name].unique())
        found[name] = chances[:, 1] if name.startswith("tag") else pd.DataFrame(chances, columns=levels)
    return found


def as_frame(predictions):
    """The same as one frame whose columns say what they predict, in the order of the alphabet."""
    columns = {}
    for name, each in predictions.items():
        if isinstance(each, pd.DataFrame):
            columns |= {f"p_{name}_{level}": each[level] for level in each.columns}
        else:
            columns[f"p_{name}"] = np.asarray(each)
    return pd.DataFrame({name: columns[name] for name in sorted(columns)})

"""What people use instead, out of fold: plain models of each output given the inputs, and cleanlab on top of
them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from amiss.arrays import Floats, Mask

LEAST_IN_LEAF = 20  # scikit-learn's default
PEERS = ("logistic", "logistic C=0.1", "boosting", "extra trees")


def held_out(X: Any, Y: Floats, peer: str, model: Any = None) -> Floats:
    """P(y = 1 | x) of each output, by models that did not see the row: the peer's, or another ``model``."""
    scaler = MaxAbsScaler() if sparse.issparse(X) else StandardScaler()
    models: dict[str, Any] = {
        "logistic": make_pipeline(scaler, LogisticRegression(max_iter=2000)),
        "logistic C=0.1": make_pipeline(scaler, LogisticRegression(C=0.1, max_iter=2000)),
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "extra trees": ExtraTreesClassifier(300, n_jobs=2, random_state=0),
    }
    inputs = X
    if sparse.issparse(X):  # scikit-learn's trees know only short indices
        inputs = sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
    if peer == "boosting" and sparse.issparse(X):  # a column that fewer rows fill than a leaf needs is never split
        filled = np.bincount(sparse.csr_array(X).indices, minlength=X.shape[1]) >= LEAST_IN_LEAF
        inputs = X[:, np.flatnonzero(filled)].toarray()
    chosen = models[peer] if model is None else model
    chance = np.empty(Y.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, y in enumerate(Y.T.astype(int)):
            rarer = min(int(y.sum()), int(len(y) - y.sum()))
            if rarer < 2:
                chance[:, i] = y.mean()
                continue
            folds = StratifiedKFold(min(5, rarer), shuffle=True, random_state=0)
            found = cross_val_predict(chosen, inputs, y, cv=folds, method="predict_proba")
            chance[:, i] = found[:, 1]
    return chance


def surprise(chance: Floats, Y: Floats) -> Floats:
    """-log of the probability of what was observed."""
    return -np.log(np.clip(np.where(Y == 1, chance, 1 - chance), 1e-9, None))


def cleanlab_rows(chance: Floats, Y: Floats) -> Floats:
    """cleanlab's label quality of each row, turned round."""
    from cleanlab import multilabel_classification as quality

    labels = [np.flatnonzero(row).tolist() for row in Y]
    return -np.asarray(quality.get_label_quality_scores(labels, chance), dtype=float)


def cleanlab_issues(chance: Floats, Y: Floats) -> Mask:
    """The rows that cleanlab's find_label_issues flags."""
    from cleanlab.multilabel_classification.filter import find_label_issues

    labels = [np.flatnonzero(row).tolist() for row in Y]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(find_label_issues(labels, chance), dtype=bool)


def f1(flagged: Mask, wrong: Mask) -> float:
    """Harmonic mean of precision and recall."""
    hits = int((flagged & wrong).sum())
    return 2 * hits / max(1, int(flagged.sum()) + int(wrong.sum()))

"""What is compared on numeric tables: the default detector, and what people use instead.

Three baselines look at the outputs alone. Two compare each output with what gradient boosting expects of it, given
the inputs, or given the inputs and the other outputs. All but the detector need nothing but scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from amiss.arrays import Floats
from amiss.data.table import Table
from amiss.detector import MCODE
from amiss.paper.methods import OURS
from amiss.threads import one_openmp_thread

N_BINS = 10
N_NEIGHBORS = 20
N_FOLDS = 5
MOST_CATEGORIES = 255  # that scikit-learn's boosting can tell apart

Scorer = Callable[[Table, Floats], Floats]


def ours(X: Table, Y: Floats) -> Floats:
    return np.asarray(MCODE().fit(X, Y).decision_scores_)


def isolation_forest(X: Table, Y: Floats) -> Floats:
    from sklearn.ensemble import IsolationForest

    return -np.asarray(IsolationForest(random_state=0).fit(Y).score_samples(Y))


def hbos(X: Table, Y: Floats) -> Floats:
    """Σ_i -log of the share of rows in the bin of y_i, among bins of equal width.

    That is -log of a histogram's density but for a constant per output.

    >>> hbos(Table(np.zeros((4, 1)), ("x0",)), np.array([[0.0], [0.0], [0.0], [1.0]])).round(2)
    array([0.29, 0.29, 0.29, 1.39])
    """
    score = np.zeros(len(Y))
    for y in Y.T:
        counts, edges = np.histogram(y, bins=N_BINS)
        score -= np.log(counts[np.digitize(y, edges[1:-1])] / len(y))
    return score


def local_outlier_factor(X: Table, Y: Floats) -> Floats:
    from sklearn.neighbors import LocalOutlierFactor

    with warnings.catch_warnings():  # more equal rows than neighbours: that is the baseline's own weakness
        warnings.filterwarnings("ignore", "Duplicate values", UserWarning)
        found = LocalOutlierFactor(n_neighbors=min(N_NEIGHBORS, len(Y) - 1)).fit(Y)
    return -np.asarray(found.negative_outlier_factor_)


def boosting(X: Table, Y: Floats) -> Floats:
    """Σ_i |y_i - m_i(x)| / s_i(x)."""
    return np.asarray(sum(_surprise(X, np.empty((len(Y), 0)), y) for y in Y.T))


def boosting_with_outputs(X: Table, Y: Floats) -> Floats:
    """The same, given the inputs and the other outputs."""
    return np.asarray(sum(_surprise(X, np.delete(Y, i, axis=1), y) for i, y in enumerate(Y.T)))


def _surprise(X: Table, others: Floats, y: Floats) -> Floats:
    """|y - m| / s, where m is predicted out of fold, and s is the predicted |y - m| plus its mean."""
    residual = np.abs(y - _out_of_fold(X, others, y))
    scale = np.maximum(_out_of_fold(X, others, residual), 0) + residual.mean()
    return residual / np.maximum(scale, np.finfo(float).tiny)


def _out_of_fold(X: Table, others: Floats, target: Floats) -> Floats:
    from scipy import sparse
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    inputs = X.values.toarray() if sparse.issparse(X.values) else X.values
    categories = [column for column, levels in X.levels.items() if len(levels) <= MOST_CATEGORIES]
    model = HistGradientBoostingRegressor(categorical_features=categories or None, random_state=0)
    folds = KFold(N_FOLDS, shuffle=True, random_state=0)
    with (
        one_openmp_thread()
    ):  # tables are small, and threads that wait for each other take a hundred times as long
        return np.asarray(cross_val_predict(model, np.hstack([inputs, others]), target, cv=folds))


SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        OURS: ours,
        "isolation forest": isolation_forest,
        "HBOS": hbos,
        "LOF": local_outlier_factor,
        "boosting": boosting,
        "boosting with outputs": boosting_with_outputs,
    }
)

"""The trees of a fitted ``HistGradientBoostingClassifier`` as arrays.

scikit-learn has no public way to its trees, so this reads attributes that may change with a version. The caller
compares what the arrays give with what scikit-learn gives.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from amiss.models.boosting.trees import BoostedTrees

PREDICTORS, BASE = attrgetter("_predictors"), attrgetter("_baseline_prediction")


def trees_of(fitted: Any, columns: npt.NDArray[np.intp]) -> BoostedTrees:
    """Trees of a classifier of 0 and 1 that was fitted to some ``columns`` of Z."""
    tables = [predictor.nodes for (predictor,) in PREDICTORS(fitted)]
    sizes = [len(table) for table in tables]
    roots = np.cumsum([0, *sizes])[:-1].astype(np.int32)
    nodes = np.concatenate(tables) if tables else np.empty(0, dtype=[])
    shift, own = np.repeat(roots, sizes), np.arange(sum(sizes))
    is_leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(is_leaf, own, nodes[side] + shift) for side in ("left", "right"))
    cover = nodes["count"].astype(np.float64)
    return BoostedTrees(
        base=np.ravel(BASE(fitted)).astype(np.float64),
        first_trees=np.array([0, len(tables)], dtype=np.int32),
        roots=roots,
        feature=np.where(is_leaf, -1, columns[nodes["feature_idx"]]).astype(np.int32),
        threshold=np.where(is_leaf, np.inf, nodes["num_threshold"]),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        value=_means(np.where(is_leaf, nodes["value"], 0.0), is_leaf, left, right, cover),
        cover=cover,
    )


def _means(value: Any, is_leaf: Any, left: Any, right: Any, cover: Any) -> Any:
    """The mean value of the training rows at every node, from the leaves up."""
    for node in np.flatnonzero(~is_leaf)[::-1]:  # children have higher numbers
        below = left[node], right[node]
        value[node] = sum(value[each] * cover[each] for each in below) / cover[node]
    return value

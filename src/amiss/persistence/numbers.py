"""Models of numbers and counts: forests, linear models, and which training row each tree saw.

A leaf of a forest holds values of training rows, four of them at most, and a file without rows keeps these too:
they say which values occur, as categories do, and not whose they are.
"""

from __future__ import annotations

import numpy as np

from amiss.arrays import Mask, Rows
from amiss.models.numbers.forest import N_QUANTILES, Forest, Nodes
from amiss.models.numbers.linear import Line
from amiss.models.numbers.model import NumberModel
from amiss.persistence.fields import Arrays, Fields, InvalidField
from amiss.persistence.layout import LARGEST_AMOUNT, LEAST_SPREAD
from amiss.persistence.predictors import MOST_FOLDS, are_trees

DEEPEST = 1000  # splits on the way to a leaf: these trees grow until their leaves are small
MOST_TREES = 1000
LEARNERS = {  # which of plain, line and residual there are, by the share of the linear model
    0.0: ((False, False, False), (True, False, False)),
    0.5: ((True, True, True),),
    1.0: ((False, True, True),),
}


def pack_number(name: str, model: NumberModel) -> Arrays:
    """Whether the target is a count is told by the kind of the output."""
    numbers = model.share, model.median, model.usual_spread, model.least_spread
    return {
        f"{name}.numbers": np.array(numbers, dtype=np.float64),
        f"{name}.columns": model.columns.astype(np.int64),
        f"{name}.in_bag": np.packbits(model.in_bag, axis=1),
        **({} if model.plain is None else _pack_forest(f"{name}.plain", model.plain)),
        **({} if model.line is None else _pack_line(f"{name}.line", model.line)),
        **({} if model.residual is None else _pack_forest(f"{name}.residual", model.residual)),
    }


def unpack_number(name: str, fields: Fields, n_columns: int, n_rows: int, whole: bool) -> NumberModel:
    """A model on ``n_columns`` columns of the design; ``n_rows`` is 0 in a file without rows."""
    share, median, usual, least = fields.floats(f"{name}.numbers", 4, largest=LARGEST_AMOUNT).tolist()
    columns = _unpack_columns(name, fields, n_columns)
    parts = [fields.has(f"{name}.{array}") for array in ("plain.roots", "line.coef", "residual.roots")]
    if tuple(parts) not in LEARNERS.get(share, ()) or usual < 0 or least < LEAST_SPREAD:
        raise InvalidField("numbers")
    plain = _unpack_forest(f"{name}.plain", fields, len(columns)) if parts[0] else None
    line = _unpack_line(f"{name}.line", fields, len(columns), n_rows) if parts[1] else None
    residual = _unpack_forest(f"{name}.residual", fields, len(columns)) if parts[2] else None
    n_trees = {len(forest.roots) for forest in (plain, residual) if forest is not None} or {0}
    if len(n_trees) > 1 or (not any(parts) and len(columns)):
        raise InvalidField("numbers")
    in_bag = _unpack_bags(name, fields, n_trees.pop(), n_rows)
    return NumberModel(columns, share, plain, line, residual, in_bag, median, usual, least, whole)


def _unpack_columns(name: str, fields: Fields, n_columns: int) -> Rows:
    columns = fields.array(f"{name}.columns", "I64", None)
    if ((columns < 0) | (columns >= n_columns)).any() or (np.diff(columns) <= 0).any():
        raise InvalidField("columns")
    return columns.astype(np.intp)


def _unpack_bags(name: str, fields: Fields, n_trees: int, n_rows: int) -> Mask:
    packed = fields.array(f"{name}.in_bag", "U8", n_trees, -(-n_rows // 8))
    bags = np.unpackbits(packed, axis=1, count=n_rows).astype(bool)
    if not np.array_equal(np.packbits(bags, axis=1), packed):  # bits beyond the last row
        raise InvalidField("in_bag")
    return bags


def _pack_forest(name: str, forest: Forest) -> Arrays:
    """Leaves are numbered in the order of the nodes, so their numbers need no room."""
    return {
        f"{name}.roots": forest.roots,
        f"{name}.feature": forest.feature,
        f"{name}.threshold": np.where(forest.feature < 0, 0.0, forest.threshold),  # a file holds finite numbers
        f"{name}.left": forest.left,
        f"{name}.right": forest.right,
        f"{name}.values": forest.values,
    }


def _unpack_forest(name: str, fields: Fields, n_columns: int) -> Forest:
    def nodes(field: str, length: int | None) -> Nodes:
        return fields.array(f"{name}.{field}", "I32", length)

    roots, feature = nodes("roots", None), nodes("feature", None)
    n_nodes, is_leaf = len(feature), feature < 0
    left, right = nodes("left", n_nodes), nodes("right", n_nodes)
    if not 1 <= len(roots) <= MOST_TREES or ((feature < -1) | (feature >= n_columns)).any():
        raise InvalidField("forest")
    if not are_trees(roots, left, right, is_leaf) or not _all_end(roots, left, right, is_leaf):
        raise InvalidField("forest")
    values = fields.floats(f"{name}.values", int(is_leaf.sum()), N_QUANTILES, largest=LARGEST_AMOUNT)
    if (np.diff(values, axis=1) < 0).any():
        raise InvalidField("values")
    return Forest(
        roots=roots,
        feature=feature,
        threshold=np.where(is_leaf, np.inf, fields.cells(f"{name}.threshold", n_nodes)),
        left=left,
        right=right,
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32),
        values=values,
    )


def _all_end(roots: Nodes, left: Nodes, right: Nodes, is_leaf: Mask) -> bool:
    """Whether every way down trees ends after at most ``DEEPEST`` splits."""
    level = roots
    for _ in range(DEEPEST + 1):
        level = level[~is_leaf[level]]
        if not len(level):
            return True
        level = np.concatenate([left[level], right[level]])
    return False


def _pack_line(name: str, line: Line) -> Arrays:
    return {
        f"{name}.coef": np.vstack([line.fold_coef, line.coef]),  # that of all rows stands last
        f"{name}.intercept": np.append(line.fold_intercept, line.intercept),
        f"{name}.folds": line.folds,
    }


def _unpack_line(name: str, fields: Fields, n_columns: int, n_rows: int) -> Line:
    intercept = fields.floats(f"{name}.intercept", None, largest=LARGEST_AMOUNT)
    coef = fields.floats(f"{name}.coef", len(intercept), n_columns)
    folds = fields.array(f"{name}.folds", "I8", n_rows)
    n_folds = len(intercept) - 1
    if not 0 <= n_folds <= MOST_FOLDS or ((folds < -1) | (folds >= n_folds)).any():
        raise InvalidField("line")
    return Line(coef[-1], float(intercept[-1]), coef[:-1], intercept[:-1], folds)

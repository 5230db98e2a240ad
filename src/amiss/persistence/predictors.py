"""Models of the outputs, and those fitted without a fold: coefficients, trees, and averages of both.

Which arrays there are says which kind of model it is: ``NAME.coef`` a linear one, ``NAME.base`` trees, and
``NAME.shares`` an average of the models ``NAME.0``, ``NAME.1`` and so on.
"""

from __future__ import annotations

import numpy as np

from amiss.arrays import Mask
from amiss.models.boosting.trees import BoostedTrees, Nodes
from amiss.models.classifiers import ClassifierModel
from amiss.models.conditional import AverageModel, ConditionalModel, FoldModels, LinearModel
from amiss.models.fold_models import AverageFolds, KeptFolds, LinearFolds
from amiss.models.folds import Folds
from amiss.persistence.estimators import Revival, pack_classifiers, unpack_classifiers
from amiss.persistence.fields import Arrays, Fields, InvalidField, at_least

MOST_FOLDS = 100
DEEPEST = 64  # splits on the way to a leaf
KINDS = 2  # of models in an average


def has_model(name: str, fields: Fields) -> bool:
    return any(fields.has(f"{name}.{array}") for array in ("coef", "base", "shares", "skops"))


def pack_model(name: str, model: ConditionalModel) -> Arrays:
    if isinstance(model, LinearModel):
        return {f"{name}.coef": model.coef, f"{name}.intercept": model.intercept}
    if isinstance(model, BoostedTrees):
        return _pack_trees(name, model)
    if isinstance(model, AverageModel):
        arrays: Arrays = {f"{name}.shares": model.shares}
        for place, part in enumerate(model.models):
            arrays |= pack_model(f"{name}.{place}", part)
        return arrays
    assert isinstance(model, ClassifierModel)
    return pack_classifiers(name, model)


def unpack_model(
    name: str, fields: Fields, n_columns: int, n_outputs: int, revival: Revival | None = None
) -> ConditionalModel:
    """A model on ``n_columns`` encoded inputs and the outputs; ``revival`` brings classifiers back."""
    if fields.has(f"{name}.skops"):
        return unpack_classifiers(name, fields, n_outputs, revival)
    if fields.has(f"{name}.shares"):
        shares = at_least(0.0, fields.floats(f"{name}.shares", KINDS, n_outputs, largest=1.0))
        size = n_columns, n_outputs, revival
        parts = (unpack_model(f"{name}.{place}", fields, *size) for place in range(KINDS))
        return AverageModel(tuple(parts), shares)
    if fields.has(f"{name}.base"):
        return _unpack_trees(name, fields, n_columns + n_outputs, n_outputs)
    coef = fields.floats(f"{name}.coef", n_columns + n_outputs, n_outputs)
    return LinearModel(coef, fields.floats(f"{name}.intercept", n_outputs))


def _pack_trees(name: str, trees: BoostedTrees) -> Arrays:
    return {
        f"{name}.base": trees.base,
        f"{name}.first_trees": trees.first_trees,
        f"{name}.roots": trees.roots,
        f"{name}.feature": trees.feature,
        f"{name}.threshold": np.where(trees.feature < 0, 0.0, trees.threshold),  # a file holds finite numbers
        f"{name}.left": trees.left,
        f"{name}.right": trees.right,
        f"{name}.value": trees.value,
        f"{name}.cover": trees.cover,
    }


def _unpack_trees(name: str, fields: Fields, n_columns: int, n_outputs: int) -> BoostedTrees:
    def nodes(field: str, length: int | None) -> Nodes:
        return fields.array(f"{name}.{field}", "I32", length)

    first_trees, roots, feature = nodes("first_trees", n_outputs + 1), nodes("roots", None), nodes("feature", None)
    n_nodes = len(feature)
    left, right = nodes("left", n_nodes), nodes("right", n_nodes)
    is_leaf, threshold = feature < 0, fields.cells(f"{name}.threshold", n_nodes)
    if first_trees[0] != 0 or first_trees[-1] != len(roots) or (np.diff(first_trees) < 0).any():
        raise InvalidField("trees")
    if ((feature < -1) | (feature >= n_columns)).any() or not are_trees(roots, left, right, is_leaf):
        raise InvalidField("trees")
    trees = BoostedTrees(
        base=fields.floats(f"{name}.base", n_outputs),
        first_trees=first_trees,
        roots=roots,
        feature=feature,
        threshold=np.where(is_leaf, np.inf, threshold),
        left=left,
        right=right,
        value=fields.floats(f"{name}.value", n_nodes),
        cover=at_least(1.0, fields.floats(f"{name}.cover", n_nodes)),
    )
    if trees.depth > DEEPEST:
        raise InvalidField("trees")
    return trees


def are_trees(roots: Nodes, left: Nodes, right: Nodes, is_leaf: Mask) -> bool:
    """Whether every node but the roots hangs below one other, and leaves point to themselves.

    So every walk ends, and no node can be reached in two ways.
    """
    own = np.arange(len(is_leaf))
    below = np.concatenate([left[~is_leaf], right[~is_leaf], roots])
    later = (left[~is_leaf] > own[~is_leaf]) & (right[~is_leaf] > own[~is_leaf])
    itself = (left[is_leaf] == own[is_leaf]) & (right[is_leaf] == own[is_leaf])
    return bool(later.all() and itself.all() and np.array_equal(np.sort(below), own))


def pack_folds(name: str, models: FoldModels) -> Arrays:
    if isinstance(models, LinearFolds):
        return {f"{name}.coef": models.coef, f"{name}.intercept": models.intercept, name: models.folds}
    if isinstance(models, AverageFolds):
        arrays: Arrays = {f"{name}.shares": models.shares}
        for place, part in enumerate(models.kinds):
            arrays |= pack_folds(f"{name}.{place}", part)
        return arrays
    assert isinstance(models, KeptFolds)
    arrays = {name: models.folds, f"{name}.by_heart": np.array([models.by_heart])}
    for fold, model in enumerate(models.models):
        arrays |= pack_model(f"{name}.{fold}", model)
    return arrays


def unpack_folds(
    name: str, fields: Fields, n_rows: int, n_columns: int, n_outputs: int, revival: Revival | None = None
) -> FoldModels | None:
    size = n_rows, n_columns, n_outputs
    if fields.has(f"{name}.shares"):
        shares = at_least(0.0, fields.floats(f"{name}.shares", KINDS, n_outputs, largest=1.0))
        kinds = [unpack_folds(f"{name}.{place}", fields, *size, revival) for place in range(KINDS)]
        known = tuple(kind for kind in kinds if kind is not None)
        if len(known) < KINDS:
            raise InvalidField("folds")
        return AverageFolds(known, shares)
    if not fields.has(name):
        return None
    folds = fields.array(name, "I8", n_rows, n_outputs)
    if fields.has(f"{name}.by_heart"):
        return _unpack_kept(name, fields, folds, n_columns, n_outputs, revival)
    intercept = fields.floats(f"{name}.intercept", None, n_outputs)
    coef = fields.array(f"{name}.coef", "F32", n_columns + n_outputs, len(intercept), n_outputs, largest=1e30)
    return LinearFolds(coef, intercept, _within(folds, len(intercept)))


def _unpack_kept(
    name: str, fields: Fields, folds: Folds, n_columns: int, n_outputs: int, revival: Revival | None
) -> KeptFolds:
    n_folds = next((fold for fold in range(MOST_FOLDS + 1) if not has_model(f"{name}.{fold}", fields)), 0)
    size = n_columns, n_outputs, revival
    models = tuple(unpack_model(f"{name}.{fold}", fields, *size) for fold in range(n_folds))
    by_heart = bool(fields.mask(f"{name}.by_heart", 1)[0])
    return KeptFolds(models, _within(folds, n_folds), by_heart)


def _within(folds: Folds, n_folds: int) -> Folds:
    if ((folds < 0) | (folds >= n_folds)).any():
        raise InvalidField("folds")
    return folds

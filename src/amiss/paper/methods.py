"""The methods that are compared, and their scores of one contaminated table.

What methods have in common is computed once. The paper does not say how its inputs are scaled: its
methods get block scaling, and one penalty for inputs and outputs alike. cleanlab, which brings no
model, gets held-out probabilities by models of the inputs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Floats
from amiss.data.table import Table
from amiss.detector import MCODE
from amiss.errors import MissingDependencyError
from amiss.evaluation.baselines import lof_of
from amiss.models.fitting import Evidence
from amiss.paper.table2 import PAPER_METHODS

OURS = "amiss"
BASELINES = ("cleanlab", "cleanlab softmin", "isolation forest")
METHODS = (*PAPER_METHODS, OURS, *BASELINES)

PAPER: dict[str, Any] = {"crossfit": False, "weighting": "error", "scaling": "block", "parent_penalty": 1.0}


class Contaminated:
    """A table with flips, and what several methods ask of it."""

    def __init__(self, X: Table, Y: Floats) -> None:
        self.X, self.Y = X, Y
        self.ours, self.paper = MCODE(), MCODE(score="lrw", **PAPER)
        self.alone = MCODE(parents="none", score="prod", **PAPER)

    @cached_property
    def our_evidence(self) -> Evidence:
        return self.ours.gather(self.X, self.Y)

    @cached_property
    def paper_evidence(self) -> Evidence:
        return self.paper.gather(self.X, self.Y)

    @cached_property
    def evidence_alone(self) -> Evidence:
        """Of models that see the inputs only."""
        return self.alone.gather(self.X, self.Y)

    def by_default(self) -> Floats:
        found: Floats = self.ours.score_rows(self.our_evidence).decision_scores_
        return found

    def by_the_paper(self, score: str) -> Floats:
        found: Floats = self.paper.set_params(score=score).score_rows(self.paper_evidence).decision_scores_
        return found

    def by_inputs_alone(self) -> Floats:
        found: Floats = self.alone.set_params(crossfit=False).score_rows(self.evidence_alone).decision_scores_
        return found

    def held_out_probabilities(self) -> Floats:
        """P(y = 1 | x) by models that see the inputs only and did not see the row."""
        rho = self.alone.set_params(crossfit=True).score_rows(self.evidence_alone).rho_
        return np.where(self.Y == 1, rho, 1 - rho)


def refuse_missing_dependencies(methods: Collection[str]) -> None:
    """Find out before hours of work that a method cannot run."""
    if any(method.startswith("cleanlab") for method in methods) and find_spec("cleanlab") is None:
        raise MissingDependencyError("cleanlab is not here: pip install 'amiss[bench]', or name other --methods")


def scores_by_method(X: Table, Y: Floats, methods: Sequence[str]) -> dict[str, Floats]:
    """Scores of the rows by each of ``methods``; higher is more unusual."""
    table = Contaminated(X, Y)
    return {method: _SCORERS[method](table) for method in methods}


def _lof(table: Contaminated) -> Floats:
    table.by_the_paper("lrw")
    return lof_of(table.paper)


def _cleanlab(table: Contaminated, **aggregation: Any) -> Floats:
    """Label quality of cleanlab, turned round."""
    from cleanlab import multilabel_classification as quality

    labels = [np.flatnonzero(row).tolist() for row in table.Y]
    found = quality.get_label_quality_scores(labels, table.held_out_probabilities(), **aggregation)
    return -np.asarray(found, dtype=float)


def _isolation_forest(table: Contaminated) -> Floats:
    from sklearn.ensemble import IsolationForest

    from amiss.encoding.joint import joint

    space = joint(table.our_evidence.design, table.our_evidence.Y)
    if sparse.issparse(space):  # its trees want short indices
        short = space.indices.astype(np.int32), space.indptr.astype(np.int32)
        space = sparse.csr_array((space.data, *short), shape=space.shape)
    found = IsolationForest(random_state=0, n_jobs=-1).fit(space).score_samples(space)
    return -np.asarray(found)[np.argsort(table.our_evidence.order, kind="stable")]


_SCORERS: dict[str, Callable[[Contaminated], Floats]] = {
    "LOF": _lof,
    "I-PROD": Contaminated.by_inputs_alone,
    "M-PROD": lambda table: table.by_the_paper("prod"),
    "M-RW": lambda table: table.by_the_paper("rw"),
    "M-LRW": lambda table: table.by_the_paper("lrw"),
    OURS: Contaminated.by_default,
    "cleanlab": _cleanlab,
    "cleanlab softmin": lambda table: _cleanlab(table, aggregator_kwargs={"method": "softmin"}),
    "isolation forest": _isolation_forest,
}

"""The methods that are compared, and their scores of one contaminated table.

What methods have in common is computed once. The paper does not say how its inputs are scaled: its
methods get block scaling, and one penalty for inputs and outputs alike. cleanlab, which brings no
model, gets held-out probabilities by models of the inputs alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy import sparse

from amiss.arrays import Floats
from amiss.data.columns import Columns
from amiss.data.table import Table
from amiss.detector import MCODE
from amiss.encoding.joint import joint
from amiss.errors import MissingDependencyError, quoted
from amiss.evaluation.baselines import lof_of_fit
from amiss.evaluation.one_fit import OneFit, Subject
from amiss.paper.table2 import PAPER_METHODS
from amiss.scoring.registry import RULES
from amiss.settings import Settings

OURS = "amiss"
BASELINES = ("cleanlab", "cleanlab softmin", "isolation forest")
METHODS = (*PAPER_METHODS, OURS, *BASELINES)

PAPER: Mapping[str, Any] = MappingProxyType(
    {"parents": "others", "crossfit": False, "weighting": "error", "scaling": "block", "parent_penalty": 1.0}
)
PARAMETERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "I-PROD": {"rule": "prod", **PAPER, "parents": "none"},
        "M-PROD": {"rule": "prod", **PAPER},
        "M-RW": {"rule": "rw", **PAPER},
        "M-LRW": {"rule": "lrw", **PAPER},
    }
)


def method(name: str, **parameters: Any) -> MCODE:
    """A detector with exactly the paper's settings: "I-PROD", "M-PROD", "M-RW" or "M-LRW".

    ``parameters`` are further ones, such as ``n_neighbors`` or ``n_jobs``. (The paper's LOF is
    :func:`amiss.evaluation.baselines.lof`.)

    >>> method("M-LRW").rule, method("I-PROD").parents
    ('lrw', 'none')
    """
    if name not in PARAMETERS:
        raise ValueError(f"there is no method {quoted(name)}; there are {', '.join(PARAMETERS)}")
    return MCODE(**{**PARAMETERS[name], **parameters})


def settings_of(name: str, **parameters: Any) -> Settings:
    """The settings of one of the paper's methods."""
    return Settings.of(**method(name, **parameters).get_params(deep=False))


class Contaminated:
    """A table with flips, and what several methods ask of it."""

    def __init__(self, X: Table, Y: Floats) -> None:
        _, inputs, outputs = Columns.of(X, Y)
        self.table, self.Y = (inputs, outputs), Y

    @cached_property
    def by_our_default(self) -> OneFit:
        return OneFit(Settings.of(), Subject(*self.table))

    @cached_property
    def by_the_paper(self) -> OneFit:
        return OneFit(settings_of("M-LRW"), Subject(*self.table))

    @cached_property
    def by_inputs_alone(self) -> OneFit:
        """Of models that see the inputs only."""
        return OneFit(settings_of("I-PROD"), Subject(*self.table))

    def default_scores(self) -> Floats:
        return self.by_our_default.scored().rows.scores

    def paper_scores(self, rule: str) -> Floats:
        return self.by_the_paper.scored(rule=RULES[rule]).rows.scores

    def held_out_probabilities(self) -> Floats:
        """P(y = 1 | x) by models that see the inputs only and did not see the row."""
        rho = self.by_inputs_alone.scored(out_of_fold_share=1.0).rows.probabilities
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
    fitted = table.by_the_paper
    return lof_of_fit(fitted.result.models, fitted.neighborhood)


def _cleanlab(table: Contaminated, **aggregation: Any) -> Floats:
    """Label quality of cleanlab, turned round."""
    from cleanlab import multilabel_classification as quality

    labels = [np.flatnonzero(row).tolist() for row in table.Y]
    found = quality.get_label_quality_scores(labels, table.held_out_probabilities(), **aggregation)
    return -np.asarray(found, dtype=float)


def _isolation_forest(table: Contaminated) -> Floats:
    from sklearn.ensemble import IsolationForest

    rows = table.by_our_default.result.models.training_rows
    space = joint(rows.design, rows.Y)
    if sparse.issparse(space):  # its trees want short indices
        short = space.indices.astype(np.int32), space.indptr.astype(np.int32)
        space = sparse.csr_array((space.data, *short), shape=space.shape)
    found = IsolationForest(random_state=0, n_jobs=-1).fit(space).score_samples(space)
    return -np.asarray(found)[rows.place]


_SCORERS: dict[str, Callable[[Contaminated], Floats]] = {
    "LOF": _lof,
    "I-PROD": lambda table: table.by_inputs_alone.scored().rows.scores,
    "M-PROD": lambda table: table.paper_scores("prod"),
    "M-RW": lambda table: table.paper_scores("rw"),
    "M-LRW": lambda table: table.paper_scores("lrw"),
    OURS: Contaminated.default_scores,
    "cleanlab": _cleanlab,
    "cleanlab softmin": lambda table: _cleanlab(table, aggregator_kwargs={"method": "softmin"}),
    "isolation forest": _isolation_forest,
}

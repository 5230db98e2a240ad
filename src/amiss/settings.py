"""Settings: what the user asked for, as one value that is checked once, when it is made.

Each stage has its own settings beside its code (``models``, ``scoring``, ``decisions``); here they are put
together from the detector's parameters. Names such as "flip" or "rank" are looked up in their registries and from
then on are objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

import numpy as np

from amiss.data.output_kinds import checked_kinds
from amiss.decisions.settings import DEFAULT_SHARE, DecisionSettings
from amiss.encoding.scalings import SCALINGS
from amiss.encoding.scalings.base import Scaling
from amiss.models.registry import MODELS, PARENTS
from amiss.models.settings import STRENGTHS, ModelSettings
from amiss.scoring.registry import AUTO, RULES, SEARCHES, SPACES, WEIGHTINGS
from amiss.scoring.rules import ScoringRule
from amiss.scoring.settings import ScoringSettings

DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "parents": "untied",
        "order": None,
        "rule": "mixture",
        "weighting": "sqrt",
        "crossfit": 0.6,
        "n_neighbors": 100,
        "neighbor_space": "joint",
        "neighbor_search": "auto",
        "strengths": STRENGTHS,
        "parent_penalty": 4.0,
        "cv": 5,
        "model": "linear",
        "time_budget": 60.0,
        "scaling": "auto",
        "exclude": None,
        "contamination": DEFAULT_SHARE,
        "fdr": None,
        "output_kinds": None,
        "random_state": 0,
        "n_jobs": -1,
        "verbose": False,
    }
)
OF_THE_MACHINE = ("n_jobs", "verbose")  # parameters that change no number


@dataclass(frozen=True)
class Settings:
    """What the user asked for.

    ``parameters`` are the detector's parameters as they were given, ``seed`` what their ``random_state`` gave.

    >>> settings = Settings.of(rule="lrw", n_neighbors=50)
    >>> settings.scoring.rule.name, settings.scoring.n_neighbors, settings.models.parents.name
    ('lrw', 50, 'untied')
    """

    models: ModelSettings
    scoring: ScoringSettings
    decision: DecisionSettings
    output_kinds: tuple[tuple[str, str | tuple[str, ...]], ...]
    seed: int
    n_jobs: int | None
    verbose: bool
    parameters: Mapping[str, Any] = field(compare=False)  # they may hold arrays, and the rest follows from them

    def __repr__(self) -> str:
        given = {name: " ".join(repr(value).split()) for name, value in self.parameters.items()}
        changed = [f"{name}={value}" for name, value in given.items() if value != repr(DEFAULTS[name])]
        return f"Settings({', '.join(changed)})"

    @classmethod
    def of(cls, **parameters: Any) -> Settings:
        """From parameters of :class:`~amiss.MCODE`; one that is not given has its default."""
        unknown = sorted(set(parameters) - set(DEFAULTS))
        if unknown:
            raise ValueError(f"there is no parameter {unknown[0]!r}; there are {', '.join(DEFAULTS)}")
        given = {**DEFAULTS, **parameters}
        scaling = None if given["scaling"] == AUTO else SCALINGS.named(given["scaling"], AUTO)
        parents, model = PARENTS.named(given["parents"]), _model(given["model"])
        rule = None if given["rule"] == AUTO else RULES.named(given["rule"], AUTO)
        weighting = WEIGHTINGS.named(given["weighting"])
        space, search = SPACES.named(given["neighbor_space"]), SEARCHES.named(given["neighbor_search"])
        share = _crossfit_share(given["crossfit"])
        chances = rule is not None and rule.inputs_alone
        decision = DecisionSettings(given["contamination"], given["fdr"], chances)
        if decision.level is not None and not share:
            raise ValueError("fdr and contamination='auto' need models that did not see a row; crossfit is False")
        return cls(
            models=ModelSettings(
                scaling=scaling,
                parents=parents,
                out_of_fold=share > 0,
                inputs_alone=rule is None or rule.inputs_alone,
                model=model,
                **{name: given[name] for name in ("order", "strengths", "parent_penalty", "cv", "time_budget")},
            ),
            scoring=ScoringSettings(
                rule=rule,
                weighting=weighting,
                # A level needs scores by models that did not see a row.
                out_of_fold_share=share if decision.level is None else 1.0,
                n_neighbors=given["n_neighbors"],
                neighbor_space=space,
                neighbor_search=search,
                exclude=given["exclude"],
                penalised=isinstance(given["model"], str),
            ),
            decision=decision,
            output_kinds=tuple(checked_kinds(given["output_kinds"]).items()),
            seed=_seed(given["random_state"]) % 2**63,
            n_jobs=_checked_jobs(given["n_jobs"]),
            verbose=bool(given["verbose"]),
            parameters=MappingProxyType(given),
        )

    def __getstate__(self) -> dict[str, Any]:
        """A read-only view cannot be pickled; what it shows can."""
        return {**self.__dict__, "parameters": dict(self.parameters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, parameters=MappingProxyType(state["parameters"]))

    def with_rule(self, rule: ScoringRule) -> Settings:
        """The same with a rule that was chosen."""
        decision = replace(self.decision, gives_chances=rule.inputs_alone)
        share = 1.0 if decision.level is not None else _crossfit_share(self.parameters["crossfit"])
        return replace(self, scoring=replace(self.scoring, rule=rule, out_of_fold_share=share), decision=decision)

    def with_scaling(self, scaling: Scaling) -> Settings:
        """The same with a scaling that was chosen."""
        return replace(self, models=replace(self.models, scaling=scaling))

    def for_refits(self, excluded: list[int], searched: str) -> Settings:
        """For detectors that score alike and flag nothing: what was chosen by the rows stays chosen.

        ``searched`` is the name of the search that was used.
        """
        decision = DecisionSettings(DEFAULT_SHARE, None)
        scoring = replace(self.scoring, exclude=tuple(excluded) or None, neighbor_search=SEARCHES[searched])
        return replace(self, scoring=scoring, decision=decision, verbose=False)


def refuse_other_arguments(others: Mapping[str, Any]) -> None:
    """Refuse what a fit cannot take, and name what it can; weights of None weigh nothing."""
    unknown = [name for name in others if name != "sample_weight"]
    if unknown:
        raise TypeError(f"MCODE.fit() got an unexpected keyword argument {unknown[0]!r}")
    if others.get("sample_weight") is not None:
        raise ValueError(
            "sample_weight is not supported: the models and the neighbours take all rows alike. Leave out rows "
            "that should not count and score them afterwards (score_batch), or name groups of rows (groups)"
        )


def _model(model: Any) -> Any:
    """A kind of model by its name, or a classifier of the user's."""
    if isinstance(model, str):
        return MODELS.named(model)
    if isinstance(model, type) or not hasattr(model, "predict_proba"):
        names = ", ".join(map(repr, MODELS))
        raise ValueError(
            f"model must be one of {names}, or a classifier with predict_proba (CalibratedClassifierCV gives one "
            f"to a classifier that has none); got {type(model).__name__}"
        )
    return model


def _crossfit_share(crossfit: Any) -> float:
    """The share of the models that did not see a row."""
    if not (isinstance(crossfit, Real) and 0 <= float(crossfit) <= 1):
        raise ValueError(f"crossfit must be True, False or a share between 0 and 1; got {crossfit!r}")
    return float(crossfit)


def _checked_jobs(n_jobs: Any) -> int | None:
    if n_jobs is not None and not (isinstance(n_jobs, Integral) and n_jobs != 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}")
    return None if n_jobs is None else int(n_jobs)


def _seed(random_state: Any) -> int:
    """One number from whatever NumPy and scikit-learn take for a seed."""
    if isinstance(random_state, Integral):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    from sklearn.utils.validation import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))

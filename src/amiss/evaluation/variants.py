"""Which settings find which kind of error in my table? The same errors, found by detectors with other settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from amiss import progress
from amiss.arrays import Floats
from amiss.data.table import output_columns
from amiss.evaluation.choice import FIRST_SEED, MOST_ROWS, RATIO, usual_flips, usual_kinds
from amiss.evaluation.inject import inject
from amiss.evaluation.metrics import average_precision
from amiss.evaluation.one_fit import OneFit, Subject
from amiss.settings import Settings

VARIANTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "default": {},
        "--parents none": {"parents": "none"},
        "--parents others": {"parents": "others"},
        "--scaling rank": {"scaling": "rank"},
        "--scaling block": {"scaling": "block"},
        "--rule flip": {"rule": "flip"},
        "--rule prod": {"rule": "prod"},
    }
)
LEAST_RATIO = 0.05  # average precision wants more wrong rows than the top of a list does


@dataclass(frozen=True, eq=False)
class VariantComparison:
    """Average precision of each variant of the settings for each kind of error.

    Attributes
    ----------
    variants : what was changed, as options of the command line
    kinds : the kinds of error
    average_precision : (n_variants, n_kinds) mean over seeds
    """

    variants: tuple[str, ...]
    kinds: tuple[str, ...]
    average_precision: Floats

    @property
    def best(self) -> str:
        """The variant with the highest mean over all kinds; the first of those that tie."""
        return self.variants[int(np.argmax(self.average_precision.mean(axis=1)))]


def compare_variants(
    subject: Subject,
    settings: Settings,
    *,
    kinds: Sequence[str] | None = None,
    variants: Mapping[str, Mapping[str, Any]] = VARIANTS,
    n_seeds: int = 1,
    ratio: float = RATIO,
    most_rows: int = MOST_ROWS,
) -> VariantComparison:
    """Make errors of each kind in the table, and see how well each variant of the ``settings`` finds them.

    By default the ``kinds`` are those of :func:`amiss.evaluation.measure`, flips among them where it makes some.
    """
    if kinds is None:
        columns = output_columns(subject.outputs)
        kinds = (*(["flip"] if usual_flips(columns) else []), *usual_kinds(columns))
    found = np.zeros((len(variants), len(kinds), n_seeds))
    all_settings = [Settings.of(**{**settings.parameters, **changes}) for changes in variants.values()]
    with progress.stages(settings.verbose)("trying settings", found.size) as advance:
        for seed in range(n_seeds):
            rng = np.random.default_rng([FIRST_SEED, seed])
            some = np.sort(rng.choice(len(subject), min(len(subject), most_rows), replace=False))
            drawn = subject.take(some)
            for place, kind in enumerate(kinds):
                made, wrong = inject(drawn.outputs, max(ratio, LEAST_RATIO), 0.05, rng, kind=kind)
                for variant, each in enumerate(all_settings):
                    scored = OneFit(each, drawn.with_outputs(made.values)).scored()
                    found[variant, place, seed] = average_precision(scored.rows.scores, wrong)
                    advance()
    return VariantComparison(tuple(variants), tuple(kinds), found.mean(axis=2))

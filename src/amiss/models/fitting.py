"""What a fit learns from a table before any row is scored: the encoding, the models, who is near whom."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from amiss import progress
from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.data.fingerprints import Fingerprints, contents
from amiss.data.table import Table
from amiss.encoding.encoder import Encoder, fit_encoder
from amiss.encoding.scalings import scaling_named
from amiss.models.classifiers import fit_classifiers
from amiss.models.conditional import Fit
from amiss.models.folds import Folds, averaged_over_copies, stratified_folds
from amiss.models.logistic.fit import fit_logistic
from amiss.models.missing import Expectations, base_rates
from amiss.models.parents import visible_outputs
from amiss.scoring.approximate_neighbors import row_search
from amiss.scoring.neighbors import NearestRows, Neighbors
from amiss.scoring.scorer import found, space
from amiss.settings import permutation, seed_of

if TYPE_CHECKING:
    from amiss.detector import MCODE


@dataclass
class Evidence:
    """What a fit knows of its rows before they are scored, in the order of their content.

    The same evidence serves every ``score``, ``weighting``, ``crossfit``, ``exclude``, ``contamination`` and
    ``fdr``.
    """

    order: Rows
    content: Fingerprints
    seed: int
    encoding: Encoder
    design: Matrix
    Y: Floats
    expectations: Expectations
    fit: Fit
    token: object
    found: tuple[NearestRows, Neighbors] | None = None
    found_by: tuple[object, ...] = ()  # the settings of that search


def gather(detector: MCODE, inputs: Table, outputs: Table, *, part: bool = False) -> Evidence:
    """Fit the models a detector asks for, to a table or to a ``part`` of one that was looked at whole."""
    seed = seed_of(detector.random_state) % 2**63
    # In the order of their content, so that nothing depends on the order rows came in.
    content = contents(inputs.values, outputs.values, seed)
    order = np.argsort(content, kind="stable")
    inputs, outputs, content = inputs.take(order), outputs.take(order), content[order]

    encoding = fit_encoder(inputs, scaling_named(detector.scaling), part=part)
    design, Y = encoding.transform(inputs), np.asarray(outputs.values)
    fit, expectations = _fit_models(detector, design, Y, outputs.names, _folds(detector, Y))
    if fit.out_of_fold is not None:
        fit = replace(fit, out_of_fold=averaged_over_copies(fit.out_of_fold, content))
    return Evidence(order, content, seed, encoding, design, Y, expectations, fit, object())


def neighborhood(detector: MCODE, evidence: Evidence) -> tuple[NearestRows, Neighbors]:
    """Who is near whom among the rows of the fit; found once."""
    settings = detector.n_neighbors, detector.neighbor_space, detector.neighbor_search
    if evidence.found is None or evidence.found_by != settings:
        nearest = nearest_rows(
            detector, evidence.design, evidence.expectations.filled(evidence.design, evidence.Y)
        )
        near = found(nearest, detector.n_neighbors, None, detector.n_jobs, detector.verbose)
        evidence.found, evidence.found_by = (nearest, near), settings
    return evidence.found


def nearest_rows(detector: MCODE, design: Matrix, filled: Floats) -> NearestRows:
    """The rows of the fit, to be searched as the detector asks."""
    rows = space(design, filled, detector.neighbor_space)
    return row_search(rows, detector.neighbor_search, detector.n_neighbors, detector.n_jobs)


def _folds(detector: MCODE, Y: Floats) -> Folds | None:
    choosing = detector.base_estimator is None and len(set(detector.strengths)) > 1
    if not detector.crossfit and not choosing:
        return None
    return stratified_folds(Y, min(detector.cv, len(Y)))


def _fit_models(
    detector: MCODE, design: Matrix, Y: Floats, names: tuple[str, ...], folds: Folds | None
) -> tuple[Fit, Expectations]:
    """Fit; where outputs are missing, first fit models of them on the inputs alone to fill them in."""
    order = None if detector.order is None else permutation(detector.order, names)
    visible = visible_outputs(detector.parents, Y.shape[1], order)
    observed = ~np.isnan(Y)
    expectations = Expectations(base_rates(Y))
    if not observed.all() and visible.any():
        filled = expectations.filled(design, Y)
        first = _fit_once(detector, design, filled, observed, np.zeros_like(visible), names, folds)
        expectations = Expectations(base_rates(Y), first.model)
    filled = expectations.filled(design, Y)
    return _fit_once(detector, design, filled, observed, visible, names, folds), expectations


def _fit_once(
    detector: MCODE,
    design: Matrix,
    filled: Floats,
    observed: Mask,
    visible: Mask,
    names: tuple[str, ...],
    folds: Folds | None,
) -> Fit:
    data = (design, filled, observed, visible)
    n_outputs = filled.shape[1]
    stages = progress.stages(detector.verbose)
    if detector.base_estimator is not None:
        with stages("fitting outputs", n_outputs) as advance:
            return fit_classifiers(
                detector.base_estimator, *data, folds, names=names, n_jobs=detector.n_jobs, progress=advance
            )
    strengths = sorted(set(detector.strengths))
    with stages("fitting outputs", n_outputs * len(strengths)) as advance:
        return fit_logistic(
            *data,
            strengths,
            folds,
            parent_penalty=detector.parent_penalty,
            n_jobs=detector.n_jobs,
            progress=advance,
        )

"""Fits the model of one target: both learners, and the share of each that errs least out of bag."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from amiss.arrays import Floats, Mask, Matrix, Rows
from amiss.models.folds import Folds
from amiss.models.numbers.columns import chosen_columns, dense_columns
from amiss.models.numbers.forest import N_TREES, grow
from amiss.models.numbers.linear import fit_linear
from amiss.models.numbers.model import NumberModel, mixed
from amiss.threads import one_blas_thread

LEAST_OBSERVED = 10  # rows; a target with fewer has no learner
FAR = 50.0
N_FOLDS = 5  # of the linear model
SHARES = (0.0, 0.5, 1.0)  # of the linear model and its forest


def fit_number(
    Z: Matrix,
    y: Floats,
    observed: Mask,
    units: Rows,
    seed: int = 0,
    n_jobs: int | None = None,
    whole: bool = False,
) -> NumberModel:
    """The model of a target given the design, fitted to the rows where the target is observed.

    Rows with the same number in ``units`` stay together in bags and folds. ``whole`` says that the target is a
    count. The result does not depend on ``n_jobs``.
    """
    rows = np.flatnonzero(observed)
    model = without_learners(y[rows], len(y), whole)
    if _tells_nothing(y[rows], units[rows], Z.shape[1]):
        return model
    columns = chosen_columns(Z, y[rows], rows)
    return _with_learners(
        replace(model, columns=columns), dense_columns(Z, columns, rows), y, rows, units, seed, n_jobs
    )


def without_learners(target: Floats, n_rows: int, whole: bool) -> NumberModel:
    """Answers the median of the observed values; 0 if there are none."""
    median = float(np.median(target)) if len(target) else 0.0
    deviation = float(np.abs(target - median).mean()) if len(target) else 0.0
    return NumberModel(
        columns=np.empty(0, dtype=np.intp),
        share=0.0,
        plain=None,
        line=None,
        residual=None,
        in_bag=np.zeros((0, n_rows), dtype=bool),
        median=median,
        usual_spread=deviation,
        least_spread=_least_spread(median, deviation, whole),
        whole=whole,
    )


def dealt_folds(units: Rows, seed: int) -> Folds:
    """The fold of each row, ``(n_rows,)``; units are dealt in random order and stay together."""
    _, unit = np.unique(units, return_inverse=True)
    n_units = int(unit.max()) + 1
    turn = np.random.default_rng(seed).permutation(n_units)
    return (turn[unit] % min(N_FOLDS, n_units)).astype(np.int8)


def _with_learners(
    model: NumberModel, X: Floats, y: Floats, rows: Rows, units: Rows, seed: int, n_jobs: int | None
) -> NumberModel:
    """The model with those learners that have a share; ``X`` are the columns of the observed ``rows``."""
    target = y[rows]
    folds = dealt_folds(units[rows], seed)
    with one_blas_thread():  # its own threads would let the bits depend on their number
        line, held_out = fit_linear(X, target, folds)
    plain, bag = grow(X, target, units[rows], seed, n_jobs)
    residual, _ = grow(X, target - held_out, units[rows], seed, n_jobs)  # the same bags
    of_plain = plain.distribution(X, bag, n_jobs)
    centre, spread = residual.distribution(X, bag, n_jobs)
    every = [mixed(of_plain, (centre + held_out, spread), share, model.whole) for share in SHARES]
    best = int(np.argmin([np.abs(target - found).mean() for found, _ in every]))
    is_linear = SHARES[best] > 0
    in_bag, all_folds = np.zeros((N_TREES, len(y)), dtype=bool), np.full(len(y), -1, dtype=np.int8)
    in_bag[:, rows], all_folds[rows] = bag, folds
    return replace(
        model,
        share=SHARES[best],
        plain=plain if SHARES[best] < 1 else None,
        line=replace(line, folds=all_folds) if is_linear else None,
        residual=residual if is_linear else None,
        in_bag=in_bag,
        usual_spread=usual(every[best][1]),
    )


def usual(spread: Floats) -> float:
    """The mean spread, in which one absurd value does not count for more than ``FAR`` usual ones."""
    return float(np.minimum(spread, FAR * np.median(spread)).mean() or spread.mean())


def _tells_nothing(target: Floats, units: Rows, n_columns: int) -> bool:
    """Whether there is nothing to learn: too few rows, one unit, one value, or no input."""
    if len(target) < LEAST_OBSERVED or not n_columns:
        return True
    return bool((target == target[0]).all() or (units == units[0]).all())


def _least_spread(median: float, deviation: float, whole: bool) -> float:
    least = 1e-3 * deviation or 1e-6 * max(1.0, abs(median))
    return max(least, 0.5) if whole else least

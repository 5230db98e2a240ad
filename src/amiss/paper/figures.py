"""The paper's figures, from the cells and on real data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from amiss.arrays import Floats, Matrix
from amiss.evaluation import inject
from amiss.output.plots import rho_space, tpar_curves
from amiss.paper.cells import RATES, RATIO, curves
from amiss.paper.comparison import Cell
from amiss.paper.methods import OURS, method
from amiss.paper.table2 import load

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def curves_of(dataset: str, cells: Sequence[Cell]) -> Figure:
    """TPAR at alert rates up to 0.04, a panel for each percentage of flips."""
    panels = {
        f"{percent:g} % of the outputs flipped": {method: curves(found) for method, found in results.items()}
        for name, percent, results in cells
        if name == dataset
    }
    return tpar_curves(panels, RATES, dataset, RATIO, stressed=OURS)


def projection(data: Path, dataset: str) -> Figure:
    """Rows with one flip among the two most balanced outputs, in input space and in rho space."""
    table = load(data, dataset)
    Y = np.array(table.Y.values, dtype=float)
    pair = np.sort(np.argsort(np.abs(Y.mean(axis=0) - 0.5), kind="stable")[:2])
    flipped_pair, flipped = inject(Y[:, pair], RATIO, 0.5, random_state=0)
    Y[:, pair] = flipped_pair
    fitted = method("M-PROD").fit(table.X, Y).fitted_
    rows = fitted.models.training_rows
    places, rho = _principal_places(rows.design)[rows.place], fitted.training_rows.probabilities[:, pair]
    names = [table.output_names[output] for output in pair]
    return rho_space(
        places,
        Y[:, pair],
        rho,
        flipped,
        names,
        f"{dataset}: one of two outputs flipped in {RATIO:.0%} of the rows",
    )


def _principal_places(design: Matrix) -> Floats:
    """Where rows lie along the first two principal axes."""
    from sklearn.decomposition import PCA, TruncatedSVD

    if sparse.issparse(design):
        return np.asarray(TruncatedSVD(2, random_state=0).fit_transform(design))
    return np.asarray(PCA(2, random_state=0).fit_transform(design))

"""What a person would use instead, for comparison: unconditional outlier scores on joint columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from amiss.arrays import Floats, Neighbors
from amiss.data.validation import as_inputs, as_outputs
from amiss.encoding.encoder import fit_encoder
from amiss.encoding.joint import joint
from amiss.encoding.scalings import SCALINGS
from amiss.models.fitting import FittedModels
from amiss.models.missing import Expectations, base_rates
from amiss.scoring.neighborhood import Neighborhood
from amiss.scoring.neighbors import NearestRows


def lof(X: Any, Y: Any, n_neighbors: int = 100, scaling: str = "rank") -> Floats:
    """Local outlier factor of each row in the space of inputs and outputs; higher is more unusual.

    >>> rng = np.random.default_rng(0)
    >>> X, Y = rng.normal(size=(200, 2)), np.zeros((200, 1))
    >>> X[3] = 50
    >>> int(np.argmax(lof(X, Y)))
    3
    """
    inputs, outputs = as_inputs(X), np.asarray(as_outputs(Y).values)
    design = fit_encoder(inputs, SCALINGS.named(scaling)).transform(inputs)
    nearest = NearestRows(joint(design, Expectations(base_rates(outputs)).filled(design, outputs)))
    return local_outlier_factor(nearest, nearest.find(n_neighbors, n_jobs=-1))


def lof_of_fit(models: FittedModels, neighborhood: Neighborhood | None, n_jobs: int | None = -1) -> Floats:
    """Local outlier factor of each training row, from neighbours that a fit has found already.

    They are those of :func:`lof` if no output is missing, the scaling is the same and the neighbours are
    near in inputs and outputs.
    """
    if neighborhood is None:
        raise ValueError("LOF needs neighbours; n_neighbors is 0")
    near = neighborhood.of_rows(np.arange(len(models.training_rows.Y)), n_jobs)
    factor = local_outlier_factor(neighborhood.nearest, near, n_jobs)
    return np.asarray(factor[models.training_rows.place])


def local_outlier_factor(nearest: NearestRows, neighbors: Neighbors, n_jobs: int | None = -1) -> Floats:
    """How much less dense it is around a row than around its neighbours (Breunig et al., 2000)."""
    if neighbors.shape[1] == 0:
        return np.ones(len(neighbors))
    distances = nearest.distances(neighbors, n_jobs=n_jobs)
    reach = np.maximum(distances, distances[:, -1][neighbors])
    density = 1 / (reach.mean(axis=1) + 1e-10)  # scikit-learn's guard for copies
    return np.asarray(density[neighbors].mean(axis=1) / density)

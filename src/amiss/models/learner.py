"""Learners: each fits one kind of model, one model per output.

A new kind of model is a :class:`~amiss.models.conditional.ConditionalModel`, a learner that fits it, and a line in
:attr:`amiss.models.settings.ModelSettings.learner`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from amiss.arrays import Floats, Mask, Matrix
from amiss.models.conditional import Fit
from amiss.models.folds import Folds
from amiss.progress import Progress


class Learner(Protocol):
    """Fits models of all outputs."""

    @property
    def needs_folds(self) -> bool:
        """Whether it chooses something by folds; out-of-fold log-odds are another reason to give it some."""

    @property
    def steps_per_output(self) -> int:
        """How many steps of progress the model of one output takes."""

    def fit(
        self,
        design: Matrix,
        filled: Floats,
        observed: Mask,
        visible: Mask,
        folds: Folds | None,
        /,
        *,
        names: Sequence[str],
        n_jobs: int | None,
        progress: Progress,
        alone: Mask | None = None,
    ) -> Fit:
        """Models of the outputs given the inputs and the outputs that each may see.

        ``filled`` holds 0 and 1, and expected values where ``observed`` is False; both are
        ``(n_rows, n_outputs)``. ``visible[j, i]`` says whether the model of output i may see output j. With
        ``folds`` the fit has out-of-fold log-odds. ``names`` are for messages. With ``alone`` models of the inputs
        alone are fitted too. What folds chose is not chosen again for these, but for the outputs in ``alone``.
        """

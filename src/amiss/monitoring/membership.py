"""A filter that recognises a batch that was in the fit, of a model that was saved without its rows.

Every row of the fit passes it, and one in ten rows that never were there: too coarse to tell who was in the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from amiss.arrays import Mask
from amiss.data.fingerprints import Fingerprints

BITS_PER_ROW = 10  # nearly one in so many rows that were not in the fit pass
TOO_OFTEN = 0.001  # so rarely do as many rows of a batch pass the filter that were not in the fit


@dataclass(frozen=True)
class MembershipFilter:
    """One bit per place, set where a row of the fit falls."""

    bits: Mask

    @classmethod
    def of(cls, fingerprints: Fingerprints) -> MembershipFilter:
        bits = np.zeros(BITS_PER_ROW * len(fingerprints), dtype=bool)
        bits[fingerprints % np.uint64(len(bits))] = True
        return cls(bits)

    def estimated_members(self, fingerprints: Fingerprints) -> int:
        """How many rows seem to have been in the fit, beyond those that pass the filter by chance."""
        chance, n_rows = float(self.bits.mean()), len(fingerprints)
        passed = int(self.bits[fingerprints % np.uint64(len(self.bits))].sum())
        if binom.sf(passed - 1, n_rows, chance) > TOO_OFTEN:
            return 0
        return round((passed - chance * n_rows) / (1 - chance))

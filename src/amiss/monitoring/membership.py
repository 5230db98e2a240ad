"""A filter that recognises a batch that was in the fit, of a model that was saved without its rows.

Every row of the fit passes it, and so does nearly one in ten other rows: it cannot tell who was in the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtrc

from amiss.arrays import Mask
from amiss.data.fingerprints import Fingerprints

BITS_PER_ROW = 10  # then nearly one in ten rows that were not in the fit passes by chance
TOO_OFTEN = 0.001  # below this probability, the number of rows that pass is not put down to chance


@dataclass(frozen=True, eq=False)
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
        if not passed or bdtrc(passed - 1, n_rows, chance) > TOO_OFTEN:
            return 0
        return round((passed - chance * n_rows) / (1 - chance))

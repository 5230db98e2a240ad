"""The registry of scalings: every name a user can write for ``scaling``, and the class behind it.

To add a scaling, write a subclass of :class:`amiss.encoding.scalings.base.Scaling` in a file of its own here, and
add its line to ``SCALINGS``.

>>> tuple(SCALINGS)
('rank', 'block', 'none', 'standard', 'maxabs', 'log-unit')
>>> SCALINGS.named("maxabs").description
'each column divided by its largest magnitude'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amiss.registry import Registry

if TYPE_CHECKING:
    from amiss.encoding.scalings.base import Scaling


SCALINGS: Registry[Scaling] = Registry(
    "scaling",
    "amiss.encoding.scalings",
    {
        "rank": "rank.Rank",
        "block": "block.Block",
        "none": "unscaled.Unscaled",
        "standard": "standard.Standard",
        "maxabs": "maxabs.MaxAbs",
        "log-unit": "log_unit.LogUnit",
    },
)

"""The registry of scalings: every name a user can write for ``scaling``, and the class behind it.

``tuple(SCALINGS)`` lists the names without importing NumPy, so that ``amiss --help`` is quick; a class is
imported when it is first looked up. To add a scaling, write a subclass of
:class:`amiss.encoding.scalings.base.Scaling` in a file of its own here, and add its line to ``CLASSES``.

>>> tuple(SCALINGS)
('rank', 'block', 'none', 'standard', 'maxabs', 'log-unit')
>>> scaling_named("maxabs").description
'Each column is divided by its largest magnitude.'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amiss.encoding.scalings.base import Scaling

CLASSES = {
    "rank": "rank.Rank",
    "block": "block.Block",
    "none": "unscaled.Unscaled",
    "standard": "standard.Standard",
    "maxabs": "maxabs.MaxAbs",
    "log-unit": "log_unit.LogUnit",
}


class _Registry(Mapping[str, "Scaling"]):
    """Scalings by name; each is imported when it is first looked up."""

    def __getitem__(self, name: str) -> Scaling:
        return _imported(CLASSES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(CLASSES)

    def __len__(self) -> int:
        return len(CLASSES)


@cache
def _imported(home: str) -> Scaling:
    module, name = home.split(".")
    scaling: Scaling = getattr(import_module(f"{__name__}.{module}"), name)()
    return scaling


SCALINGS: Mapping[str, Scaling] = _Registry()


def scaling_named(name: Any) -> Scaling:
    """The scaling called ``name``; a ``ValueError`` with the choices if there is none."""
    if not isinstance(name, str) or name not in SCALINGS:
        raise ValueError(f"scaling must be one of {', '.join(map(repr, SCALINGS))}; got {name!r}")
    return SCALINGS[name]

"""Durations, such as 1:30, 01:30:00, 2 h 5 min and PT2H: seconds, as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from amiss.readers.columns.contradiction import Contradiction

_DAYS = r"(?:(?P<d>\d+) days?,? )?"
_AMOUNT = r"\d+(?:[.,]\d+)?"
FORMATS = {
    "h:m:s": re.compile(rf"(?P<sign>-?){_DAYS}(?P<h>\d+):(?P<m>[0-5]?\d):(?P<s>[0-5]\d(?:[.,]\d+)?)"),
    "h:m": re.compile(rf"(?P<sign>-?){_DAYS}(?P<h>\d+):(?P<m>[0-5]\d)"),
    "m:s": re.compile(r"(?P<sign>-?)(?:(?P<h>\d+):)?(?P<m>\d+):(?P<s>[0-5]\d(?:[.,]\d+)?)"),
    "units": re.compile(
        rf"(?P<sign>-?)(?=\d)(?:(?P<d>{_AMOUNT})\s*d(?:ays?)?,?\s*)?"
        rf"(?:(?P<h>{_AMOUNT})\s*h(?:rs?|ours?)?,?\s*)?"
        rf"(?:(?P<m>{_AMOUNT})\s*m(?:ins?|inutes?)?,?\s*)?(?:(?P<s>{_AMOUNT})\s*s(?:ecs?|econds?)?)?",
        re.IGNORECASE,
    ),
    "h m": re.compile(r"(?P<sign>-?)(?P<h>\d+)\s*h\s*(?P<m>[0-5]?\d)", re.IGNORECASE),
    "ISO": re.compile(
        rf"(?P<sign>-?)P(?=[\dT])(?:(?P<d>{_AMOUNT})D)?(?:T(?=\d)(?:(?P<h>{_AMOUNT})H)?(?:(?P<m>{_AMOUNT})M)?"
        rf"(?:(?P<s>{_AMOUNT})S)?)?"
    ),
}
FIRST = 50  # texts that are looked at before all others
SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
TOLD = "h:m:s", "h:m", "units", "h m", "ISO"  # m:s looks like h:m, so it has to be said


@dataclass(frozen=True)
class DurationFormat:
    """How the durations of a column are written."""

    format: str = "h:m:s"

    def read(self, texts: Sequence[str]) -> list[float | None]:
        """Seconds; None for a text that is no such duration.

        >>> DurationFormat("units").read(["2 h 5 min", "1.5 h", "90"]), DurationFormat("m:s").read(["1:30"])
        ([7500.0, 5400.0, None], [90.0])
        """
        return [_seconds(FORMATS[self.format].fullmatch(text)) for text in texts]

    @classmethod
    def told(cls, texts: Sequence[str]) -> DurationFormat | None:
        """How these texts are written as durations; None if they are none.

        >>> DurationFormat.told(["01:30:00", "12:00:01"]), DurationFormat.told(["PT2H", "P1DT30M"])
        (DurationFormat(format='h:m:s'), DurationFormat(format='ISO'))
        """
        for name in TOLD:
            if None not in cls(name).read(texts[:FIRST]) and None not in cls(name).read(texts):
                return cls(name)
        if None not in cls("m:s").read(texts[:FIRST]) and None not in cls("m:s").read(texts):
            raise Contradiction(
                "hours or minutes first",
                "some durations have two numbers and some three; say that the last are seconds "
                '(kind = "duration" and format = "m:s" in columns.toml), or write all in one way',
            )
        return None


def _seconds(found: re.Match[str] | None) -> float | None:
    if found is None:
        return None
    parts = found.groupdict()
    total = sum(float((parts.get(unit) or "0").replace(",", ".")) * size for unit, size in SECONDS.items())
    return -total if parts["sign"] else total

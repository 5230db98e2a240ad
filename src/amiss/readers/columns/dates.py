"""Dates, with or without a time: days since 1970, as numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from amiss.readers.columns.contradiction import Contradiction

EPOCH = date(1970, 1, 1).toordinal()
_WHOLE = "january february march april may june july august september october november december"
WHOLE_MONTHS = tuple(_WHOLE.split())
MONTHS = {name[:3]: number for number, name in enumerate(WHOLE_MONTHS, start=1)}
MONTH_NAMES = tuple(f"{i + 1:02d} {name.title()}" for i, name in enumerate(MONTHS))
WEEKDAY_NAMES = ("1 Mon", "2 Tue", "3 Wed", "4 Thu", "5 Fri", "6 Sat", "7 Sun")
_YEAR, _DAY, _MONTH = r"(?P<Y>\d{4}|\d{2})", r"(?P<D>\d{1,2})", r"(?P<M>\d{1,2})"
_LONG_YEAR, _NAME = r"(?P<Y>\d{4})", r"(?P<M>[A-Za-z]{3,9})\.?"
_TIME = (
    r"(?:(?:T|\s*,?\s+|:)(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2}(?:[.,]\d{1,9})?))?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|[+-]\d{2}:?(?:\d{2})?)?)?"
)
_FORMATS = {
    "Y-M-D": rf"{_LONG_YEAR}-{_MONTH}-{_DAY}",
    "Y/M/D": rf"{_LONG_YEAR}/{_MONTH}/{_DAY}",
    "D.M.Y": rf"{_DAY}\.\s?{_MONTH}\.\s?{_YEAR}",
    "D/M/Y": rf"{_DAY}/{_MONTH}/{_YEAR}",
    "M/D/Y": rf"{_MONTH}/{_DAY}/{_YEAR}",
    "D-M-Y": rf"{_DAY}-{_MONTH}-{_LONG_YEAR}",
    "M-D-Y": rf"{_MONTH}-{_DAY}-{_LONG_YEAR}",
    "D Mon Y": rf"{_DAY}[ -]?{_NAME}[ -]?{_LONG_YEAR}",
    "Mon D Y": rf"{_NAME} {_DAY},? {_LONG_YEAR}",
}
FORMATS = {name: re.compile(pattern + _TIME) for name, pattern in _FORMATS.items()}
TURNED = {"D/M/Y": "M/D/Y", "D-M-Y": "M-D-Y"}
DAYS_IN_WEEK, DAYS_IN_YEAR = 7, 366


@dataclass(frozen=True)
class DateFormat:
    """How the dates of a column are written."""

    format: str = "Y-M-D"

    def read(self, texts: Sequence[str]) -> list[float | None]:
        """Days since 1970, with the time of day as a fraction; None for a text that is no such date.

        >>> DateFormat("D.M.Y").read(["2.1.1970", "1.1.1970 18:00", "31.2.2024"])
        [1.0, 0.75, None]
        """
        pattern = FORMATS[self.format]
        return [_days(pattern.fullmatch(text)) for text in texts]

    @classmethod
    def told(cls, texts: Sequence[str]) -> DateFormat | None:
        """How these texts are written as dates; None if they are none.

        >>> DateFormat.told(["2/1/2024", "13/1/2024"]), DateFormat.told(["2024-02-30"])
        (DateFormat(format='D/M/Y'), None)
        """
        looks = [name for name, pattern in FORMATS.items() if all(map(pattern.fullmatch, texts))]
        fitting = [name for name in looks if None not in cls(name).read(texts)]
        turned = [name for name in TURNED if name in looks]
        if turned and set(fitting) >= {turned[0], TURNED[turned[0]]}:
            if cls(turned[0]).read(texts) == cls(TURNED[turned[0]]).read(texts):
                return cls(turned[0])
            raise Contradiction(
                "day or month first",
                "the first number of these dates may be the day or the month; say which "
                f'(kind = "date" and format = "{turned[0]}" or "{TURNED[turned[0]]}" in columns.toml)',
            )
        if not fitting:
            if turned and all(any(cls(name).read([text]) != [None] for name in looks) for text in texts):
                raise Contradiction(
                    "day and month first",
                    "in some dates the day stands first, and in some the month; write all dates in one way",
                )
            return None
        zones = {_zone(FORMATS[fitting[0]], text) for text in texts}
        if len(zones) > 1:
            raise Contradiction(
                "times with and without a zone", "some times have a zone and some have none; write all in one way"
            )
        return cls(fitting[0])


def _zone(pattern: re.Pattern[str], text: str) -> bool:
    found = pattern.fullmatch(text)
    return found is not None and found["zone"] is not None


def _days(found: re.Match[str] | None) -> float | None:
    if found is None:
        return None
    parts = found.groupdict()
    month = int(parts["M"]) if parts["M"].isdecimal() else _named_month(parts["M"])
    try:
        day = date(_full_year(parts["Y"]), month, int(parts["D"])).toordinal() - EPOCH
    except ValueError:
        return None
    return float(day) if parts["h"] is None else _with_time(day, parts)


def _named_month(name: str) -> int:
    """The month of its English name, short or whole; 0, which is none, of any other name."""
    number = MONTHS.get(name.lower()[:3], 0)
    return (
        number if number and (WHOLE_MONTHS[number - 1].startswith(name.lower()) or name.lower() == "sept") else 0
    )


def _full_year(text: str) -> int:
    """A year of two digits is the nearest to now, as POSIX has it: 69 to 99 are of the last century."""
    year = int(text)
    return year if len(text) > 2 else year + (1900 if year >= 69 else 2000)


def _with_time(day: int, parts: dict[str, str | None]) -> float | None:
    hours, minutes = int(parts["h"] or 0), int(parts["m"] or 0)
    seconds = float((parts["s"] or "0").replace(",", "."))
    if parts["half"]:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (parts["half"].lower()[0] == "p")
    if minutes > 59 or seconds >= 61 or hours * 60 + minutes > 24 * 60:
        return None
    zone = parts["zone"] or ""
    if zone not in ("", "Z", "UTC"):
        away = int(zone[1:3]) * 60 + int(zone[3:].lstrip(":") or 0)
        minutes -= away if zone[0] == "+" else -away
    return day + (hours * 3600 + minutes * 60 + seconds) / 86400


def spans(days: Sequence[float]) -> tuple[str, ...]:
    """The parts of a date that can repeat in a column: the month over more than a year, the weekday over a week.

    >>> spans([0.0, 3.0]), spans([0.0, 30.0]), spans([0.0, 800.0])
    ((), ('weekday',), ('month', 'weekday'))
    """
    apart = max(days) - min(days) if days else 0.0
    return ("month",) * (apart > DAYS_IN_YEAR) + ("weekday",) * (apart > DAYS_IN_WEEK)


def part_of(day: float, part: str) -> str:
    """
    >>> part_of(0.75, "month"), part_of(0.75, "weekday")
    ('01 Jan', '4 Thu')
    """
    found = date.fromordinal(int(day // 1) + EPOCH)
    return MONTH_NAMES[found.month - 1] if part == "month" else WEEKDAY_NAMES[found.weekday()]

"""Numbers as people write them: with a decimal comma, with marks between thousands, with a unit or a currency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from amiss.readers.columns.contradiction import Contradiction

SPACES = " \u00a0\u202f\u2009"  # no-break and thin spaces are what spreadsheets write between thousands
APOSTROPHES = "'’"
MINUS = "−-"  # the hyphen stands last, as character classes want it
CURRENCIES = (
    "€",
    "$",
    "£",
    "¥",
    "₹",
    "₽",
    "₺",
    "zł",
    "Kč",
    "kr",
    "Fr.",
    "CHF",
    "EUR",
    "USD",
    "GBP",
    "JPY",
    "CAD",
    "AUD",
)
_UNITS = """
% ‰ kg g mg µg μg ug ng t lb lbs oz st km m cm mm µm μm nm mi ft in yd l L dl dL ml mL µl μl cl s sec ms min h
hr hrs d days day years year y yr yrs months month weeks week °C °F °C. K C F bpm /min mmHg kPa hPa Pa bar psi W kW
MW V mV A mA Hz kHz MHz GHz J kJ cal kcal kWh Wh N mol mmol µmol mmol/l mmol/L mg/dl mg/dL g/l g/L g/dl g/dL µg/l
ng/ml U/l U/L IU/l kg/m2 kg/m² m2 m² km2 km² ha m3 m³ km/h mph m/s B kB KB MB GB TB px pt ppm
"""
KNOWN_UNITS = {*_UNITS.split(), *CURRENCIES}
_SAME_IN_CAPITALS = "kg lb lbs cm mm km mmhg bpm kcal eur usd gbp chf min hrs ml dl"
SAME_IN_CAPITALS = frozenset(_SAME_IN_CAPITALS.split())
ONE_DIGIT = str.maketrans("023456789", "111111111")
FIRST = 50  # texts that are looked at before all others
FEWEST_VALUES = 3  # different numbers with a unit, below which they are categories
_CURRENCY = "|".join(map(re.escape, sorted(CURRENCIES, key=len, reverse=True)))
_PARTS = re.compile(
    rf"([+{MINUS}]?)\s*(?:({_CURRENCY})\s*([+{MINUS}]?)\s*)?"
    rf"(\d[\d.,{APOSTROPHES}{SPACES}]*|[.,]\d+)([eE][+-]?\d+)?"
    rf"([{SPACES}]*)((?:[^\W\d_]|[%‰°€$£¥₹₽₺/])[\w/²³^·*%°.-]{{0,15}}(?:\s?[²³])?)?",
)
MARKS = (".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'")
THREE_DIGITS = re.compile(r"[+\-−]?\d{1,3}")
ONE_GROUP = re.compile(r"[+\-−]?[1-9]\d{0,2}\.\d{3}")


@dataclass(frozen=True)
class _Parts:
    """A text taken apart: what is written before and after the number, and the number itself."""

    sign: str
    digits: str
    exponent: str
    unit: str
    spaced: bool


@cache
def _grammar(decimal: str, thousands: str) -> re.Pattern[str]:
    point = re.escape(decimal)
    between = {"": "", " ": f"[{SPACES}]", "'": f"[{APOSTROPHES}]"}.get(thousands, re.escape(thousands))
    whole = rf"(?:\d{{1,3}}(?:{between}\d{{3}})+|\d+)" if thousands else r"\d+"
    return re.compile(rf"{whole}(?:{point}\d*)?|{point}\d+")


def _apart(text: str) -> _Parts | None:
    """
    >>> _apart("-1.234,5 kg")
    _Parts(sign='-', digits='1.234,5', exponent='', unit='kg', spaced=True)
    """
    found = _PARTS.fullmatch(text)
    if found is None:
        return None
    sign, before, inner, digits, exponent, space, after = (part or "" for part in found.groups())
    if (before and after) or (sign and inner) or not _only_ascii_digits(digits):
        return None
    trimmed = digits.rstrip(SPACES)
    spaced = bool(space) or trimmed != digits or bool(before)
    return _Parts(sign + inner, trimmed, exponent, canonical_unit(before or after), spaced)


def _only_ascii_digits(digits: str) -> bool:
    return all(each.isascii() or each in SPACES + APOSTROPHES for each in digits)


def canonical_unit(unit: str) -> str:
    """
    >>> canonical_unit("KG"), canonical_unit("mW"), canonical_unit("MW")
    ('kg', 'mW', 'MW')
    """
    lower = unit.lower()
    if lower not in SAME_IN_CAPITALS:
        return unit
    return {"mmhg": "mmHg"}.get(lower, lower if lower not in ("eur", "usd", "gbp", "chf") else lower.upper())


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written; no ``decimal`` mark if none of them shows it.

    With ``bare``, a number may lack the unit that others have.
    """

    decimal: str = ""
    thousands: str = ""
    unit: str = ""
    bare: bool = False

    def read(self, texts: Sequence[str]) -> list[float | None]:
        """Each text as a number, None if it is none.

        >>> NumberFormat(",", ".", "kg").read(["1.234,5 kg", "7 kg", "7", "7 lb"])
        [1234.5, 7.0, None, None]
        """
        marks = [(self.decimal or ".", self.thousands)]
        return [self._number(text, marks[0]) for text in texts]

    def _number(self, text: str, marks: tuple[str, str]) -> float | None:
        parts = _apart(text)
        if parts is None or not (parts.unit == self.unit or (self.bare and not parts.unit)):
            return None
        return _value(parts, *marks)

    @staticmethod
    def may_be(text: str) -> bool:
        """Whether this is a number of some kind, perhaps with a unit."""
        parts = _apart(text)
        return parts is not None and bool(_possible_marks([parts.digits]))

    @classmethod
    def told(cls, texts: Sequence[str], usual_decimal: str = "", unit: str | None = None) -> NumberFormat | None:
        """How these texts are written as numbers; None if they are none.

        ``usual_decimal`` is the mark that other columns of the file show, and decides what this one leaves open.
        With a ``unit`` that is said, a number may lack it.

        >>> NumberFormat.told(["0,5 %", "12 %", "7 %"])
        NumberFormat(decimal=',', thousands='', unit='%', bare=False)
        """
        if None in map(_apart, texts[:FIRST]):  # most columns of texts end here
            return None
        parts = [_apart(text) for text in texts]
        found = [each for each in parts if each is not None]
        if not found or len(found) < len(parts):
            return None
        shapes = {each.digits.translate(ONE_DIGIT): each for each in found}  # few: all that the marks depend on
        marks = _possible_marks(list(shapes))
        if marks is None:
            return None
        if unit is None:
            told = _told_unit(found, texts)
            if told is None:
                return None
            unit, bare = told, False
        elif {each.unit for each in found} <= {unit, ""}:
            bare = True
        else:
            return None
        if not marks:
            raise Contradiction(
                "points and commas in both roles",
                "the point and the comma each stand for decimals in some cells and for thousands in others; "
                "write all numbers in one way",
                _others(texts, [_usual_marks(each) for each in found]),
            )
        return replace(_chosen([*shapes.values()], marks, usual_decimal), unit=unit, bare=bare)


def is_grouped(text: str) -> bool:
    """Whether the point of a number may stand between thousands; a number without one shows no decimals.

    >>> [is_grouped(text) for text in ("1.345", "282", "0.345", "12.34", "1345")]
    [True, True, False, False, False]
    """
    return (ONE_GROUP if "." in text else THREE_DIGITS).fullmatch(text) is not None


def _value(parts: _Parts, decimal: str, thousands: str) -> float | None:
    if _grammar(decimal, thousands).fullmatch(parts.digits) is None:
        return None
    between = {"": "", " ": SPACES, "'": APOSTROPHES}.get(thousands, thousands)
    plain = "".join(each for each in parts.digits if each not in between).replace(decimal, ".")
    number = float(plain + parts.exponent)
    return -number if parts.sign in tuple(MINUS) else number


def _possible_marks(digits: Sequence[str]) -> list[tuple[str, str]] | None:
    """The marks that all numbers may have been written with; None if one of them is no number at all."""
    possible = list(MARKS)
    for each in digits:
        own = [marks for marks in MARKS if _grammar(*marks).fullmatch(each)]
        if not own:
            return None
        possible = [marks for marks in possible if marks in own]
    return possible


def _told_unit(parts: Sequence[_Parts], texts: Sequence[str]) -> str | None:
    """The unit of a column, empty if there is none; None if what stands behind the numbers is no unit."""
    units = {each.unit for each in parts}
    named = units - {""}
    if not named:
        return ""
    sure = all(_is_surely_a_unit(each) for each in parts if each.unit)
    if len(named) > 1:
        if sure:
            raise Contradiction(
                "several units",
                "the numbers have several units; convert them to one, "
                "or read the column as categories (--categorical)",
                _others(texts, [each.unit for each in parts]),
            )
        return None
    [unit] = named
    if "" in units:
        if sure:
            raise Contradiction(
                "with and without a unit",
                f"some numbers have the unit {unit} and some have none; correct the cells or, "
                f'if all are in {unit}, say so (unit = "{unit}" in columns.toml)',
                _others(texts, [each.unit for each in parts]),
            )
        return None
    plausible = all(map(_is_unit, parts)) or (len(unit) > 1 and all(each.spaced for each in parts))
    enough = unit in ("%", "‰") or len({each.digits for each in parts}) >= FEWEST_VALUES
    return unit if plausible and enough else None


def _usual_marks(parts: _Parts) -> tuple[str, str]:
    return next(marks for marks in MARKS if _grammar(*marks).fullmatch(parts.digits))


def _others(texts: Sequence[str], forms: Sequence[object]) -> list[str]:
    """The texts that are not of the most common form."""
    [(usual, _)] = Counter(forms).most_common(1)
    return [text for text, form in zip(texts, forms, strict=True) if form != usual]


def _is_unit(parts: _Parts) -> bool:
    """Whether this is no name such as 5A, of a school class."""
    one_capital = len(parts.unit) == 1 and parts.unit.isupper()
    return parts.unit in KNOWN_UNITS and (parts.spaced or not one_capital)


def _is_surely_a_unit(parts: _Parts) -> bool:
    """Whether this is no house number such as 12d, even beside a plain 12."""
    one_letter = len(parts.unit) == 1 and parts.unit.isalpha()
    return parts.unit in KNOWN_UNITS and (parts.spaced or not one_letter)


def _chosen(parts: Sequence[_Parts], marks: Sequence[tuple[str, str]], usual_decimal: str) -> NumberFormat:
    """The marks among the possible ones that the column, or the rest of the file, decides for."""
    digits = [each.digits for each in parts]
    by_values: dict[tuple[float | None, ...], list[tuple[str, str]]] = {}
    for each in marks:
        by_values.setdefault(tuple(_value(part, *each) for part in parts), []).append(each)
    if len(by_values) > 1:
        short = any(
            THREE_DIGITS.fullmatch(each) for each in digits
        )  # 950 beside 1,234: decimals would be shown, too
        if usual_decimal:
            marks = [each for each in marks if each[0] == usual_decimal]
        elif short and not all("." in each or each.isdecimal() for each in digits):
            marks = [each for each in marks if each[1]]
        else:
            raise two_ways("," if any("," in each for each in digits) else ".")
    decimal, thousands = next((each for each in marks if each[0] == (usual_decimal or ".")), marks[0])
    shown = [each for each in (",", ".") if any(each in number for number in digits)]
    if thousands and not any(_has(thousands, number) for number in digits):
        thousands = ""
    return NumberFormat(decimal if decimal in shown or thousands in (",", ".") else "", thousands)


def two_ways(mark: str) -> Contradiction:
    """A column whose numbers may have decimals or thousands."""
    return Contradiction(
        "decimals or thousands",
        "every number is such as 1,234 or 1.234, so the column can be read in two ways: the mark may stand for "
        f'decimals or for thousands; say which (decimal = "{mark}" or thousands = "{mark}" in columns.toml)',
    )


def _has(thousands: str, digits: str) -> bool:
    among = {" ": SPACES, "'": APOSTROPHES}.get(thousands, thousands)
    return any(each in digits for each in among)

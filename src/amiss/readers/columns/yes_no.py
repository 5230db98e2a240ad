"""Yes and no, in the codings that people use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_CODINGS = """
yes/no y/n true/false t/f ja/nein j/n oui/non o/n vrai/faux v/f wahr/falsch si/no sí/no s/n sim/não sim/nao tak/nie
ano/ne igen/nem evet/hayır 1/0
"""
CODINGS = tuple(tuple(pair.split("/")) for pair in _CODINGS.split())
TICKS = ("x", "X", "✓", "✔", "☑")


@dataclass(frozen=True)
class YesNo:
    """Which texts of a column mean yes and which mean no, whatever their capitals.

    With ``blank_is_no``, a cell that is empty means no, as where people tick with an x.
    """

    true: tuple[str, ...]
    false: tuple[str, ...]
    blank_is_no: bool = False

    def read(self, texts: Sequence[str]) -> list[float | None]:
        """1 for yes, 0 for no; None for any other text.

        >>> YesNo(("ja",), ("nein",)).read(["Ja", "nein", "vielleicht"])
        [1.0, 0.0, None]
        """
        meaning = {same(each): 0.0 for each in self.false} | {same(each): 1.0 for each in self.true}
        return [meaning.get(same(text)) for text in texts]

    @classmethod
    def told(cls, texts: Sequence[str], *, some_blank: bool = False) -> YesNo | None:
        """Which coding these texts are of; None if they are of none.

        >>> YesNo.told(["Y", "N"]), YesNo.told(["x"], some_blank=True)
        (YesNo(true=('y',), false=('n',), blank_is_no=False), YesNo(true=('x',), false=(), blank_is_no=True))
        """
        seen = {text.strip().casefold() for text in texts}
        if not seen:
            return None
        if some_blank and len(seen) == 1 and seen <= {each.casefold() for each in TICKS}:
            return cls(tuple(seen), (), True)
        fitting = [pair for pair in CODINGS if seen <= set(pair)]
        return cls((fitting[0][0],), (fitting[0][1],)) if fitting else None


def same(text: str) -> str:
    """A text as it is compared: whatever its capitals, and a number whatever its zeros.

    >>> same("Ja"), same("1"), same("1.0")
    ('ja', '1', '1')
    """
    plain = text.strip().casefold()
    try:
        return f"{float(plain):.15g}"
    except ValueError:
        return plain

"""Numbers as people write them: read back from any locale, refused where they can be read in two ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from amiss.readers.columns.contradiction import Contradiction
from amiss.readers.columns.numbers import NumberFormat

LOCALES = {
    "us": (".", ","), "german": (",", "."), "french": (",", "\u202f"), "old french": (",", "\u00a0"),
    "swedish": (",", " "), "swiss": (".", "'"), "swiss, typographic": (".", "’"), "plain": (".", ""),
    "plain comma": (",", ""),
}  # fmt: skip
UNITS = ["", " kg", "kg", " %", "%", " mmol/l", " €", "°C", " m²", " dollars"]
cents = st.lists(st.integers(-(10**11), 10**11), min_size=1, max_size=20)


def written(number, decimal, thousands):
    """In hundredths, written by arithmetic alone."""
    whole, rest = divmod(abs(number), 100)
    groups = []
    while whole >= 1000 and thousands:
        whole, last = divmod(whole, 1000)
        groups.insert(0, f"{last:03d}")
    return "-" * (number < 0) + thousands.join([str(whole), *groups]) + f"{decimal}{rest:02d}"


@pytest.mark.parametrize("locale", LOCALES)
@given(cents, st.sampled_from(UNITS))
def test_numbers_written_in_a_locale_are_read_back(locale, numbers, unit):
    assume(not unit or len(set(map(abs, numbers))) >= 3)  # fewer are categories
    texts = [written(number, *LOCALES[locale]) + unit for number in numbers]
    told = NumberFormat.told(texts)
    assert told is not None and told.read(texts) == [float(f"{number / 100:.2f}") for number in numbers]
    assert told.unit == unit.strip()


@pytest.mark.parametrize("locale", LOCALES)
@given(st.lists(st.integers(0, 999), min_size=3, unique=True))
def test_whole_numbers_below_a_thousand_are_the_same_in_all_locales(locale, numbers):
    texts = [f"{number} kg" for number in numbers]
    assert NumberFormat.told(texts) == NumberFormat(unit="kg")
    decimal, thousands = LOCALES[locale]
    assert NumberFormat(decimal, thousands.strip() or thousands, "kg").read(texts) == numbers


@pytest.mark.parametrize("sign", ["€ ", "$", "£", "CHF ", "EUR "])
def test_a_currency_may_stand_first(sign):
    texts = [f"{sign}1,234.50", f"-{sign}7.25", f"{sign}3"]
    told = NumberFormat.told(texts)
    assert told is not None and told.read(texts) == [1234.5, -7.25, 3] and told.unit == sign.strip()


@pytest.mark.parametrize(
    ("texts", "short"),
    [
        (["1,234", "5,678"], "decimals or thousands"),
        (["1.234 kg", "5.678 kg", "9.123 kg"], "decimals or thousands"),
        (["1,5", "1.5"], "points and commas in both roles"),
        (["1,234.5", "1.234,5"], "points and commas in both roles"),
        (["75 kg", "160 lb", "80 kg"], "several units"),
        (["75 kg", "80"], "with and without a unit"),
        (["45 %", "0.45"], "with and without a unit"),
    ],
)
def test_a_column_that_contradicts_itself_needs_a_decision(texts, short):
    with pytest.raises(Contradiction) as caught:
        NumberFormat.told(texts)
    assert caught.value.short == short
    assert not any(text in caught.value.problem for text in texts if text not in ("1,234",))


def test_other_columns_or_other_cells_decide_what_a_mark_is():
    texts = ["1,234", "5,678"]
    assert NumberFormat.told(texts, ",").read(texts) == [1.234, 5.678]
    assert NumberFormat.told(texts, ".").read(texts) == [1234, 5678]
    for further, value in (("1,234,567", 1234567), ("9,500.5", 9500.5), ("950", 950)):
        texts = ["1,234", further]
        assert NumberFormat.told(texts).read(texts) == [1234, value]


@pytest.mark.parametrize(
    "texts",
    [
        ["1A", "1B", "2A"], ["1st", "2nd", "3rd"], ["5A", "6A", "7A"], ["10.0.0.1", "10.0.0.2"], ["1.2.3",
        "1.3.0"], ["A1", "A2", "A3"], ["P001", "P002", "P003"], ["1 2", "3 4"], ["1-2", "3-4"], ["12/3", "4/5"],
        ["1,23,4", "5"],
        ["12", "12d", "7"], ["3d", "5h", "7m"],
         ["yes", "no"], ["１２ kg", "１３ kg", "１４ kg"], ["1_000", "2_000"], ["10 mg", "20 mg"],
    ],
)  # fmt: skip
def test_names_that_hold_digits_are_no_numbers(texts):
    assert NumberFormat.told(texts) is None


@given(st.lists(st.text(alphabet="0123456789.,'- kgEe%€\u00a0", min_size=1), min_size=1, max_size=6))
def test_whatever_is_told_reads_its_own_texts(texts):
    try:
        told = NumberFormat.told(texts)
    except Contradiction:
        return
    assert told is None or all(value is not None and np.isfinite(value) for value in told.read(texts)) or any(
        "e" in text.lower() for text in texts  # 1e999
    )  # fmt: skip

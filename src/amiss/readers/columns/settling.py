"""Columns of texts in a table: which of them are numbers, dates and the like, and which need a decision.

Every column that cannot be read is found before anything is refused, so that one message names them all.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from amiss.arrays import Floats
from amiss.data.output_kinds import COUNT, NUMBER, Asked
from amiss.data.table import Table
from amiss.errors import DataError, quoted
from amiss.readers.columns.dates import part_of
from amiss.readers.columns.mistakes import number_expected
from amiss.readers.columns.spec import ColumnSpec
from amiss.readers.columns.telling import is_free_text, read_as, tell
from amiss.readers.columns.texts import Texts, Told, Trouble
from amiss.readers.columns.words import Vocabulary
from amiss.readers.columns.yes_no import YesNo, same
from amiss.wording import count, first_few, printable

FREE_TEXT = "free text"
A_DATE = "a date is no output; enter the number of days as a number of your own, or leave the column out (--drop)"
AMOUNTS = COUNT.name, NUMBER.name

Column = tuple[str, Floats, tuple[str, ...] | None]
"""Name and cells of a column, and the levels if it is a category."""


@dataclass(frozen=True)
class Request:
    """What is known of the columns before their cells are looked at.

    ``typed`` says that the format has numbers of its own, ``declared`` that it declares its categories,
    ``learned`` that a fit has told what each column is (``specs``). ``is_category`` says of a column by its name
    that the user calls it categorical, ``is_text`` that its words are inputs. Columns that are ``aside`` are no
    inputs. ``true`` and ``false`` are what outputs hold for 1 and 0.
    """

    outputs: Collection[str]
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict)
    kinds: Asked = field(default_factory=dict)
    is_category: Callable[[str], bool] = lambda name: False
    is_text: Callable[[str], bool] = lambda name: False
    is_aside: Callable[[str], bool] = lambda name: False
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    typed: bool = False
    declared: bool = False
    learned: bool = False
    decimal_comma: bool = False
    thousands_points: bool = False
    decimals: frozenset[str] = frozenset()
    typed_numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def is_amount(self, name: str) -> bool:
        """Whether the user says that an output is a number."""
        return name in self.outputs and self.kinds.get(name) in AMOUNTS

    @property
    def may_be_grouped(self) -> bool:
        """Whether a point may stand between thousands; a fit has told where it does."""
        return self.thousands_points and not self.learned

    def spec(self, name: str) -> ColumnSpec:
        """What is said of a column; of an output without a word of its own, how all outputs are coded."""
        said = self.specs.get(name, ColumnSpec())
        if self.is_amount(name) and not said.says_form:
            return replace(said, kind="number")
        if name in self.outputs and (self.true or self.false) and said == ColumnSpec(role=said.role):
            return replace(said, true=self.true, false=self.false, kind="yes_no")
        return replace(said, role="text") if self.is_text(name) else said


@dataclass
class Settled:
    """What was found of each column: how it is read, what of that is worth saying, and what is wrong."""

    told: dict[str, Told] = field(default_factory=dict)
    words: dict[str, Vocabulary] = field(default_factory=dict)
    identifiers: dict[str, int] = field(default_factory=dict)
    trouble: dict[str, Trouble] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def specs(self) -> dict[str, ColumnSpec]:
        """What a model has to keep, so that later rows are read alike."""
        told = {name: told.spec for name, told in self.told.items() if told.spec.needs_texts}
        kept = told | {
            name: replace(told.get(name, ColumnSpec()), missing=texts) for name, texts in self.missing.items()
        }
        return kept | {name: ColumnSpec(role="text", words=each.words) for name, each in self.words.items()}

    def notes(self, n_rows: int) -> list[str]:
        """What was decided without asking, in one line, and a line on each column that identifies the rows."""
        said = [f"{printable(name)} ({told.what})" for name, told in self.told.items() if told.what]
        said += [f"{printable(name)} ({count(len(each.words), 'word')})" for name, each in self.words.items()]
        lines = [f"Read as: {'; '.join(said)}."] if said else []
        for name, n_texts in self.identifiers.items():
            shown = printable(name)
            lines.append(
                f'Column "{shown}" holds {n_texts:,} different texts in {count(n_rows, "row")} and looks like an '
                f"identifier, so it is no input. To see it in the list, pass --id {shlex.quote(shown)}."
            )
        return lines

    def refuse_if_no_input_is_left(self, inputs: Table) -> None:
        """Refuse a table whose only inputs are identifiers."""
        if self.identifiers and not inputs.names:
            named = [f"{quoted(name)} ({n_texts:,})" for name, n_texts in self.identifiers.items()]
            raise DataError(
                f"{inputs.files}there is no input but what looks like an identifier, by its different texts in "
                f"{count(len(inputs), 'row')}: {first_few(named)}; add columns that describe the rows"
            )


def settled(table: Table, request: Request) -> Settled:
    """What the columns of ``table`` are; its values are not changed."""
    found = Settled(missing={name: spec.missing for name, spec in request.specs.items() if spec.missing})
    if sparse.issparse(table.values):
        return found
    usual = Usual("," if request.decimal_comma else "", request.decimals if request.may_be_grouped else None)
    again = []
    for place, name in enumerate(table.names):
        _settle(found, table, place, name, request, usual)
        if name in found.trouble and (not usual.decimal or request.may_be_grouped):
            again.append((place, name))
    if again:  # how other columns write decimals may decide what these leave open
        usual = _usual_of_others(found, table, request)
        for place, name in again if usual.decimal else ():
            before = found.trouble.pop(name)
            _settle(found, table, place, name, request, usual)
            if name in found.trouble:
                found.trouble[name] = before
    return found


@dataclass(frozen=True)
class Usual:
    """The mark before decimals that is usual in a file, and those that its columns show (None: no matter)."""

    decimal: str
    shown: frozenset[str] | None


def _usual_of_others(found: Settled, table: Table, request: Request) -> Usual:
    told = {told.spec.decimal for told in found.told.values()} - {""}
    plain = not request.decimal_comma and any(
        place not in table.levels and (table.column(place) % 1 > 0).any() for place in range(len(table.names))
    )
    shown = request.decimals | told | ({"."} if plain else set())
    seen = told or shown
    usual = "," if request.decimal_comma else next(iter(seen)) if len(seen) == 1 else ""
    return Usual(usual, shown if request.may_be_grouped else None)


def _settle(found: Settled, table: Table, place: int, name: str, request: Request, usual: Usual) -> None:
    spec, output = request.spec(name), name in request.outputs
    if place not in table.levels:
        values = _as_said(spec, table.column(place))
        if values is not None:
            found.told[name] = Told(values, spec)
        return
    texts = replace(texts_of(table, place), numbers=request.typed_numbers.get(name, frozenset()))
    if spec.role == "text" or spec.kind == "text":
        known = Vocabulary(spec.words) if spec.words is not None else None
        found.words[name] = known or Vocabulary.told(texts.words, texts.counts.tolist())
        return
    chosen = request.kinds.get(name)
    if spec.kind == "category" or request.is_category(name) or request.is_aside(name):
        return
    if chosen is not None and (not isinstance(chosen, str) or chosen == "class"):
        return
    told = _read_as_said(spec, texts, usual) if spec.says_form else None
    amount = request.is_amount(name) and not request.specs.get(name, ColumnSpec()).says_form
    if told is None or (isinstance(told, Trouble) and (amount or name not in request.specs)):
        if request.declared:
            return
        said = number_expected(told, texts, request.kinds[name]) if amount and isinstance(told, Trouble) else None
        told = tell(texts, output=output, typed=request.typed, usual=usual.decimal, shown=usual.shown) or said
        if request.learned and not (isinstance(told, Told) and not told.spec.needs_texts):
            return  # the fit had no such column; it says so itself
    if isinstance(told, Told) and told.spec.kind == "date" and output and not request.learned:
        told = Trouble("dates", A_DATE)
    if isinstance(told, Trouble):
        found.trouble[name] = told
    elif told is not None:
        found.told[name] = told
    elif not output and not request.learned and texts.look_like_names:
        _name_or_prose(found, name, texts)


def _read_as_said(spec: ColumnSpec, texts: Texts, usual: Usual) -> Told | Trouble:
    told = read_as(spec, texts, usual.decimal, usual.shown)
    if isinstance(told, Trouble) or spec.parts is None:
        return told
    return replace(told, spec=replace(told.spec, parts=spec.parts))


def _name_or_prose(found: Settled, name: str, texts: Texts) -> None:
    n_texts = int(np.count_nonzero(texts.counts))
    if is_free_text(texts):
        problem = (
            f"this is free text ({n_texts:,} different texts in {count(texts.n_rows, 'row')}); make its words "
            "inputs (--text), leave the column out (--drop), or make it the id (--id)"
        )
        found.trouble[name] = Trouble(FREE_TEXT, problem)
    else:
        found.identifiers[name] = n_texts


def texts_of(table: Table, place: int) -> Texts:
    """The different texts of a column, and in how many rows each stands."""
    codes = table.column(place)
    known = ~np.isnan(codes)
    levels = table.levels[place]
    counts = np.bincount(codes[known].astype(np.intp), minlength=len(levels))[: len(levels)]
    used = np.flatnonzero(counts)
    return Texts([levels[code] for code in used], counts[used], int((~known).sum()))


def _as_said(spec: ColumnSpec, cells: Floats) -> Floats | None:
    """A column of numbers in which some mean that a cell is missing, or yes and no; None if it stays as it is."""
    if spec.blank_is_no and np.isnan(cells).all():
        return np.zeros(len(cells))
    if not (spec.missing or spec.true or spec.false):
        return None
    seen = np.unique(cells[~np.isnan(cells)])
    texts, gone = [same(repr(value)) for value in seen.tolist()], {same(each) for each in spec.missing}
    meaning = YesNo(spec.true, spec.false).read(texts) if spec.true or spec.false else seen.tolist()
    if any(each is None and text not in gone for each, text in zip(meaning, texts, strict=True)):
        return None
    found = [np.nan if text in gone else each for each, text in zip(meaning, texts, strict=True)]
    return np.array([*found, np.nan])[np.where(np.isnan(cells), len(seen), np.searchsorted(seen, cells))]


def without_missing(table: Table, request: Request) -> Table:
    """The table, in which texts that are said to mean a missing cell are missing."""
    for place, levels in table.levels.items():
        gone = {same(each) for each in request.spec(table.names[place]).missing}
        kept = tuple(level for level in levels if same(level) not in gone)
        if gone and len(kept) < len(levels):
            table = table.with_levels({**table.levels, place: kept})
    return table


def place_of(trouble: Trouble, table: Table, place: int) -> str:
    """Where the first text stands that is to blame; empty if none is."""
    if trouble.words is None:
        return ""
    bad = {word for word, is_bad in zip(texts_of(table, place).words, trouble.words, strict=True) if is_bad}
    codes = [code for code, level in enumerate(table.levels[place]) if level in bad]
    return table.where(int(np.argmax(np.isin(table.column(place), codes))))


def refuse_trouble(found: Settled, table: Table, file: str) -> None:
    """One line on every column that needs a decision; where there is one only, with its place."""
    if not found.trouble:
        return
    if len(found.trouble) == 1:
        [(name, trouble)] = found.trouble.items()
        where = place_of(trouble, table, table.names.index(name)) or table.files.removesuffix(": ")
        raise DataError(f"{where}, column {quoted(name)}: {trouble.problem}")
    each = [f'"{printable(name)}" ({trouble.short})' for name, trouble in found.trouble.items()]
    raise DataError(
        f"{table.files}{len(each)} columns need a decision: {first_few(each, 12)}; run amiss check {file}"
    )


def applied(table: Table, found: Settled) -> Table:
    """The table with its columns as they were settled; parts of dates and words of texts follow their column."""
    if not (found.told or found.words or found.identifiers):
        return table
    columns: list[Column] = []
    for place, name in enumerate(table.names):
        columns += [
            each
            for each in _columns_of(table, place, found)
            if each[0] == name or each[0] not in table.names  # a column of the table keeps its name
        ]
    return replace(
        table,
        values=np.column_stack([values for _, values, _ in columns]) if columns else np.empty((len(table), 0)),
        names=tuple(name for name, _, _ in columns),
        levels={place: levels for place, (_, _, levels) in enumerate(columns) if levels is not None},
    )


def _columns_of(table: Table, place: int, found: Settled) -> list[Column]:
    """What becomes of one column of a table."""
    name = table.names[place]
    if name in found.identifiers:
        return []
    if name in found.words:
        return _word_columns(table, place, found.words[name])
    if name not in found.told:
        return [(name, table.column(place), table.levels.get(place))]
    told = found.told[name]
    values = told.values if place not in table.levels else _of_words(table, place, told)
    return [(name, values, None), *(_date_part(name, values, part) for part in told.spec.parts or ())]


def _of_words(table: Table, place: int, told: Told) -> Floats:
    """The values of texts, for the rows in which they stand."""
    codes, levels = table.column(place), table.levels[place]
    of_text = dict(zip(texts_of(table, place).words, told.values.tolist(), strict=True))
    blank = 0.0 if told.spec.blank_is_no else np.nan
    of_code = np.array([of_text.get(level, np.nan) for level in levels] + [blank])
    return np.asarray(of_code[np.where(np.isnan(codes), len(levels), codes).astype(np.intp)])


def _date_part(name: str, days: Floats, part: str) -> Column:
    """The month or the weekday of each day, as a category."""
    seen, place = np.unique(np.floor(days), return_inverse=True)
    texts = ["" if np.isnan(day) else part_of(day, part) for day in seen.tolist()]
    levels = tuple(sorted(set(texts) - {""}))
    codes = np.array([levels.index(text) if text else np.nan for text in texts], dtype=float)
    return f"{name} ({part})", codes[place.reshape(-1)], levels


def _word_columns(table: Table, place: int, vocabulary: Vocabulary) -> list[Column]:
    """One column per word: whether a row has it; a row without a text has none."""
    codes, levels = table.column(place), table.levels[place]
    found = np.vstack([vocabulary.read(levels), np.zeros((1, len(vocabulary.words)))])
    of_row = found[np.where(np.isnan(codes), len(levels), codes).astype(np.intp)]
    return [
        (f"{table.names[place]}: {word}", of_row[:, number], None) for number, word in enumerate(vocabulary.words)
    ]

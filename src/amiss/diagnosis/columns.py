"""One column at a time: its role, its kind, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from amiss.arrays import Floats
from amiss.data.alike_levels import alike_levels
from amiss.data.output_kinds import COUNT, NUMBER
from amiss.data.table import Table, output_columns
from amiss.data.validation import as_outputs
from amiss.diagnosis.findings import ColumnFinding
from amiss.diagnosis.sentinels import sentinels
from amiss.errors import DataError, quoted
from amiss.readers.columns.settling import FREE_TEXT, Request, Settled, applied, place_of, texts_of
from amiss.readers.columns.spec import ColumnSpec
from amiss.readers.columns.telling import described
from amiss.readers.columns.yes_no import YesNo
from amiss.wording import count, percent

NO_OUTPUT = "cannot be an output"
MOST_MARKS, LONGEST_MARK = 5, 15  # texts that may stand for missing, and their letters
FEW_LEVELS = 10  # of a column that may be an output
SAMPLE = 20_000  # rows in which different values are counted; more than a few show at once


@dataclass(frozen=True)
class Looked:
    """What the table is known to hold when its columns are looked at one by one."""

    table: Table
    found: Settled
    request: Request
    copies: Mapping[str, str]
    kinds: Mapping[str, str]

    def finding(self, place: int) -> ColumnFinding:
        """What was found of a column."""
        name = self.table.names[place]
        if name in self.request.outputs:
            return self._output(name, place)
        if name in self.found.trouble:
            return self._in_trouble(name, place)
        if name in self.found.identifiers:
            seen = f"{self.found.identifiers[name]:,} different texts"
            return _finding(name, "id", "text", seen, "identifies the rows", spec=ColumnSpec(role="id"))
        if name in self.found.words:
            seen = f"{count(len(self.found.words[name].words), 'word')} in enough rows"
            return _finding(name, "text", "text", seen, spec=ColumnSpec(role="text"))
        found = self._plain(name, place)
        if name in self.copies:
            spec = ColumnSpec(role="drop")
            return replace(found, role="drop", remark=f"the same as {quoted(self.copies[name])}", spec=spec)
        return found

    def _plain(self, name: str, place: int) -> ColumnFinding:
        cells = self.table.column(place)
        known = cells[~np.isnan(cells)]
        gone = _missing(cells)
        if not len(known):
            return _finding(name, "drop", "number", "nothing", "every cell is empty")
        if known.min() == known.max() and not gone:
            kind = "category" if place in self.table.levels else "number"
            return _finding(name, "drop", kind, f"one value{gone}", "constant")
        if name in self.found.told:
            return self._told(name, gone)
        if place in self.table.levels:
            return self._category(name, place, gone)
        if self.request.is_category(name):
            return _finding(name, "input", "category", f"{len(np.unique(known)):,} different numbers{gone}")
        return _numbers(name, cells, gone)

    def _told(self, name: str, gone: str) -> ColumnFinding:
        told = self.found.told[name]
        spec = replace(told.spec, role="input")
        seen = (told.what or "numbers") + gone
        parts = f"with {' and '.join(spec.parts)} as categories" if spec.parts else ""
        kind = spec.kind or "number"
        remark = parts or _sentinel_remark(sentinels(told.values))
        return _finding(name, "input", kind, seen, remark, spec=spec)

    def _category(self, name: str, place: int, gone: str) -> ColumnFinding:
        texts = texts_of(self.table, place)
        yes_no = YesNo.told(texts.words, some_blank=texts.some_blank)
        if yes_no is not None:
            spec = ColumnSpec("input", "yes_no", true=yes_no.true, false=yes_no.false)
            if yes_no.blank_is_no:
                spec = replace(spec, blank_is_no=True)
            return _finding(name, "input", "yes_no", described(spec) + gone, self._candidate("binary"), spec=spec)
        few = len(texts.words) <= FEW_LEVELS
        seen = f"{len(texts.words):,} different texts{gone}"
        return _finding(name, "input", "category", seen, self._candidate("class") if few else "")

    def _candidate(self, kind: str) -> str:
        return "" if self.request.outputs else f"may be an output ({kind})"

    def numbers_as_candidate(self, found: ColumnFinding, place: int) -> ColumnFinding:
        """A column of few different numbers may be an output, if nobody has said which columns are."""
        plain = found.role == "input" and found.kind == "number" and not found.remark
        if self.request.outputs or not plain or place in self.table.levels:
            return found
        seen = np.unique(self.table.column(place)[:SAMPLE])
        seen = seen[~np.isnan(seen)]
        if set(seen.tolist()) <= {0.0, 1.0}:
            return replace(found, seen=found.seen.replace("numbers", "0 and 1"), remark=self._candidate("binary"))
        is_few = len(seen) <= FEW_LEVELS and (seen == np.floor(seen)).all()
        return replace(found, remark=self._candidate("class or count")) if is_few else found

    def _in_trouble(self, name: str, place: int) -> ColumnFinding:
        trouble, texts = self.found.trouble[name], texts_of(self.table, place)
        free = trouble.short == FREE_TEXT
        seen = f"{len(texts.words):,} different texts" if free else trouble.short
        return ColumnFinding(
            name,
            "input",
            "text" if free else "",
            seen,
            FREE_TEXT if free else "needs a decision",
            self._advice(name, place),
            needs_decision=True,
            spec=ColumnSpec(role="input"),
            suggested=self._suggested(name, place),
        )

    def _suggested(self, name: str, place: int) -> ColumnSpec:
        """Texts that stand several times among others of a kind most likely mean a missing cell."""
        texts, strays = texts_of(self.table, place), self.found.trouble[name].words
        if strays is None or not self.found.trouble[name].short.endswith("numbers and texts"):
            return ColumnSpec()
        repeated = [
            word
            for word, n, is_stray in zip(texts.words, texts.counts.tolist(), strays, strict=True)
            if is_stray and n > 1 and len(word) <= LONGEST_MARK
        ]
        return ColumnSpec(missing=tuple(repeated) if len(repeated) <= MOST_MARKS else ())

    def _advice(self, name: str, place: int) -> str:
        """What to do about a column in trouble, and where."""
        trouble = self.found.trouble[name]
        where = place_of(trouble, self.table, place)
        return f"{where}: {trouble.problem}" if where else trouble.problem

    def _output(self, name: str, place: int) -> ColumnFinding:
        """An output: its kind, or why it cannot be one."""
        gone = _missing(self.table.column(place))
        if name in self.found.trouble:
            advice, suggested = self._advice(name, place), self._suggested(name, place)
            return _no_output(name, self.found.trouble[name].short, advice, suggested)
        one = applied(self.table.select([place]), self.found)
        said = {name: self.kinds[name]} if name in self.kinds else None
        try:
            outputs = as_outputs(one.select([0]), kinds=said)
        except DataError as error:
            return _no_output(name, f"no output{gone}", str(error))
        [column], told = output_columns(outputs), self.found.told.get(name)
        what = told.what if told is not None and told.what else ""
        few = f"{len(column.levels)} levels" if column.levels else "numbers" if column.kind is NUMBER else ""
        spec = replace(told.spec if told is not None else ColumnSpec(), role="output", output=column.kind.name)
        if column.kind.ordered:
            spec = replace(spec, levels=column.levels)
        few = few or ("whole numbers" if column.kind is COUNT else "0 and 1")
        remark = alike_levels(column, outputs.column(0))
        return ColumnFinding(name, "output", column.kind.name, (what or few) + gone, remark, spec=spec)


def _no_output(name: str, seen: str, advice: str, suggested: ColumnSpec | None = None) -> ColumnFinding:
    spec, suggested = ColumnSpec(role="output"), suggested or ColumnSpec()
    return ColumnFinding(name, "output", "", seen, NO_OUTPUT, advice, True, spec=spec, suggested=suggested)


def _numbers(name: str, cells: Floats, gone: str) -> ColumnFinding:
    known = cells[~np.isnan(cells)]
    if len(cells) > 2 and not gone and (np.diff(cells) == 1).all():
        return _finding(name, "id", "number", "whole numbers, one more in each row", "only numbers the rows")
    codes = sentinels(known)
    if codes:
        spec = ColumnSpec("input", "number", missing=tuple(f"{code:.0f}" for code in codes))
        return _finding(name, "input", "number", f"numbers{gone}", _sentinel_remark(codes), spec=spec)
    return _finding(name, "input", "number", f"numbers{gone}")


def _sentinel_remark(codes: list[float]) -> str:
    shown = " and ".join(f"{code:.0f}" for code in codes)
    return f"{shown} may stand for missing" if codes else ""


def _missing(cells: Floats) -> str:
    share = float(np.isnan(cells).mean()) if len(cells) else 0.0
    return f", {percent(share)} missing" if share else ""


def _finding(
    name: str, role: str, kind: str, seen: str, remark: str = "", spec: ColumnSpec | None = None
) -> ColumnFinding:
    own = ColumnSpec(role, kind if role == "input" else "") if spec is None else spec
    return ColumnFinding(name, role, kind, seen, remark, spec=own)

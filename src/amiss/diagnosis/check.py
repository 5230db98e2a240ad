"""A table is looked at: a file with all of its columns, or what is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from amiss.data.convert import as_table
from amiss.data.output_kinds import Asked as AskedKinds
from amiss.data.output_kinds import checked_kinds
from amiss.data.table import Table
from amiss.diagnosis.columns import Looked
from amiss.diagnosis.diagnosis import Diagnosis, why_hopeless
from amiss.diagnosis.duplicates import duplicates
from amiss.diagnosis.findings import ColumnFinding
from amiss.errors import DataError
from amiss.readers.asked import Asked
from amiss.readers.columns.columns_file import read_columns
from amiss.readers.columns.settling import Request, settled, without_missing
from amiss.readers.columns.spec import ColumnSpec
from amiss.readers.formats import find_format, the_part
from amiss.readers.part import Part, concatenated
from amiss.readers.parts import read_parts, request_of
from amiss.readers.select import AllColumns, as_items, matching_columns
from amiss.readers.source import Source


def check(
    data: Any,
    *more: str | Path,
    outputs: str | Path | Sequence[str] | None = None,
    id: str | None = None,
    drop: str | Sequence[str] = (),
    show: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    text: str | Sequence[str] = (),
    true: str | Sequence[str] = (),
    false: str | Sequence[str] = (),
    columns: str | Path | Mapping[str, Any] | None = None,
    output_kinds: AskedKinds | None = None,
    format: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    encoding: str | None = None,
) -> Diagnosis:
    """What the columns of a table are, and what is wrong with them, before any model is fitted.

    Parameters
    ----------
    data, more : files with the same columns, or a frame, an array or a list of dictionaries
    outputs : which columns are outputs, as for :func:`amiss.read`; without it, columns that may be are named
    id : the column that identifies the rows
    drop : names or globs of columns to leave out
    show, categorical, text, true, false : as for :func:`amiss.read`
    columns : what is known of columns, as a columns.toml or a dictionary
    output_kinds : the kind of each output that is not told by its cells
    format : the format of the files, where the suffix does not tell
    sheet, table, encoding : as for :func:`amiss.read`

    >>> import amiss
    >>> found = amiss.check([{"age": 3, "ward": "a", "ill": 0}, {"age": 5, "ward": "b", "ill": 1}])
    >>> [(each.name, each.kind) for each in found]
    [('age', 'number'), ('ward', 'category'), ('ill', 'number')]
    """
    asked = Asked(
        outputs=str(outputs) if isinstance(outputs, Path) else outputs,
        id=id,
        drop=as_items(drop),
        show=as_items(show),
        categorical=as_items(categorical),
        text=as_items(text),
        output_kinds=checked_kinds(output_kinds),
    )
    specs = read_columns(columns)
    asked, coding = asked.with_columns(specs), {"true": as_items(true), "false": as_items(false)}
    if isinstance(data, str | Path):
        whole = the_part(sheet, table)
        sources = [Source.of(str(path), encoding, whole) for path in (data, *more)]
        part = _read(sources, asked, format)
        request = request_of(part, asked.request(_selection(asked), **coding, learned=False))
        return _diagnosed(part.table, request, asked)
    if more:
        raise DataError("give one table in memory, or files")
    given = as_table(data)
    named = {name for item in as_items(asked.outputs) for name in matching_columns(item, given.names, "outputs")}
    request = asked.request(_selection(asked), **coding, learned=False)
    return _diagnosed(given, replace(request, outputs=named, typed=True), asked)


def _selection(asked: Asked) -> AllColumns:
    found = asked.selection(None, (), strict=True, inputs_elsewhere=True)
    return AllColumns(**{**vars(found), "id": None, "drop": ()})


def _read(sources: Sequence[Source], asked: Asked, format: str | None) -> Part:
    selection = _selection(asked)
    return concatenated(read_parts([(source, find_format(source, format), selection) for source in sources]))


def _diagnosed(table: Table, request: Request, asked: Asked) -> Diagnosis:
    dropped = {name for item in asked.drop for name in matching_columns(item, table.names, "drop")}
    shown = {name for item in asked.show for name in matching_columns(item, table.names, "show")}
    aside = dict.fromkeys(dropped, "drop") | dict.fromkeys(shown, "show")
    aside |= {asked.id: "id"} if asked.id else {}
    aside |= {asked.group: "group"} if asked.group else {}
    kept = without_missing(table.select_named([name for name in table.names if name not in aside]), request)
    found = settled(kept, request)
    looked = Looked(kept, found, request, duplicates(kept), asked.output_kinds)
    own = {}
    for place, name in enumerate(kept.names):
        own[name] = looked.numbers_as_candidate(looked.finding(place), place)
    findings = tuple(
        own.get(name) or ColumnFinding(name, aside[name], "", "", "as you say", spec=ColumnSpec(role=aside[name]))
        for name in table.names
    )
    findings = _one_id(findings)
    return Diagnosis(len(table), findings, why_hopeless(findings, bool(request.outputs)))


def _one_id(findings: tuple[ColumnFinding, ...]) -> tuple[ColumnFinding, ...]:
    """Only one column can be the id: what the user says, else texts before numbers; the others take no part."""
    ids = [each for each in findings if each.role == "id"]
    said = [each for each in ids if each.remark == "as you say"]
    texts = [each for each in ids if each.kind == "text"]
    best = next(iter([*said, *texts, *ids]), None)
    return tuple(
        replace(each, role="drop", spec=ColumnSpec(role="drop"))
        if each.role == "id" and each is not best
        else each
        for each in findings
    )

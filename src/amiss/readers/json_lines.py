"""JSON: a flat object per line, or an array of flat objects. A key that an object lacks is a missing cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from amiss.errors import quoted
from amiss.readers.cell_rows import Rows, read_rows
from amiss.readers.format import Format
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source
from amiss.readers.typed_cells import NotACell, TypedNumber, as_text, texts_in

MARK = "\ufeff"


class _Twice(ValueError):
    """An object has a key twice."""


def read_json_lines(source: Source, selection: Selection) -> Part:
    """The selected columns of one file with an object per line."""
    return _part(source, selection, _objects_by_line(source))


def read_json_array(source: Source, selection: Selection) -> Part:
    """The selected columns of one file with an array of objects; its rows count from 1."""
    text = "".join(source.lines())
    found = _parsed(source, text)
    if not isinstance(found, list):
        source.refuse("this must be an array of objects; a file with an object per line is called .jsonl")
    in_rows = replace(source, unit="row")
    part = _part(
        in_rows, selection, ((number, _flat(in_rows, each, number)) for number, each in enumerate(found, 1))
    )
    return part


JSON_LINES = Format("jsonl", (".jsonl", ".ndjson"), "a flat JSON object per line", read_json_lines)
JSON_ARRAY = Format("json", (".json",), "a JSON array of flat objects", read_json_array)


def _objects_by_line(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            yield number, _flat(source, _parsed(source, line.rstrip(), number), number)


def _parsed(source: Source, text: str, line: int | None = None) -> Any:
    """Numbers stay as they are written, so that none is too long or rounded."""
    try:
        return json.loads(
            text,
            parse_int=TypedNumber,
            parse_float=TypedNumber,
            parse_constant=_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        advice = "; if the file holds an array of objects, name it .json" * (line == 1 and text.startswith("["))
        source.refuse(f"this is not JSON (column {error.colno}){advice}", line=line or error.lineno)
    except _Twice as error:
        source.refuse(f"key {quoted(error.args[0])} stands twice in an object", line=line)
    except RecursionError:
        source.refuse("the values are nested too deeply; tables are flat", line=line)


def _constant(name: str) -> str:
    return {"NaN": "", "Infinity": "inf", "-Infinity": "-inf"}[name]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise _Twice(next(key for key in keys if keys.count(key) > 1))
    return found


def _flat(source: Source, value: Any, number: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        array = isinstance(value, list)
        advice = "; a file with one array of objects is called .json" if array and source.unit == "line" else ""
        source.refuse(f'this is not an object, as in {{"age": 34}}{advice}', line=number)
    return value


def _part(source: Source, selection: Selection, objects: Iterator[tuple[int, dict[str, Any]]]) -> Part:
    names: dict[str, None] = {}
    numbered = []
    for number, found in objects:
        names.update(dict.fromkeys(found))
        numbered.append((number, found))
    for name in names:
        _check_name(source, name)
    if not names:
        source.refuse("there are no rows" if not numbered else "no object has a key")
    rows = ((number, [found.get(name) for name in names]) for number, found in numbered)
    return read_rows(source, selection, Rows([*names], rows, texts=texts_in(source)))


def _check_name(source: Source, name: str) -> None:
    if not name.strip():
        source.refuse("a key is empty; every key must name a column")
    try:
        as_text(name)
    except NotACell as problem:
        source.refuse(f"{problem}, in a key", column=name.encode(errors="replace").decode())

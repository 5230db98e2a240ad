"""columns.toml: what is said of the columns of a table, read here and written for :mod:`amiss.diagnosis`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amiss.errors import DataError
from amiss.readers.columns.spec import ColumnSpec

LARGEST = 16 << 20  # bytes


def read_columns(said: str | Path | Mapping[str, Any] | None) -> dict[str, ColumnSpec]:
    """What a file or a dictionary says of each column; a file has one table per column, named as the column is."""
    if said is None:
        return {}
    if isinstance(said, Mapping):
        return {str(name): ColumnSpec.of(str(name), each) for name, each in said.items()}
    path = Path(said)
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path}: this is too large for a file that describes columns")
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; amiss check FILE --save {path} writes one") from None
    except IsADirectoryError:
        raise DataError(f"{path}: this is a folder; give a file in it") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: the file is not UTF-8; save it as UTF-8") from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition(" (")[2].rstrip(")")
        raise DataError(f"{path}: this is not TOML ({place})") from None
    except RecursionError:
        raise DataError(f"{path}: this is not TOML that describes columns") from None
    return {name: ColumnSpec.of(name, each, str(path)) for name, each in found.items()}


def toml_text(
    columns: Mapping[str, ColumnSpec],
    comments: Mapping[str, str] | None = None,
    suggested: Mapping[str, ColumnSpec] | None = None,
) -> str:
    """The same as TOML, one table per column, with a comment above a table where there is one.

    What is ``suggested`` stands below a table as a comment.

    >>> print(toml_text({"body weight": ColumnSpec(role="input", kind="number", unit="kg")}))
    ["body weight"]
    role = "input"
    kind = "number"
    unit = "kg"
    <BLANKLINE>
    """
    parts = []
    for name, spec in columns.items():
        comment = (comments or {}).get(name, "")
        lines = [f"# {_one_line(comment)}"] if comment else []
        lines.append(f"[{_string(name)}]")
        lines += [f"{key} = {_value(value)}" for key, value in spec.to_dict().items()]
        more = (suggested or {}).get(name, ColumnSpec())
        lines += [f"# {key} = {_value(value)}" for key, value in more.to_dict().items()]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _one_line(comment: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in comment)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _string(value) if isinstance(value, str) else f"[{', '.join(map(_string, value))}]"


def _string(text: str) -> str:
    r"""A basic string; control characters and quotes are escaped, everything else stands as it is.

    >>> print(_string('a "b"\n\x7f'))
    "a \"b\"\n\u007F"
    """
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    return '"' + "".join(short.get(each, each if _plain(each) else f"\\u{ord(each):04X}") for each in text) + '"'


def _plain(letter: str) -> bool:
    return letter >= " " and letter != "\x7f"

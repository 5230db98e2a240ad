"""What ``amiss check`` finds: one entry per column, as a table, a frame, JSON or columns.toml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amiss.data.frames import frame_of
from amiss.diagnosis.findings import ColumnFinding
from amiss.files import atomic_write
from amiss.readers.columns.columns_file import toml_text
from amiss.wording import count, first_few, printable

HEAD = ("column", "role", "kind", "seen", "remark")


@dataclass(frozen=True)
class Diagnosis:
    """The columns of a table: what role each should have, its kind, and what is to be said of it.

    ``problem`` says why nothing can be done with the table, if nothing can.
    """

    n_rows: int
    columns: tuple[ColumnFinding, ...]
    problem: str = ""

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[ColumnFinding]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> ColumnFinding:
        """The finding on a column, by its name."""
        return {each.name: each for each in self.columns}[name]

    def __repr__(self) -> str:
        return self.table()

    @property
    def undecided(self) -> tuple[ColumnFinding, ...]:
        """The columns that cannot be read without a decision."""
        return tuple(each for each in self.columns if each.needs_decision)

    @property
    def records(self) -> list[dict[str, Any]]:
        """One dictionary per column."""
        return [each.to_dict() for each in self.columns]

    def summary(self) -> str:
        """How many rows and columns there are, and how many of these need a decision."""
        roles = [each.role for each in self.columns]
        named = [f"{count(roles.count(role), role)}" for role in ("input", "output") if role in roles]
        undecided = f"; {len(self.undecided)} of them need a decision" if self.undecided else ""
        found = f" ({', '.join(named)})" if named else ""
        return f"{count(self.n_rows, 'row')}, {count(len(self), 'column')}{found}{undecided}."

    def table(self, width: int | None = None) -> str:
        """The summary and one line per column, cut to ``width`` characters."""
        rows = [HEAD, *((each.name, each.role, each.kind, each.seen, each.remark) for each in self.columns)]
        lines = [[printable(cell, 60) for cell in row] for row in rows]
        widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
        text = []
        for line in lines:
            joined = "  ".join(cell.ljust(wide) for cell, wide in zip(line, widths, strict=True)).rstrip()
            text.append(joined if width is None or len(joined) <= width else joined[: width - 1] + "…")
        return "\n".join([self.summary(), "", *text])

    def advice(self) -> list[str]:
        """A sentence on each column that needs a decision."""
        return [f'"{printable(each.name)}": {each.advice}.' for each in self.undecided]

    def to_frame(self, library: str = "pandas") -> Any:
        """The entries as a frame of pandas or polars."""
        import numpy as np

        names = list(ColumnFinding("", "", "", "").to_dict())
        columns = {name: np.array([each[name] for each in self.records]) for name in names}
        return frame_of(columns, library)

    def to_dict(self) -> dict[str, Any]:
        """Everything in types that JSON has."""
        return {"rows": self.n_rows, "problem": self.problem, "columns": self.records}

    def to_columns(self) -> dict[str, dict[str, Any]]:
        """What ``amiss.read(columns=...)`` takes."""
        return {each.name: each.spec.to_dict() for each in self.columns}

    def to_toml(self) -> str:
        """What ``amiss find --columns`` reads."""
        comments = {each.name: _comment(each) for each in self.columns}
        suggested = {each.name: each.suggested for each in self.columns}
        return toml_text({each.name: replace(each.spec, bare=True) for each in self.columns}, comments, suggested)

    def save(self, path: str | Path) -> None:
        """Write columns.toml."""
        with atomic_write(Path(path)) as stream:
            stream.write(self.to_toml().encode())


def _comment(found: ColumnFinding) -> str:
    if found.needs_decision:
        return f"to be decided: {found.advice}"
    return "; ".join(filter(None, (found.seen, found.remark)))


def why_hopeless(columns: tuple[ColumnFinding, ...], outputs_named: bool) -> str:
    """Why nothing can be done with a table; empty if something can."""
    bad = [each for each in columns if each.role == "output" and each.needs_decision]
    if bad:
        named = first_few([f'"{printable(each.name)}"' for each in bad])
        return f"{named} cannot be {'an output' if len(bad) == 1 else 'outputs'}: {bad[0].advice}"
    usable = [each for each in columns if each.role in ("input", "text")]
    if not usable:
        return "no column can be an input; every one is an output, an identifier, constant or a copy"
    if not outputs_named and len(columns) < 2:
        return "there is one column only; a table needs an input and an output"
    return ""

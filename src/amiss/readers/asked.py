"""What columns.toml says and what options say, as one request; options win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from amiss.errors import DataError, quoted_list
from amiss.readers.columns.settling import Request
from amiss.readers.columns.spec import ColumnSpec
from amiss.readers.select import Selection, as_items, is_named


@dataclass(frozen=True)
class Asked:
    """Which columns are what, by names, globs and what is said of each."""

    outputs: str | Sequence[str] | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    group: str | None = None
    output_kinds: Mapping[str, Any] = field(default_factory=dict)
    specs: Mapping[str, ColumnSpec] = field(default_factory=dict)

    def with_columns(self, specs: Mapping[str, ColumnSpec]) -> Asked:
        """The same, where options leave room for what is said of each column."""
        if not specs:
            return self
        by_option = [
            *self.drop,
            *self.show,
            *self.categorical,
            *self.text,
            *as_items(self.outputs),
            *as_items(self.group),
        ]
        by_option += as_items(self.id)
        free = {name: spec for name, spec in specs.items() if not is_named(name, by_option)}
        roles: dict[str, list[str]] = {}
        for name, spec in free.items():
            role = "text" if not spec.role and spec.kind == "text" else spec.role
            roles.setdefault(role, []).append(name)
        groups, ids = roles.get("group", []), roles.get("id", [])
        for role, names in (("group", groups), ("id", ids)):
            if len(names) > 1:
                raise DataError(f"columns {quoted_list(names)} have role {role!r}; only one can have it")
        kinds = {name: spec.levels or spec.output for name, spec in specs.items() if spec.levels or spec.output}
        spare_id = ids if self.id is not None else []
        return Asked(
            outputs=self.outputs or roles.get("output") or None,
            id=self.id or (ids[0] if ids else None),
            drop=(*self.drop, *roles.get("drop", ()), *spare_id),
            show=(*self.show, *roles.get("show", ())),
            categorical=(*self.categorical, *(name for name, spec in specs.items() if spec.kind == "category")),
            text=(*self.text, *roles.get("text", ())),
            group=self.group or (groups[0] if groups else None),
            output_kinds={**kinds, **self.output_kinds},
            specs=specs,
        )

    def selection(
        self, pictures: str | None, may_drop: str | Sequence[str], *, strict: bool, inputs_elsewhere: bool
    ) -> Selection:
        """What the readers of files have to know."""
        found = Selection.of(self.outputs, self.id, self.drop, self.categorical, pictures, may_drop, self.show)
        found = replace(found, strict=strict, inputs_elsewhere=inputs_elsewhere)
        return replace(found, texts=self.needs_texts, described=tuple(self.specs))

    def request(
        self, selection: Selection, true: tuple[str, ...], false: tuple[str, ...], *, learned: bool
    ) -> Request:
        """What is known of the columns before their cells are looked at."""
        if bool(true) != bool(false):
            raise DataError(
                "say what outputs hold for yes and what for no: give both, true (--true) and false (--false)"
            )
        return Request(
            outputs=(),
            specs=self.specs,
            kinds=self.output_kinds,
            is_category=selection.is_said_categorical,
            is_text=lambda name: is_named(name, self.text),
            is_aside=lambda name: name == self.group or selection.is_shown(name),
            true=true,
            false=false,
            learned=learned,
        )

    @property
    def needs_texts(self) -> tuple[str, ...]:
        """Columns whose texts matter: no reader may make numbers of them on its own."""
        return (*self.text, *(name for name, spec in self.specs.items() if spec.needs_texts))

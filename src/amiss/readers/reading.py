"""Files become one dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from amiss.data.alike_levels import alike_notes
from amiss.data.dataset import Dataset
from amiss.data.output_kinds import Asked as AskedKinds
from amiss.data.output_kinds import OutputColumn, checked_kinds
from amiss.data.validation import as_inputs, as_outputs
from amiss.errors import DataError
from amiss.readers.aside import set_aside
from amiss.readers.asked import Asked
from amiss.readers.columns.columns_file import read_columns
from amiss.readers.embeddings import read_embedding
from amiss.readers.formats import find_format, the_part
from amiss.readers.matching import with_embedding
from amiss.readers.part import concatenated
from amiss.readers.parts import read_parts, with_settled_columns
from amiss.readers.select import as_items
from amiss.readers.source import Source


def read(
    *paths: str | Path,
    outputs: str | Path | Sequence[str] | None = None,
    id: str | None = None,
    drop: str | Sequence[str] = (),
    may_drop: str | Sequence[str] = (),
    show: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    format: str | None = None,
    pictures: str | None = None,
    inputs: str | Path | Sequence[str | Path] = (),
    probabilities: str | Sequence[str] = (),
    group: str | None = None,
    output_kinds: AskedKinds | None = None,
    known: Sequence[OutputColumn] = (),
    columns: str | Path | Mapping[str, Any] | None = None,
    text: str | Sequence[str] = (),
    true: str | Sequence[str] = (),
    false: str | Sequence[str] = (),
    like: tuple[Sequence[str], Sequence[str]] | None = None,
    sheet: str | None = None,
    table: str | None = None,
    encoding: str | None = None,
) -> Dataset:
    """Read one table from one or several files with the same columns.

    Parameters
    ----------
    paths : files, plain or gzipped; ``-`` is standard input
    outputs : which columns are outputs: names or globs (``"tag_*"``), separated by commas or as a
        list, a Mulan XML file, or ``"last:14"``. Svmlight and npz files mark their own outputs.
    id : the column that identifies the rows
    drop : names or globs of columns to leave out
    may_drop : the same, for columns that need not exist
    show : names or globs of columns that are shown beside each row; they are no inputs
    categorical : names or globs of numeric columns that hold categories
    pictures : the column with the paths of picture files, relative to the table; for reports
    inputs : npy or npz files with further inputs, such as embeddings. If the table has an ``id`` and an npz file
        has ``ids``, rows are matched by them, otherwise by position. The columns follow the table's own inputs.
        They are called e0, e1 and so on, or by the ``input_names`` of an npz file.
    probabilities : names or globs of columns that hold your own out-of-fold predictions, one per output: the
        probability that it is 1, or the value of a number that is expected. Of a class there is one per level
        (``p_colour_red``). They are matched to the outputs by name (``p_tag_a``).
    group : the column that says which rows belong together, such as pictures of one patient; not an input
    output_kinds : the kind of each output that is not told by its cells: ``{"dose": "number"}``
    known : the outputs of a fit, by which those of this table are read
    columns : what each column is, as a columns.toml that ``amiss check`` has written, or as a dictionary by name:
        ``{"weight": {"unit": "kg", "decimal": ","}}``. The other parameters win over it. ``Dataset.columns``
        says how columns were read; pass it on to read other files alike.
    text : names or globs of columns of free text, whose most frequent words become inputs
    true, false : what outputs of yes and no hold, where it is not to be seen (``true="1", false="2"``)
    format : csv, tsv, excel, parquet, arrow, sqlite, duckdb, jsonl, json, arff, svmlight or npz; by default the
        file's suffix decides
    like : the inputs and outputs of another table. Where an svmlight file does not mention one of them,
        it is zero in all rows.
    """
    if not paths:
        raise DataError("give at least one file to read")
    beside = [inputs] if isinstance(inputs, str | Path) else inputs
    embedding = concatenated([read_embedding(Source(str(path))) for path in beside]) if beside else None
    asked = Asked(
        outputs=str(outputs) if isinstance(outputs, Path) else outputs,
        id=id,
        drop=as_items(drop),
        show=as_items(show),
        categorical=as_items(categorical),
        text=as_items(text),
        group=group,
        output_kinds=checked_kinds(output_kinds),
        specs=read_columns(columns),
    )
    # Columns of another table are compared later.
    asked = asked if like is not None else asked.with_columns(asked.specs)
    selection = asked.selection(pictures, may_drop, strict=like is None, inputs_elsewhere=embedding is not None)
    if like is not None and embedding is not None:  # the tables need not have its columns
        like = [name for name in like[0] if name not in set(embedding.table.names)], like[1]
    files = []
    for source in (Source.of(str(path), encoding, the_part(sheet, table)) for path in paths):
        found = find_format(source, format)
        # A file that omits columns need not mention all outputs of the other table; it marks its own.
        marks_its_own = like is not None and found.may_omit_columns
        files.append((source, found, replace(selection, outputs=None) if marks_its_own else selection))
    coding = {"true": as_items(true), "false": as_items(false)}
    request = asked.request(selection, **coding, learned=like is not None)
    whole, settled = with_settled_columns(concatenated(read_parts(files), like), request)
    data = whole.split()
    checked = as_outputs(data.Y, kinds=asked.output_kinds, known=known)
    data = set_aside(replace(data, Y=checked), probabilities, asked.group, selection.show)
    data = replace(
        data,
        columns={name: spec.to_dict() for name, spec in settled.specs().items()},
        id_column=asked.id,
        left_out=(*asked.drop, *settled.identifiers),
        notes=(*data.notes, *settled.notes(len(data)), *(() if known else alike_notes(checked))),
    )
    if embedding is not None:
        data = with_embedding(data, embedding)
    nothing_else = data.probabilities is not None and not data.X.names
    if not nothing_else:
        settled.refuse_if_no_input_is_left(data.X)
    return data if nothing_else else replace(data, X=as_inputs(data.X))

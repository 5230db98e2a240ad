"""Lines of CSV by pyarrow, whole columns at a time: the same bytes as :mod:`amiss.output.list_formats` writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amiss.arrays import Floats
from amiss.output.list_columns import Coded, Columns

# Between these, Python and pyarrow write numbers that are not whole alike.
SMALLEST, LARGEST = 1e-4, 1e9


def arrow_lines(columns: Columns, csv_texts: Callable[[Sequence[Any]], list[str]]) -> bytes:
    """The rows as lines; ``csv_texts`` makes texts of what pyarrow does not write as Python does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def texts(column: Any) -> Any:
        if isinstance(column, Coded):
            known = pa.array(csv_texts(column.texts), pa.string())
            codes = pa.array(column.codes.astype(np.int32), mask=column.codes < 0)
            return pa.DictionaryArray.from_arrays(codes, known).cast(pa.string())
        if isinstance(column, np.ndarray) and column.dtype.kind == "f":
            return _of_floats(column, csv_texts)
        if isinstance(column, np.ndarray):
            return pa.array(column).cast(pa.string())
        return pa.array(csv_texts(column), pa.string())

    nothing: dict[str, Any] = {"null_handling": "replace", "null_replacement": ""}
    lines = pc.binary_join_element_wise(*map(texts, columns.values()), ",", **nothing)
    lines = pc.binary_join_element_wise(lines, "\n", "")
    _, ends, content = lines.buffers()
    first, last = np.frombuffer(ends, dtype=np.int32)[[lines.offset, lines.offset + len(lines)]]
    return bytes(memoryview(content)[first:last])


def _of_floats(values: Floats, csv_texts: Callable[[Sequence[Any]], list[str]]) -> Any:
    """Numbers as Python writes them, null where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    size, missing = np.abs(values), np.isnan(values)
    alike = (size >= SMALLEST) & (size < LARGEST) & (values != np.rint(values))
    texts = pa.array(values, mask=missing).cast(pa.string())
    other = ~alike & ~missing
    if not other.any():
        return texts
    return pc.replace_with_mask(texts, pa.array(other), pa.array(csv_texts(values[other].tolist()), pa.string()))

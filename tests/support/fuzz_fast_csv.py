"""Feed mutated CSV files to the fast reader and to the careful one: what the fast one reads, both read alike.

    cd tests && python -m support.fuzz_fast_csv --inputs 100000 --seed 1

Prints as JSON how many files the fast reader read, how many it left to the careful one, and how many both refused.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import random

import numpy as np

from amiss.errors import DataError
from amiss.readers import fast_delimited
from amiss.readers.delimited import read_with_care
from amiss.readers.part import Part
from amiss.readers.select import Selection
from amiss.readers.source import Source
from support import mutations
from support.fuzz_readers import give_up, scratch_folder

PLAIN = (
    b"name,age,ward,in_c,tag_a,tag_b\na1,34,eyes,0.5,0,1\na2,,surgery,1e3,1,0\na3,51.5,NA,-2,1,\na4,7,eyes,0,0,0\n",
    b"name;age;ward;tag_a\r\na1;34; eyes ;0\r\na2;1.5;NA;1\r\na3; 2;-;1\r\n",
    "name\tage\twärd\ttag_a\nü\t1e-3\tä\t0\nv\tNaN\t\t1\nw\t.5\tä\t1\n".encode(),
    b"name,age,ward,tag_a\n" + b"a,0.1,x,1\nb,0.2,y,0\n" * 40,
)
SELECTION = Selection.of("tag_*", "name", categorical="ward")


def outcome(read, source: Source, selection: Selection) -> tuple | str | None:
    """What a reader makes of a file, as something that can be compared."""
    try:
        part: Part | None = read(source, selection, None)
    except DataError as error:
        return str(error)
    if part is None:
        return None
    table = part.table
    assert table.origin is not None
    values = np.where(np.isnan(table.values), np.nan, table.values)  # one NaN for all
    lines = table.origin.number_of_row.tolist()
    return (values.tobytes(), table.names, table.levels, lines, part.ids, part.outputs)


def fuzz(inputs: int, seed: int) -> dict[str, int]:
    rng, counts = random.Random(f"fast {seed}"), collections.Counter()
    fast_delimited.WORTH_IT = 0
    plain = SELECTION, Selection.of("tag_*", "name")
    with scratch_folder() as folder:
        path = pathlib.Path(folder) / "t.csv"
        for number in range(inputs):
            content = rng.choice(PLAIN)
            if number >= len(PLAIN):
                content = mutations.mutated(content, rng, mutations.TEXT_TOKENS)
            path.write_bytes(content)
            fast_delimited.BLOCK = rng.choice((64, 300, 1 << 20))
            selection, source = rng.choice(plain), Source(str(path))
            fast = outcome(fast_delimited.read_fast, source, selection)
            if fast is not None:
                careful = outcome(read_with_care, source, selection)
                if fast != careful:
                    give_up(
                        content, "csv", f"input {number}: the readers differ ({fast!r:.300}, {careful!r:.300})"
                    )
            counts["left" if fast is None else "refused" if isinstance(fast, str) else "read"] += 1
    return {"inputs": inputs, **counts}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print(json.dumps(fuzz(arguments.inputs, arguments.seed)))

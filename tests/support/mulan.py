"""Small tables with the names and the form of the paper's datasets."""

from __future__ import annotations

import numpy as np

from support.tables import make_table


def write_mulan(folder, datasets=("yeast", "birds")):
    """Write each dataset as Mulan has it: a folder with an ARFF file and an XML file of its labels."""
    for number, name in enumerate(datasets):
        X, Y = make_table(130, n_outputs=8, seed=number)
        home = folder / name
        home.mkdir()
        attributes = [
            *(f"@attribute x{i} numeric" for i in range(5)),
            *(f"@attribute y{i} {{0,1}}" for i in range(8)),
        ]
        rows = [
            ",".join([*(f"{x:.6f}" for x in row[:5]), *(f"{y:.0f}" for y in row[5:])]) for row in np.hstack([X, Y])
        ]
        (home / f"{name}.arff").write_text("\n".join(["@relation r", *attributes, "@data", *rows]) + "\n")
        labels = "".join(f'<label name="y{i}"></label>' for i in range(8))
        (home / f"{name}.xml").write_text(
            f'<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">{labels}</labels>'
        )
    return folder

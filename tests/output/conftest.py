"""Reports that several tests open."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.hostile import NAMES
from support.tables import fitted, make_table

from amiss import MCODE
from amiss.evaluation.digits import tagged_digits


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    tagged = tagged_digits()
    data = tagged.data
    detector = MCODE(contamination=0.02).fit(data.X, data.Y)
    path = tmp_path_factory.mktemp("digits") / "report.html"
    pictures = [tagged.picture(row) for row in range(len(data))]
    detector.write_report(path, data.X, data.Y, ids=data.ids, pictures=pictures, n_details=60, title="digits")
    return path, detector, data


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    X, Y = make_table(120, 14, 15)
    inputs = pd.DataFrame(X, columns=NAMES[:14])
    inputs[NAMES[14]] = [NAMES[i % 5] for i in range(120)]
    outputs = pd.DataFrame(Y, columns=NAMES[15:])
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    detector = fitted(inputs, outputs, contamination=0.1)
    ids = [f"{NAMES[i % 30]} {i}" for i in range(120)]
    detector.write_report(path, inputs, outputs, ids=ids, title=NAMES[1])
    return path


def several_kinds(n_rows=240, seed=0):
    """A class with hostile and rare levels, a grade, a count, a number, a tag; rows 10 to 13 have errors."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4))
    noise = 0.4 * rng.normal(size=(n_rows, 3))
    ward = np.argmax(np.column_stack([x[:, 0], x[:, 1], -x[:, 0] - x[:, 1]]) + noise, axis=1)
    names = np.array([NAMES[1], NAMES[17], "n" * 200])
    outputs = pd.DataFrame(
        {
            "ward": names[ward],
            "grade": np.array(["low", "medium", "high"])[np.digitize(x[:, 2] + noise[:, 0], [-0.6, 0.6])],
            "lesions": rng.poisson(np.exp(1 + 0.8 * x[:, 2])),
            "dose": (20 + 5 * x[:, 3] + 3 * x[:, 0] + noise[:, 1]).round(3),
            "tag": (x[:, 0] + noise[:, 2] > 0).astype(int),
        }
    )
    outputs.loc[10, "dose"], outputs.loc[11, "lesions"] = 247.999, 90
    outputs.loc[12, "ward"] = names[(ward[12] + 1) % 3]
    outputs.loc[13, "grade"] = "low" if x[13, 2] > 0 else "high"
    outputs.loc[[50, 51], "ward"] = [NAMES[0], NAMES[2]]  # rare ones
    outputs["dose"] = outputs["dose"].mask(np.arange(n_rows) % 40 == 7)
    return pd.DataFrame(x, columns=list("abcd")), outputs


GRADES = {"grade": ["low", "medium", "high"]}


@pytest.fixture(scope="session")
def several(tmp_path_factory):
    """A report on outputs of several kinds, and the detector."""
    X, Y = several_kinds()
    detector = MCODE(contamination=0.05, output_kinds=GRADES).fit(X, Y)
    path = tmp_path_factory.mktemp("several") / "report.html"
    detector.write_report(path, X, Y, title="several kinds")
    return path, detector, Y

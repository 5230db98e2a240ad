"""Reports that several tests open."""

from __future__ import annotations

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

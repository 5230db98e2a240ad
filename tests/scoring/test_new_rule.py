"""A new rule is one class in one file and one line in a registry: tried on a copy of the package."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.tables import UNMEASURED

import amiss

RULE = """
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Errors:
    name: str = "errors"
    description: str = "the sum of the errors"
    weight_meaning: str = "every output counts alike"
    local: bool = False
    inputs_alone: bool = False

    def global_weights(self, errors, observed, weighting):
        return np.ones(errors.shape[1])

    def local_weights(self, errors, observed, means, near, weighting):
        return np.ones((len(near), errors.shape[1]))

    def terms(self, log_rho, weights):
        return -np.expm1(log_rho)
"""
SAMPLES = Path(__file__).parents[1] / "persistence" / "samples"
BEFORE, AFTER = '"prod": "weighted.PROD",', '"prod": "weighted.PROD", "errors": "errors.Errors",'
SCRIPT = """
import json, sys
import numpy as np
import amiss
from amiss.evaluation import measure

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
Y = (X[:, :3] + 0.3 * rng.normal(size=(120, 3)) > 0).astype(float)
Y[7, 1] = 1 - Y[7, 1]
detector = amiss.MCODE(rule="errors", contamination=0.05).fit(X, Y).calibrate(X, Y)
np.testing.assert_allclose(detector.decision_scores_, (1 - detector.probabilities_).sum(axis=1), atol=1e-12)
assert detector.rule_ == "errors" and detector.labels_.sum() > 0
explanation = detector.explain(7)
assert explanation.suspects[0].output == "y1", str(explanation)
detector.save("m.amiss")
loaded = amiss.load("m.amiss")
assert loaded.rule_ == "errors" and loaded.get_params()["rule"] == "errors"
new = X[:9] + 0.1, 1 - Y[:9]
np.testing.assert_array_equal(loaded.decision_function(*new), detector.decision_function(*new))
np.testing.assert_array_equal(loaded.score_batch(*new).p_values, detector.score_batch(*new).p_values)
assert str(loaded.explain(7)) == str(explanation)
detector.write_report("report.html", X, Y)
choice = measure(X, Y, n_seeds=1)
automatic = amiss.MCODE(rule="auto").fit(X, Y)
assert automatic.rule_ in choice.rules and "errors" in automatic.choice_.why
for sample in sys.argv[1:]:  # saved before there was this rule
    assert "errors" not in amiss.load(sample).choice_.why
header = ",".join([*(f"x{i}" for i in range(4)), *(f"tag_{i}" for i in range(3))])
np.savetxt("t.csv", np.hstack([X, Y]), delimiter=",", header=header, comments="", fmt="%.6g")
print(json.dumps({"home": amiss.__file__, "rules": choice.rules}))
"""


@pytest.fixture
def python(tmp_path):
    """Run Python on a copy of the package that has one rule more."""
    package = tmp_path / "copy" / "amiss"
    shutil.copytree(Path(amiss.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "scoring" / "rules" / "errors.py").write_text(RULE)
    registry = package / "scoring" / "registry.py"
    assert registry.read_text().count(BEFORE) == 1
    registry.write_text(registry.read_text().replace(BEFORE, AFTER))
    environment = {**UNMEASURED, "PYTHONPATH": str(package.parent)}

    def run(*arguments):
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_it_fits_explains_saves_is_measured_and_can_be_chosen_in_the_command_line(python, tmp_path):
    samples = sorted(SAMPLES.glob("*-auto.amiss"))
    assert samples
    told = json.loads(python("-c", SCRIPT, *samples))
    assert told["home"].startswith(str(tmp_path))
    assert told["rules"] == ["mixture", "flip", "lrw", "rw", "prod", "errors"]
    assert "every output counts alike" in (tmp_path / "report.html").read_text()
    command = ("-c", "from amiss.cli import main; main()")
    for verb in ("find", "fit", "explain"):
        assert "[mixture|flip|lrw|rw|prod|errors|auto]" in python(*command, verb, "--help").replace(
            "\n", ""
        ).replace(" ", "")
    found = json.loads(python(*command, "find", "t.csv", "--outputs", "tag_*", "--rule", "errors", "--json"))
    assert found["rule"] == "errors" and found["top"]
    assert "\nerrors " in python(*command, "evaluate", "t.csv", "--outputs", "tag_*", "--seeds", "1")

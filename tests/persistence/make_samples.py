"""Makes the samples of the present format: ``python tests/persistence/make_samples.py``, once for each new format.

A sample is never made again: that it still loads is what it is for. (Those of format 1 were made by amiss 0.1.0,
two of them by the first version that wrote model files.)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "samples"
sys.path.insert(0, str(FOLDER.parents[1]))

from support.kinds import KINDS as OF_OUTPUTS  # noqa: E402
from support.kinds import few_trees, table_of_kinds  # noqa: E402
from support.tables import frame, make_table, mixed_table  # noqa: E402

from amiss import MCODE, load  # noqa: E402
from amiss.persistence import container  # noqa: E402

NEAR = {"n_neighbors": 10}
KINDS = {
    "rows": ("mixed", NEAR),
    "without-rows": ("mixed", {"n_neighbors": 0}),
    "auto": (
        "clear",
        {**NEAR, "rule": "auto", "crossfit": 0.5, "contamination": 0.1},
    ),  # format 1: crossfit="half"
    "fdr": ("wrong", {**NEAR, "rule": "lrw", "fdr": 0.4}),
    "trees": ("clear", {**NEAR, "model": "boosting"}),  # from format 4 on
    "kinds": ("kinds", {**NEAR, "output_kinds": OF_OUTPUTS}),  # from format 5 on
    "kinds-without-rows": ("kinds", {"n_neighbors": 0, "output_kinds": OF_OUTPUTS}),
}


def tables(name: str) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The rows of the fit, and new ones: of noise with everything in it, or of outputs that can be predicted."""
    if name == "mixed":
        return mixed_table(60), mixed_table(12, seed=1)
    if name == "kinds":
        return table_of_kinds(60), table_of_kinds(20, seed=1)
    X, Y = make_table(72)
    if name == "wrong":
        Y[::12] = 1 - Y[::12]
    inputs, outputs = frame(X, Y)
    return (inputs[:60], outputs[:60]), (inputs[60:], outputs[60:])


def records(table: Any) -> Any:
    return json.loads(table.to_json(orient="records", double_precision=15))


def main() -> None:
    for kind, (table, parameters) in KINDS.items():
        path = FOLDER / f"format-{container.FORMAT}-{kind}.amiss"
        if path.exists():
            sys.exit(f"{path} is there already, and old samples stay as they are")
        (X, Y), (new_X, new_Y) = tables(table)
        with few_trees():  # small files
            detector = MCODE(**parameters).fit(X, Y).calibrate(X, Y)
        rows = not kind.endswith("without-rows")
        detector.save(path, rows=rows)
        batch = load(path).score_batch(new_X, new_Y)  # without rows, thresholds and p-values are rounded up
        expected = {
            "X": records(new_X),
            "Y": records(new_Y),
            "scores": batch.scores.tolist(),
            "p_values": batch.p_values.tolist(),
            "threshold": batch.threshold,
            "fit_scores": detector.decision_scores_.tolist() if rows else None,
            "fit_labels": detector.labels_.tolist() if rows else None,
            "fit_p_values": detector.p_values_.tolist() if "fdr" in parameters else None,
            "rule": detector.rule_,
            "precision": None if detector.choice_ is None else detector.choice_.precision.mean(axis=2).tolist(),
        }
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()

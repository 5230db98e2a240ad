"""Score each new batch by yesterday's model: the way of a pipeline.

    python examples/daily_batch.py

The first 1,200 digits are what is known, the others come in later. A pipeline would run the two functions on
different days; between them there is only the model file.
"""

import amiss
from amiss.evaluation.digits import tagged_digits


def fit_model(X: amiss.Table, Y: amiss.Table, path: str) -> None:
    """Once: fit, find out how high unseen rows score, and keep the model."""
    detector = amiss.MCODE().fit(X, Y).calibrate(X, Y)
    detector.save(path)


def score_new_rows(path: str, X: amiss.Table, Y: amiss.Table, ids: tuple[str, ...]) -> None:
    """Every day: score the batch, and report what needs a person."""
    batch = amiss.load(path).score_batch(X, Y, alerts=3)
    for row in batch.scores.argsort()[::-1][: batch.flagged.sum()]:
        print(f"{ids[row]}: score {batch.scores[row]:.2f}, p-value {batch.p_values[row]:.4f}")
    for remark in batch.remarks():
        print(remark)


def main() -> None:
    data = tagged_digits().data
    fit_model(data.X[:1200], data.Y[:1200], "digits.amiss")
    score_new_rows("digits.amiss", data.X[1200:], data.Y[1200:], data.ids[1200:])


if __name__ == "__main__":
    main()

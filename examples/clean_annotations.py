"""Clean an annotated collection: find wrong tags, see what they should be, and write a report.

    python examples/clean_annotations.py

The collection is scikit-learn's handwritten digits with seven tags each. One tag is wrong in 2 % of the pictures.
"""

import numpy as np

import amiss
from amiss.evaluation.digits import tagged_digits


def main() -> None:
    collection = tagged_digits()
    data = collection.data
    detector = amiss.MCODE().fit(data.X, data.Y)

    most_unusual = np.argsort(-detector.decision_scores_, kind="stable").tolist()
    top = most_unusual[:5]
    for row, explanation in zip(top, detector.explain_rows(top), strict=True):
        suspect = explanation.suspects[0]
        print(f"{data.ids[row]}: {suspect.output} is {suspect.observed}, expected {suspect.expected}")

    n_wrong = len(collection.falsified)
    n_found = sum(row in collection.falsified for row in most_unusual[:n_wrong])
    print(f"{n_found} of the {n_wrong} most unusual pictures have a wrong tag.")

    pictures = [collection.picture(row) for row in range(len(data))]
    detector.write_report("digits.html", data.X, data.Y, ids=data.ids, pictures=pictures)
    print("Open digits.html in a browser.")


if __name__ == "__main__":
    main()

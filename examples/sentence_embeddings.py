"""Check labels of sentences by their embeddings, in two files: labels.csv and embeddings.npy.

    python examples/sentence_embeddings.py

With sentence-transformers and a model that it finds on this machine, ``embed`` would be

    SentenceTransformer("all-MiniLM-L6-v2").encode(sentences)

Here counts of letter groups stand in, so that the example runs anywhere. The same in the shell:

    amiss find labels.csv --outputs 'about_*' --id sentence --inputs embeddings.npy
"""

import csv
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import amiss

SUBJECTS = {"weather": ["rain", "snow", "wind", "sun"], "food": ["bread", "soup", "cake", "rice"]}
WORDS = ["we", "had", "some", "a lot of", "more", "no", "today", "again", "yesterday", "at home"]


def embed(sentences: list[str]) -> np.ndarray:
    """One row of numbers per sentence."""
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)).fit_transform(sentences)
    return TruncatedSVD(24, random_state=0).fit_transform(letters).astype(np.float32)


def main() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for number in range(400):
        about = {subject: int(rng.random() < 0.5) for subject in SUBJECTS}
        words = [*rng.choice(WORDS, 3), *(rng.choice(SUBJECTS[name]) for name, there in about.items() if there)]
        rows.append((f"{number}: {' '.join(words)}", about))
    wrong = set(rng.choice(len(rows), 8, replace=False).tolist())
    with Path("labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sentence", *(f"about_{subject}" for subject in SUBJECTS)])
        for number, (sentence, about) in enumerate(rows):
            writer.writerow([sentence, *((1 - value if number in wrong else value) for value in about.values())])
    np.save("embeddings.npy", embed([sentence for sentence, _ in rows]))

    data = amiss.read("labels.csv", outputs="about_*", id="sentence", inputs="embeddings.npy")
    detector = amiss.MCODE(contamination=len(wrong) / len(rows)).fit(data.X, data.Y)
    for row in np.flatnonzero(detector.labels_):
        print("wrong" if row in wrong else "right", "-", data.ids[row])


if __name__ == "__main__":
    main()

"""Free text as words: for the most frequent words of a column, whether a row has them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from amiss.arrays import Floats

MOST_WORDS = 200
FEWEST_ROWS, SMALLEST_SHARE = 2, 0.005  # in fewer rows, nothing can be learned of a word
WORD = re.compile(r"[^\W\d_](?:[\w'’-]*\w)?")
SEVERAL = 4  # words that a text usually has


@dataclass(frozen=True)
class Vocabulary:
    """The words of a column that become inputs: at most 200, those in most of the rows."""

    words: tuple[str, ...]

    def read(self, texts: Sequence[str]) -> Floats:
        """Whether each text has each word: 1 or 0, ``(n_texts, n_words)``.

        >>> Vocabulary(("fever", "cough")).read(["Fever, no cough", "feverish"]).tolist()
        [[1.0, 1.0], [0.0, 0.0]]
        """
        place = {word: position for position, word in enumerate(self.words)}
        found = np.zeros((len(texts), len(self.words)))
        for row, text in enumerate(texts):
            found[row, [place[word] for word in words_of(text) if word in place]] = 1.0
        return found

    @classmethod
    def told(cls, texts: Sequence[str], counts: Sequence[int]) -> Vocabulary:
        """The most frequent words of texts; a word in all rows tells nothing. ``counts`` are the rows of each
        text.

        >>> Vocabulary.told(["fever and cough", "cough"], [3, 1]).words
        ('and', 'fever')
        """
        in_rows: Counter[str] = Counter()
        for text, n_rows in zip(texts, counts, strict=True):
            in_rows.update(dict.fromkeys(words_of(text), n_rows))
        total = sum(counts)
        fewest = max(FEWEST_ROWS, SMALLEST_SHARE * total)
        frequent = sorted((-n, word) for word, n in in_rows.items() if fewest <= n < total)
        return cls(tuple(sorted(word for _, word in frequent[:MOST_WORDS])))


def words_of(text: str) -> set[str]:
    """
    >>> sorted(words_of("No fever; X-ray 12: don't know"))
    ["don't", 'fever', 'know', 'no', 'x-ray']
    """
    return {word.casefold() for word in WORD.findall(text)}


def is_prose(texts: Sequence[str]) -> bool:
    """Whether most texts have several words."""
    return bool(np.median([len(WORD.findall(text)) for text in texts]) >= SEVERAL)

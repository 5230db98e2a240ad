"""Where data comes from."""

from __future__ import annotations

import gzip

from amiss.readers import source


def test_a_line_without_end(refused, monkeypatch):
    monkeypatch.setattr(source, "LONGEST_LINE", 1 << 20)
    content = gzip.compress(b"a,y\n" + b"1" * (1 << 21))
    assert refused(content, "t.csv.gz", outputs="y") == "t.csv.gz, line 2: the line is longer than 1 MB"

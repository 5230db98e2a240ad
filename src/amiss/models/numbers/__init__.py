"""Models of outputs that are numbers or counts: a centre and a spread for every row, kept as plain arrays."""

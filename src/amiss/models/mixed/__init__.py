"""Models of outputs of several kinds: classes, grades, counts and numbers beside tags."""

"""From probabilities to scores: rules, weights, neighbours, and how good each output's model is.

A new rule is one class in ``rules`` and one line in ``registry.py``.
"""

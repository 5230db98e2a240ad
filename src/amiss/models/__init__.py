"""Models of each output given the inputs and the other outputs, and how they are fitted.

A new kind of model implements :class:`~amiss.models.conditional.ConditionalModel` and is fitted in ``fitting.py``.
"""

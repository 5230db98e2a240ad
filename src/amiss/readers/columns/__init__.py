"""What the texts of a column mean: one file per kind, and how a column's kind is told or said.

``numbers.py``, ``dates.py``, ``durations.py``, ``yes_no.py`` and ``words.py`` each have a small class that reads
texts (``read``) and tells from them how they are written (``told``). ``spec.py`` holds what a user says of a
column, and what a model keeps of it. ``telling.py`` decides about one column, ``settling.py`` about a whole
table.
"""

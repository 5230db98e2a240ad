"""What a table holds, before any model is fitted: the role and the kind of every column, and every problem at
once.

``raw.py`` reads a table with all of its columns, ``columns.py`` looks at each, ``sentinels.py`` and
``duplicates.py`` at single points, and ``diagnosis.py`` is what comes of it.
"""

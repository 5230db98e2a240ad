"""Tables in memory: what they are, how arrays and frames become one, and what is refused.

``table.py`` and ``dataset.py`` hold the types. ``convert.py`` turns arrays, frames and lists of labels into
tables, with the help of ``records.py`` also dictionaries and Hugging Face datasets. ``validation.py`` refuses bad
values, ``alignment.py`` puts columns in the order of the fit, and ``fingerprints.py`` hashes the content of rows.
Files are read by :mod:`amiss.readers`; a new reader goes there.
"""

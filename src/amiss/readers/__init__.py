"""Files become a :class:`~amiss.data.dataset.Dataset`: one file per format, all of them listed in ``registry.py``.

A new format goes into a file of its own that defines a :class:`~amiss.readers.format.Format`, and gets one line in
:mod:`amiss.readers.registry`. ``reading.py`` reads, ``source.py`` opens files, ``select.py`` decides which columns
are outputs, ``part.py`` joins the rows of several files. ``embeddings.py`` reads inputs beside the table,
``matching.py`` matches their rows with the table's, and ``array_files.py`` guards against hostile NumPy files.
"""

"""From a table of inputs to the matrix that the models and the neighbour search see.

``encoder`` learns from one table how its columns become numbers and applies it to later tables:
``expansion`` imputes missing values and makes one-hot and indicator columns, then one of the
``scalings`` puts all columns on comparable scales. ``joint`` adds the outputs.

A new scaling is one class in a file of its own under ``scalings/``, and one line in the registry
in ``scalings/__init__.py``; the settings and the command line find it there.
"""

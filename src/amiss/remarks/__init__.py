"""What would mislead a reader of a fit, seen from the table and the finished fit alone: no second fit.

``probes.py`` makes ranks of single inputs of a sample of rows; ``leaks.py`` looks in them for inputs that give an
output away, ``copies.py`` for copied inputs and copied rows, ``identifiers.py`` for inputs that only number the
rows. ``of_fit.py`` says what was found.
"""

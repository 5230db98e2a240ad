"""Bridges to other libraries: cleanlab's way of calling, and results as frames.

``label_issues.py`` has functions that are called as cleanlab's are; ``label_arguments.py`` checks what they are
given. ``frames.py`` makes frames of what a detector found.
"""

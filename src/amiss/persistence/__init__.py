"""Model files: a fitted detector as arrays (safetensors) and JSON, never a pickle.

``container`` writes and opens files, ``fields`` takes out of them what fits, and one file for each stage says
side by side what its types write (``pack``) and how they are read (``unpack``). A new field is one line in a
``pack``, one in the ``unpack`` below it, a new format number in ``container`` and a step in ``migrations``.
"""

from amiss.persistence.model_file import load_fitted, save_fitted

__all__ = ["load_fitted", "save_fitted"]

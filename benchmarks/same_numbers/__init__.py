"""Whether another version of amiss gives the same numbers."""

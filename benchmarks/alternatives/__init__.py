"""Ensembles as one would write them without this library, on the same work: see `__main__`."""

"""Logs of anybody's runs, read and judged: `lopsided.read`.

NumPy and the standard library are enough; TensorBoard's event files and W&B's offline runs take their own packages.
"""

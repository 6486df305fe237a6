"""Logs of anybody's runs, read and judged: `lopsided.read`.

NumPy and the standard library are enough, but for TensorBoard's event files.
"""

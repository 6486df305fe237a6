"""Samples of a task as text or files, for other programs."""

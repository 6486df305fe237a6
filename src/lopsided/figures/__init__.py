"""Figures as data: panels of lines, matrices and surfaces, drawn by `lopsided.report`."""

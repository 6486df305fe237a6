"""Greedy maximum selection: which neuron learns which direction, and in what order (paper B, equation 5).

Repeatedly take the largest entry of the selection matrix a_p |c_kp(0)|^(J-2) over unused neurons k and directions p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Selection(NamedTuple):
    """Entries in the order in which they are taken; n = min(neurons, directions), fewer if the rest is zero."""

    neuron: np.ndarray  # (n,) int
    direction: np.ndarray  # (n,) int
    score: np.ndarray  # (n,) falling

    def neuron_of(self, directions: int) -> np.ndarray:
        """(P,) neuron assigned to each direction, -1 where there is none."""
        found = np.full(directions, -1)
        found[self.direction] = self.neuron
        return found


class Gaps(NamedTuple):
    """(n,) relative distances, entry / largest rival - 1, of each taken entry (paper B, lemma 3.1); inf: no rival."""

    row: np.ndarray
    """Rivals: the same neuron's entries for directions that are taken later, or never."""
    column: np.ndarray
    """Rivals: the entries of neurons still unused, for the same direction."""
    threshold: np.ndarray
    """Rivals: everything that is left when the entry's row and column are gone."""


def selection_matrix(weights: np.ndarray, overlaps: np.ndarray, degree: int) -> np.ndarray:
    """(m, P) matrix a_p |c_kp|^(J-2) of weights (P,) and initial overlaps (m, P).

    With an odd degree a negative overlap is driven to zero and never escapes: its entry is 0.
    """
    c = np.abs(overlaps) if degree % 2 == 0 else np.maximum(overlaps, 0.0)
    return weights * c ** (degree - 2)


def greedy_selection(matrix: np.ndarray) -> Selection:
    """Walk through all entries from the largest down, taking those whose row and column are free: O(mP log mP)."""
    m, directions = matrix.shape
    rows, columns = np.ones(m, bool), np.ones(directions, bool)
    taken = []
    for entry in np.argsort(matrix, axis=None, kind="stable")[::-1]:
        k, p = divmod(int(entry), directions)
        if matrix[k, p] <= 0:
            break
        if rows[k] and columns[p]:
            rows[k] = columns[p] = False
            taken.append((k, p))
            if len(taken) == min(m, directions):
                break
    neuron, direction = np.array(taken, int).reshape(-1, 2).T
    return Selection(neuron, direction, matrix[neuron, direction])


def gaps(matrix: np.ndarray, selection: Selection) -> Gaps:
    """Row, column and threshold gap of every taken entry."""
    left = matrix.copy()
    found = []
    for k, p, score in zip(*selection, strict=True):
        left[k, p] = 0.0
        row, column = left[k].max(), left[:, p].max()
        left[k], left[:, p] = 0.0, 0.0
        found.append([score / rival - 1 if rival > 0 else np.inf for rival in (row, column, left.max())])
    return Gaps(*np.array(found).reshape(-1, 3).T)

"""Which skills a cell's examples use, where they may use several: a sparse table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lopsided.data.words import U, bits, key


class Uses:
    """`cells[e]` uses `skills[e]` `counts[e]` times. (100,000 sets of 20,000 tags would fill 15 GiB as a table.)"""

    def __init__(self, sets: Sequence[Sequence[int]], n_skills: int):
        flat = np.concatenate([np.asarray(many, np.int64) for many in sets])
        cell = np.repeat(np.arange(len(sets)), [len(many) for many in sets])
        entry, counts = np.unique(cell * n_skills + flat, return_counts=True)
        self.shape = len(sets), n_skills
        self.cells, self.skills, self.counts = entry // n_skills, entry % n_skills, counts.astype(float)

    def of_skills(self, values: np.ndarray) -> np.ndarray:
        """(C,) sum over the skills that each cell uses of `values` (R,), as often as they are used."""
        return np.bincount(self.cells, values[self.skills] * self.counts, self.shape[0])

    def of_cells(self, values: np.ndarray) -> np.ndarray:
        """(R,) sum over the cells that use each skill of `values` (C,), as often as they use it."""
        return np.bincount(self.skills, values[self.cells] * self.counts, self.shape[1])

    def examples(self, cell_size: np.ndarray) -> np.ndarray:
        """(R,) examples that use each skill."""
        return np.bincount(self.skills, cell_size[self.cells], self.shape[1]).astype(np.int64)

    def largest(self, values: np.ndarray) -> np.ndarray:
        """(R,) largest of `values` (C,) among the cells that use each skill; 0 where there are none."""
        found = np.zeros(self.shape[1])
        np.maximum.at(found, self.skills, values[self.cells])
        return found

    def ident(self, names: np.ndarray) -> np.ndarray:
        """(C,) uint64: a word for each cell from those (R,) of the skills that it uses."""
        found = np.zeros(self.shape[0], U)
        np.add.at(found, self.cells, names[self.skills] * self.counts.astype(U))
        return bits(key(0, "uses"), found)

    @property
    def most(self) -> float:
        """Skills of the cell that uses most, repeats counted."""
        return float(np.bincount(self.cells, self.counts, self.shape[0]).max())

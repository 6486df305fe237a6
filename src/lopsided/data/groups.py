"""Which example needs which skills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.permutation import LARGEST
from lopsided.data.words import U, bits, key

MOST_CELLS = 10**6


class Groups:
    """The examples of a data set, grouped by the skill that each one needs.

    `skills`: (N,) a label (integer or text) for each example; or (N, K), or N lists, where examples need several;
    entries equal to `unknown` do not count. An example without any label belongs to a skill of its own, `unknown`,
    the last one.
    Raises `InputError` for labels of any other form.

    Examples that need the same skills form a *cell*. With one skill each, cells are skills.
    """

    def __init__(self, skills: Any, unknown: Any = -1):
        rows, cells_of = _cells(skills, unknown)
        labels = sorted({label for row in rows for label in row}, key=lambda x: (isinstance(x, str), x))
        self.names: list[Any] = [*labels, *(["unknown"] if any(not row for row in rows) else [])]
        number = {label: i for i, label in enumerate(labels)}
        sets = [[number[label] for label in row] or [len(labels)] for row in rows]
        self.n_examples, self.n_skills, self.n_cells = len(cells_of), len(self.names), len(sets)
        self.cell = cells_of
        """(N,) cell of each example."""
        self.cell_size = np.bincount(cells_of, minlength=self.n_cells).astype(np.int64)
        self.uses = np.zeros((self.n_cells, self.n_skills)) if self.several(sets) else None
        """(cells, skills) how often a cell's examples use each skill; None where each has one."""
        if self.uses is None:
            order = np.empty(self.n_skills, np.int64)
            order[[s[0] for s in sets]] = np.arange(self.n_cells)
            self._renumber(order)
            self.size = self.cell_size
        else:
            for c, many in enumerate(sets):
                np.add.at(self.uses[c], many, 1.0)
            self.size = (self.uses > 0).T.astype(np.int64) @ self.cell_size
        """(R,) examples of each skill."""

    @staticmethod
    def several(sets: Sequence[Sequence[int]]) -> bool:
        """Whether an example may need more than one skill."""
        return any(len(many) > 1 for many in sets) or len({many[0] for many in sets}) < len(sets)

    def _renumber(self, cell_of_skill: np.ndarray) -> None:
        """Give cells the numbers of their skills."""
        new = np.empty(self.n_cells, np.int64)
        new[cell_of_skill] = np.arange(self.n_cells)
        self.cell = new[self.cell]
        self.cell_size = np.bincount(self.cell, minlength=self.n_cells).astype(np.int64)

    def members(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Examples by cell, each cell's in a random order (so that a prefix is a random subset, and prefixes nest),
        and where each cell begins (cells + 1,)."""
        order = bits(key(seed, "member order"), np.arange(self.n_examples, dtype=U))
        member = np.lexsort((order, self.cell)).astype(np.uint32)
        return member, np.concatenate([[0], np.cumsum(self.cell_size)])

    def occurrences(self, cell_weights: np.ndarray) -> np.ndarray:
        """(R,) share of each skill among the skills that samples need, where cells come as often as
        `cell_weights`."""
        found = cell_weights if self.uses is None else cell_weights @ self.uses
        return found / found.sum()

    def __repr__(self) -> str:
        return f"Groups({self.n_examples:,} examples, {self.n_skills:,} skills)"


def _cells(skills: Any, unknown: Any) -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """Labels of every cell, and each example's cell."""
    if isinstance(skills, np.ndarray) or not isinstance(skills, Sequence) or not any(_is_many(row) for row in skills):
        array = np.asarray(skills)
    else:
        array = None
    if array is not None and array.ndim == 1 and array.size and array.dtype.kind in "iubUS":
        labels, cell = np.unique(array, return_inverse=True)
        rows = [() if label == unknown else (label.item(),) for label in labels]
    else:
        listed = (
            list(skills) if array is None else list(array) if array.ndim == 2 and array.dtype.kind in "iuUS" else []
        )
        if not listed:
            raise InputError("skills: valid is one label (integer or text) for each example, or a list of labels each")
        sets = [tuple(sorted(_plain(x) for x in np.atleast_1d(row) if _plain(x) != unknown)) for row in listed]
        rows = list(dict.fromkeys(sets))
        number = {row: i for i, row in enumerate(rows)}
        cell = np.array([number[row] for row in sets])
    if len(cell) >= LARGEST:
        raise InputError(f"skills: {len(cell):,} examples; at most 2^31")
    if len(rows) > MOST_CELLS:
        raise InputError(f"skills: {len(rows):,} different sets of skills; at most {MOST_CELLS:,}")
    return rows, cell.astype(np.int64)


def _is_many(row: Any) -> bool:
    return isinstance(row, (list, tuple, np.ndarray, set))


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label

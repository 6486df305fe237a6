"""Which example needs which skills."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.epochs import Members
from lopsided.data.permutation import LARGEST
from lopsided.data.recent import Recent
from lopsided.data.uses import Uses
from lopsided.data.words import U, bits, key, words_of

MOST_CELLS = 10**6
"""Each has turns of its own, and memory for them; beyond, the labels were most likely texts."""
MOST_CHARACTERS = 2**24
"""Characters of all labels, each as long as the longest: NumPy's texts are, and one label of 100,000 characters among
100,000 made 40 GB of them. (NumPy also forgets NULs at the end of a text: "cat" and "cat\\0" became one skill.)"""
UNKNOWN = "unknown"
VALID = "valid is one label (integer or text) for each example, or a list of labels each"


class Names(list[Any]):
    """Names of skills. Laws ask of every name that they were given whether it is there; a list is gone through each
    time (40,000 names took 7.6 s). The list knows, and not the laws, whose code is part of every row's digest."""

    @cached_property
    def _known(self) -> frozenset[Any]:
        return frozenset(self)

    def __contains__(self, name: object) -> bool:
        return name in self._known


class Groups:
    """The examples of a data set, grouped by the skill that each one needs.

    `skills`: (N,) a label (integer or text) for each example; or (N, K), or N lists, where examples need several;
    entries equal to `unknown`, None and NaN do not count. An example without any label belongs to a skill of its own,
    "unknown", the last one.
    Raises `InputError` for labels of any other form.

    `lengths`: (N,) tokens of each example, or what else it is counted in. Shapes then say shares of tokens: a skill
    with long examples comes as a sample less often. Only where each example needs one skill.

    Examples that need the same skills form a *cell*. With one skill each, cells are skills.

    >>> import lopsided.data as ld
    >>> groups = ld.Groups(["add", "carry", "add", None])
    >>> groups.names, groups.size.tolist()
    (['add', 'carry', 'unknown'], [2, 1, 1])
    """

    def __init__(self, skills: Any, unknown: Any = -1, lengths: Any = None):
        rows, cells_of = _cells(skills, unknown)
        labels = sorted({label for row in rows for label in row}, key=_in_order)
        if any(not row for row in rows) and UNKNOWN in labels:
            raise InputError(f"skills: {UNKNOWN!r} is the skill of examples without a label; name yours differently")
        self.names: list[Any] = Names([*labels, *([UNKNOWN] if any(not row for row in rows) else [])])
        number = {label: i for i, label in enumerate(labels)}
        sets = [[number[label] for label in row] or [len(labels)] for row in rows]
        self.n_examples, self.n_skills, self.n_cells = len(cells_of), len(self.names), len(sets)
        self.cell = cells_of
        """(N,) cell of each example."""
        self.cell_size = np.bincount(cells_of, minlength=self.n_cells).astype(np.int64)
        self.uses = Uses(sets, self.n_skills) if self.several(sets) else None
        """How often a cell's examples use each skill; None where each has one."""
        if self.uses is None:
            order = np.empty(self.n_skills, np.int64)
            order[[s[0] for s in sets]] = np.arange(self.n_cells)
            self._renumber(order)
            self.size = self.cell_size
        else:
            self.size = self.uses.examples(self.cell_size)
        """(R,) examples of each skill; its tokens where `lengths` are given."""
        self.mean_length: np.ndarray | None = None
        """(R,) tokens of a skill's average example, or None."""
        if lengths is not None:
            self._weigh(lengths)
        self._members: Recent[Members] = Recent(2)

    def _weigh(self, lengths: Any) -> None:
        found = np.asarray(lengths)
        if (
            found.shape != (self.n_examples,)
            or found.dtype.kind not in "iuf"
            or not (np.isfinite(found) & (found > 0)).all()
        ):
            raise InputError(f"lengths: a number above 0 for each of the {self.n_examples:,} examples")
        if self.uses is not None:
            raise InputError("lengths: shares of tokens are defined where each example needs one skill")
        self.size = np.bincount(self.cell, found, minlength=self.n_cells)
        self.mean_length = self.size / self.cell_size

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

    def members(self, seed: int) -> Members:
        """Examples by cell, each cell's in a random order (so that a prefix is a random subset, and prefixes nest),
        whatever other cells there are. Streams of one seed share them."""
        return self._members.get(seed, lambda: self._in_random_order(seed))

    def _in_random_order(self, seed: int) -> Members:
        begins = np.concatenate([[0], np.cumsum(self.cell_size)])
        by_cell = np.argsort(self.cell, kind="stable")
        cell = self.cell[by_cell]
        rank = np.arange(self.n_examples) - begins[cell]
        order = bits(key(seed, "member order"), self.ident[cell] + rank.astype(U))
        return Members(by_cell[np.lexsort((order, cell))].astype(np.uint32), begins)

    @cached_property
    def ident(self) -> np.ndarray:
        """(C,) uint64: a word for each cell that depends on its skills' names alone."""
        names = words_of(self.names)
        return names if self.uses is None else self.uses.ident(names)

    def ranks(self, by: str, seed: int) -> np.ndarray:
        """(R,) rank of each skill, from 1: `by` frequency (the most frequent first), at random, or as given."""
        number = np.arange(self.n_skills)
        if by == "given":
            return number + 1.0
        first = -self.size if by == "frequency" else bits(key(seed, "rank order"), number.astype(U))
        found = np.empty(self.n_skills)
        found[np.lexsort((number, first))] = number + 1.0
        return found

    def occurrences(self, cell_weights: np.ndarray) -> np.ndarray:
        """(R,) share of each skill among the skills that samples need, where cells come as often as
        `cell_weights`."""
        found = cell_weights if self.uses is None else self.uses.of_cells(cell_weights)
        return found / found.sum()

    def __repr__(self) -> str:
        return f"Groups({self.n_examples:,} examples, {self.n_skills:,} skills)"


def _cells(skills: Any, unknown: Any) -> tuple[list[tuple[Any, ...]], np.ndarray]:
    """Labels of every cell, and each example's cell."""
    unknown = _plain(unknown)
    skills = skills.to_pylist() if hasattr(skills, "to_pylist") else skills  # of Arrow
    skills = skills.tolist() if isinstance(skills, np.ma.MaskedArray) else skills  # None where it is masked
    # Columns of pandas, Polars and PyTorch: of texts they become arrays of objects, which may end in "\\0".
    skills = np.asarray(skills) if hasattr(skills, "__array__") and not isinstance(skills, np.ndarray) else skills
    if isinstance(skills, bytes | str):
        raise InputError(f"skills: {skills[:40]!r} is one text; {VALID}")
    array = _as_array(skills)
    if array is not None and array.dtype.kind == "S" and array is not skills:
        raise InputError(f"skills: are bytes, whose last zeros NumPy leaves out; {VALID}")
    if array is not None and array.ndim == 1 and array.size and array.dtype.kind in "iubUS":
        labels, cell = np.unique(array, return_inverse=True)
        rows = [() if label == unknown else (label.item(),) for label in labels]
    elif array is None and _are_texts(skills):
        cell, number = np.empty(len(skills), np.int64), {}
        for i, label in enumerate(skills):
            cell[i] = number.setdefault(label, len(number))
        rows = [() if label == unknown else (label,) for label in number]
    else:
        listed = (
            list(skills) if array is None else list(array) if array.ndim == 2 and array.dtype.kind in "iuUS" else []
        )
        if not listed:
            raise InputError(f"skills: {VALID}")
        sets = [_labels(row, unknown) for row in listed]
        rows = list(dict.fromkeys(sets))
        number = {row: i for i, row in enumerate(rows)}
        cell = np.array([number[row] for row in sets])
    if len(cell) >= LARGEST:
        raise InputError(f"skills: {len(cell):,} examples; at most 2^31")
    if len(rows) > MOST_CELLS:
        raise InputError(f"skills: {len(rows):,} different sets of skills; at most {MOST_CELLS:,}")
    return rows, cell.astype(np.int64)


def _as_array(skills: Any) -> np.ndarray | None:
    """(N,) or (N, K) labels of one type; None for lists, and where types differ or some are missing. (A column of text
    of pandas or of Arrow is an array of objects.)"""
    if isinstance(skills, Sequence) and any(_is_many(row) or row is None for row in skills):
        return None
    if _are_texts(skills) and (
        any(label.endswith("\0") for label in skills) or len(skills) * max(map(len, skills)) > MOST_CHARACTERS
    ):
        return None
    array = np.asarray(skills)
    if array.dtype.kind == "U" and isinstance(skills, Sequence) and not all(isinstance(x, str) for x in skills):
        return None  # NumPy made texts of numbers
    if array.dtype.kind == "O" and array.ndim == 1:
        return np.array(array.tolist()) if all(isinstance(label, str) for label in array) else None
    # A column of integers with missing ones is one of floats.
    return None if array.dtype.kind == "f" and array.ndim == 1 and array.size else array


def _are_texts(skills: Any) -> bool:
    """Whether it is a list, or an array of objects, of texts alone."""
    listed = isinstance(skills, Sequence) or (isinstance(skills, np.ndarray) and skills.dtype.kind == "O")
    return listed and len(skills) > 0 and all(isinstance(label, str) for label in skills)


def _labels(row: Any, unknown: Any) -> tuple[Any, ...]:
    """The labels of an example, sorted, without those that are missing. Raises `InputError` for any of another type."""
    found = []
    for label in map(_plain, row if _is_many(row) else [row]):
        if _is_missing(label):
            continue
        if isinstance(label, float) and label.is_integer():
            label = int(label)
        if type(label) is type(unknown) and label == unknown:
            continue
        if not isinstance(label, (int, str)):
            raise InputError(f"skills: {label!r} is a {type(label).__name__}; {VALID}")
        found.append(label)
    return tuple(sorted(found, key=_in_order))


def _in_order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def _is_missing(label: Any) -> bool:
    of_pandas = getattr(sys.modules.get("pandas"), "NA", None)  # it equals nothing, and has no truth value
    return label is None or label is of_pandas or (isinstance(label, float) and label != label)


def _is_many(row: Any) -> bool:
    return isinstance(row, (list, tuple, set, frozenset)) or (isinstance(row, np.ndarray) and row.ndim > 0)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, (np.generic, np.ndarray)) else label

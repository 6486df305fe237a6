"""Grain's own plug for mixing: `grain.MapDataset.select_from_datasets([data], GrainSelection(stream))`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.data.stream import Stream

_Base: Any = object
for _module in ("grain.transforms", "grain._src.python.dataset.base"):  # where it is depends on Grain's version
    try:
        _Base = importlib.import_module(_module).DatasetSelectionMap
        break
    except (ImportError, AttributeError):
        continue


class GrainSelection(_Base):
    """Position of the run -> (number of the data set, index of the example). Stateless, and copied to workers as it is.

    `sizes`: examples of each data set, in the order in which Grain is given them; the stream's examples are those of
    all, one data set after the other. Raises `InputError` for sizes that are not those of the stream's examples.
    """

    def __init__(self, stream: Stream, sizes: Sequence[int] = ()):
        self.stream = stream
        self._ends = np.cumsum(list(sizes) or [stream.n_examples])
        if self._ends[-1] != stream.n_examples or min(np.diff(self._ends, prepend=0)) < 1:
            raise InputError(f"sizes = {tuple(sizes)}: have to sum to the {stream.n_examples:,} examples of the stream")

    def __len__(self) -> int:
        return self.stream.total

    def __getitem__(self, position: int) -> tuple[int, int]:
        index = int(self.stream.at(np.array([position]))[0])
        number = int(np.searchsorted(self._ends, index, side="right"))
        return number, index - int(self._ends[number - 1] if number else 0)

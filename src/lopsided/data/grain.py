"""Grain's own plug for mixing: `grain.MapDataset.select_from_datasets([data], GrainSelection(stream))`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from lopsided.data.stream import Stream

_Base: Any = object
for _module in ("grain.transforms", "grain._src.python.dataset.base"):  # where it is depends on Grain's version
    try:
        _Base = importlib.import_module(_module).DatasetSelectionMap
        break
    except (ImportError, AttributeError):
        continue


class GrainSelection(_Base):
    """Position of the run -> (data set 0, index of the example). Stateless, and copied to workers as it is."""

    def __init__(self, stream: Stream):
        self.stream = stream

    def __len__(self) -> int:
        return self.stream.total

    def __getitem__(self, position: int) -> tuple[int, int]:
        return 0, int(self.stream.at(np.array([position]))[0])

"""TensorBoard's event files; takes the package `tensorboard`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import Log, ReadArguments
from lopsided.logs.run import Points


def read(path: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The scalars of one event file; of a folder with several, each is a part of one run."""
    try:
        module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    except ImportError:
        raise InputError(f"{path}: TensorBoard's event files take `pip install tensorboard`") from None
    events = module.EventAccumulator(str(path), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    metrics = {}
    for tag in events.Tags()["scalars"]:
        rows = events.Scalars(tag)
        last = {row.step: row for row in rows}
        kept = [last[step] for step in sorted(last)]
        stamps = np.array([row.wall_time for row in kept])
        begins = events.FirstEventTimestamp()
        metrics[tag] = Points(np.array([row.step for row in kept], float), np.array([row.value for row in kept]),
                              stamps - begins)  # fmt: skip
    for tag in events.Tags()["tensors"]:  # what TensorFlow 2 and some loggers write
        rows = events.Tensors(tag)
        values = [np.asarray(_number(row.tensor_proto)) for row in rows]
        if all(value.size == 1 for value in values):
            metrics[tag] = Points(np.array([row.step for row in rows], float), np.array([float(v) for v in values]),
                                  np.array([row.wall_time for row in rows]) - events.FirstEventTimestamp())  # fmt: skip
    return [Log(path, path.parent.name, metrics, {})]


def _number(proto: Any) -> Any:
    return importlib.import_module("tensorboard.util.tensor_util").make_ndarray(proto)

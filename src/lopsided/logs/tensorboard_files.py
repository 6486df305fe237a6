"""TensorBoard's event files; takes the package `tensorboard`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import Log
from lopsided.logs.points import points_of

PARTS = "events.out.tfevents.*"
"""Names that TensorBoard's writers give. A run that is resumed goes on in a file of its own."""


def together(paths: Sequence[Path]) -> dict[Path, list[Path]]:
    """The files by the first one, event files of one folder together."""
    first: dict[Path, Path] = {}
    found: dict[Path, list[Path]] = {}
    for path in paths:
        of = first.setdefault(path.parent / PARTS if path.match(PARTS) else path, path)
        found.setdefault(of, []).append(path)
    return found


def read(files: Sequence[Path], notes: list[str]) -> list[Log]:
    """The scalars of event files of one folder: of one run, as far as each goes on after the one before it; a file that
    begins where a run began is of another one."""
    try:
        module = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
    except ImportError:
        raise InputError(f"{files[0]}: TensorBoard's event files take `pip install tensorboard`") from None
    runs: list[list[_Scalars]] = []
    for part in sorted((_scalars(module, file) for file in files), key=lambda part: part.begins):
        if runs and part.first > runs[-1][0].first:
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_log(parts, notes) for parts in runs]


def _log(parts: Sequence[_Scalars], notes: list[str]) -> Log:
    path = parts[0].file
    if len(parts) > 1:
        notes.append(f"{path.name}: one run with {len(parts)} event files, the later ones of which go on")
    metrics = {}
    for tag in dict.fromkeys(tag for part in parts for tag in part.rows):
        steps, values, stamps = np.concatenate([part.rows[tag] for part in parts if tag in part.rows]).T
        metrics[tag] = points_of(steps, values, stamps - parts[0].begins, tag, path, notes)
    return Log(path, path.parent.name, metrics, {})


class _Scalars(NamedTuple):
    """What one event file says."""

    file: Path
    begins: float
    """When it was begun, in seconds since 1970."""
    rows: dict[str, np.ndarray]
    """By tag: (T, 3) steps, values and times, the last value of a step alone."""

    @property
    def first(self) -> float:
        """The first step of all."""
        return min((float(of[0, 0]) for of in self.rows.values()), default=np.inf)


def _scalars(module: Any, file: Path) -> _Scalars:
    events = module.EventAccumulator(str(file), size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    rows = {tag: [(e.step, e.value, e.wall_time) for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:  # what TensorFlow 2 and some loggers write
        found = [(e.step, np.asarray(_number(e.tensor_proto)), e.wall_time) for e in events.Tensors(tag)]
        if all(value.size == 1 and value.dtype.kind in "biuf" for _, value, _ in found):  # others are texts, images
            rows[tag] = [(step, float(value.item()), at) for step, value, at in found]
    kept = {tag: np.array(list({each[0]: each for each in sorted(of, key=lambda e: e[0])}.values()), float)
            for tag, of in rows.items() if of}  # fmt: skip
    return _Scalars(file, events.FirstEventTimestamp() if kept else np.inf, kept)


def _number(proto: Any) -> Any:
    return importlib.import_module("tensorboard.util.tensor_util").make_ndarray(proto)

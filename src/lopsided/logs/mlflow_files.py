"""MLflow's file store: mlruns/EXPERIMENT/RUN/metrics/NAME, a line `timestamp value step` for each value."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import Log, ReadArguments
from lopsided.logs.run import Points


def is_run(folder: Path) -> bool:
    """Whether a folder is a run of MLflow's."""
    return (folder / "metrics").is_dir() and (folder / "meta.yaml").is_file()


def read(folder: Path, asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The run in a folder. Raises `InputError`, with file and line, for a line that is none."""
    metrics = {}
    for file in sorted(path for path in (folder / "metrics").rglob("*") if path.is_file()):
        rows = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            try:
                stamp, value, step = line.split()[:3]
                rows.append((int(step), float(value), int(stamp) / 1000))
            except ValueError:
                raise InputError(f"{file}, line {number}: is no value of MLflow's") from None
        steps, values, stamps = (
            np.array(column, float) for column in zip(*sorted(rows, key=lambda r: r[0]), strict=True)
        )
        last = np.append(steps[1:] != steps[:-1], True)
        name = file.relative_to(folder / "metrics").as_posix()
        metrics[name] = Points(steps[last], values[last], (stamps - stamps.min())[last])
    config = {
        path.name: path.read_text().strip()
        for kind in ("params", "tags")
        for path in sorted((folder / kind).glob("*") if (folder / kind).is_dir() else ())
        if path.is_file()
    }
    return [Log(folder, str(config.get("mlflow.runName", folder.name)), metrics, config)]

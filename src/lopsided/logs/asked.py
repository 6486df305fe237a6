"""What `lopsided.read` is told: where an arm and a seed are said, and which columns are what."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lopsided.core.errors import InputError

STEPS = ("step", "_step", "global_step", "iteration", "iter", "Step", "steps", "update", "epoch")
"""Columns that count, the first of them that a log has."""
TIMES: Mapping[str, float] = {
    "seconds": 1.0, "wall_time": 1.0, "_runtime": 1.0, "runtime": 1.0, "elapsed": 1.0, "time": 1.0, "train_time": 1.0,
    "train_ms": 1e-3, "ms": 1e-3, "_timestamp": 1.0, "timestamp": 1.0, "Relative Time (Process)": 1.0,
    "Relative Time (Wall)": 1.0,
}  # fmt: skip
"""Columns that say when, and their unit in seconds. (Clock times are counted from a run's first one.)"""
# Seconds: September 2001. A first clock time above is a date, and one below is a run's own time.
SINCE_1970 = 1e9
RUNS = ("run", "run_id", "run_name", "Name", "name", "trial")
ARMS = ("arm", "variant", "method")
SEEDS = ("seed", "random_seed", "data_seed")
LONG = (("metric", "value"), ("name", "value"), ("tag", "value"), ("key", "value"))
Where = str | Callable[..., Any] | None


class ReadArguments(NamedTuple):
    """Arguments of `lopsided.read`."""

    arm: Where = None
    seed: Where = None
    run: str | None = None
    step: str | None = None
    seconds: str | None = None
    task: Where = None
    pattern: str | None = None
    """A regular expression with named groups, for a log in text."""


PLACES = ("arm", "seed", "task")


class Log(NamedTuple):
    """What one reader found of one run, before arms and seeds are known."""

    path: Path
    run: str
    metrics: dict[str, Any]
    """`lopsided.logs.run.Points` by metric."""
    config: dict[str, Any]
    counts: str = ""
    """The column that its steps come from; empty for logs of a tool whose steps are always steps."""


def place(where: Where, log: Log, found: Mapping[str, str], what: str) -> Any:
    """What `arm`, `seed` or `task` says of a log: a key of its configuration (or a column), a part of its path by
    `{arm}`, `{seed}`, `{task}` (`found`), or what a function of its path and configuration returns. None where nothing
    does."""
    if callable(where):
        return where(log.path, log.config)
    if what in found:
        return found[what]
    if where is None or "{" in where:
        return None
    if where in log.config:
        return log.config[where]
    known = ", ".join(map(str, log.config)) or "none"
    raise InputError(f"{what} = {where!r}: {log.path} has no such column or setting; it has {known}")


def parts_of(path: Path, template: str) -> dict[str, str]:
    """The named parts of a path by a template of its last parts: "{arm}/lr_{lr}/seed_{seed}.csv", or with `*` for what
    does not matter. `{arm}`, `{seed}` and `{task}` say where a run belongs, other names are settings. Raises
    `InputError` where the path does not fit."""
    pieces = re.split(r"(\{[A-Za-z_]\w*\}|\*)", template)
    pattern = ""
    for piece in pieces:
        name = piece[1:-1]
        if piece == "*":
            pattern += "[^/]*"
        elif piece[:1] == "{" and name.isidentifier():
            pattern += f"(?P={name})" if f"(?P<{name}>" in pattern else f"(?P<{name}>[^/]+)"
        else:
            pattern += re.escape(piece)
    found = re.search(f"(?:^|/){pattern}$", path.as_posix())
    if found is None:
        raise InputError(f"{template!r}: {path} does not end like that")
    return found.groupdict()

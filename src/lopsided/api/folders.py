"""What tells the arms of logs apart where nobody says it: settings, and the folders that runs lie in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path

import numpy as np

from lopsided.core.errors import InputError
from lopsided.logs.asked import Log
from lopsided.stats.times import falls_by_name

NUMBERED = re.compile(r"(seed|run|rep|trial|s)?[-_ ]?\d+", re.I)
"""Names of folders that number runs."""


def settings_alone(logs: Sequence[Log]) -> list[Log]:
    """Logs without settings that are measurements of some run.

    A column of numbers that stays within each run of a file may be a setting, a learning rate perhaps. A metric stays,
    too, where a run is stuck or was evaluated once; but it moves within another run, or is different in each.
    """
    columns = {name for log in logs for name in log.config if name in log.metrics}
    moving = {name for name in columns if _is_result(logs, name) or any(_moves(log, name) for log in logs)}
    moving |= {name for name in columns - moving if _own_in_each(logs, name)}
    return [log._replace(config={k: v for k, v in log.config.items() if k not in moving}) for log in logs]


def _moves(log: Log, name: str) -> bool:
    return name in log.metrics and len(np.unique(log.metrics[name].value)) > 1


def _is_result(logs: Sequence[Log], name: str) -> bool:
    """Whether a column of a table of results, with one row for each run, is a loss or an accuracy by its last word.
    (`aux_loss_weight` is a setting.) Rounded ones are often the same in several runs, as settings are."""
    once = all(len(log.metrics[name].value) <= 1 for log in logs if name in log.metrics)
    return once and falls_by_name(re.split(r"[^A-Za-z0-9]+", name)[-1]) is not None


def _own_in_each(logs: Sequence[Log], name: str) -> bool:
    """Whether runs that were evaluated once seldom share a value."""
    found = [log.metrics[name].value for log in logs if name in log.metrics]
    values = {str(each[0]) for each in found if len(each)}
    return all(len(each) <= 1 for each in found) and 2 * len(values) > len(found) > 1


def folders_of(logs: Sequence[Log], configured: bool) -> dict[Path, str]:
    """The arm that each log's folder names; none where folders do not tell arms apart: there is one, or, if settings do
    (`configured`), they number runs or hold one run each. Raises `InputError` where nothing else tells arms apart and
    folders only number runs."""
    at = {log.path: _folder(log.path) for log in logs}
    folders = set(at.values())
    if len(folders) < 2 or (configured and len(folders) == len(logs)):
        return {}
    named = _names(folders)
    if len(set(named.values())) < 2:
        return {}
    if all(NUMBERED.fullmatch(folder.name) for folder in folders):
        if configured:
            return {}
        raise InputError(
            f"runs lie in folders that are called {at[logs[0].path].name!r} and so on, which name seeds and no arms: "
            'arm="{arm}/{seed}/FILE", or --arm-from "{arm}/{seed}/FILE", says which part of a path is what'
        )
    return {path: named[folder] for path, folder in at.items()}


def _folder(path: Path) -> Path:
    """The folder that tells a file's run apart: above that of a checkpoint."""
    return path.parent.parent if path.parent.name.startswith("checkpoint-") else path.parent


def _names(folders: set[Path]) -> dict[Path, str]:
    """Names of folders: their last part, or, where that comes below several others, as much of the path as is different
    and does not number runs."""
    columns = zip(*(folder.parent.parts for folder in folders), strict=False)
    shared = sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, columns))
    above = {f: [part for part in f.parent.parts[shared:] if not NUMBERED.fullmatch(part)] for f in folders}
    last = {folder: folder.name for folder in folders}
    whole = {folder: "/".join([*above[folder], last[folder]]) for folder in folders}
    return last if len(set(whole.values())) == len(set(last.values())) else whole

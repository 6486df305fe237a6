"""Logs of runs, whatever wrote them."""

from __future__ import annotations

import glob as globbing
import os
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lopsided.api.curves import Ends
from lopsided.api.folders import folders_of, settings_alone
from lopsided.api.runs import Runs, named
from lopsided.core.errors import InputError
from lopsided.logs import csv_files, json_files, mlflow_files, tensorboard_files, text_files, trackio_files, wandb_files
from lopsided.logs.asked import ARMS, PLACES, RUNS, SEEDS, STEPS, Log, ReadArguments, Where, parts_of, place
from lopsided.logs.run import Run

Reader = Callable[[Path, ReadArguments, list[str]], list[Log]]
NAMES: Mapping[str, Reader] = {
    "trainer_state.json": json_files.read_trainer,
    "*tfevents*": lambda path, asked, notes: tensorboard_files.read([path], notes),
    "*.csv": csv_files.read,
    "*.tsv": csv_files.read,
    "*.csv.gz": csv_files.read,
    "*.jsonl": json_files.read_lines,
    "*.ndjson": json_files.read_lines,
    "*.jsonl.gz": json_files.read_lines,
    "*.db": trackio_files.read,
    "*.wandb": wandb_files.read,
}
"""Readers by the names of the files that they take."""
CHECKPOINTS = ("*.safetensors", "*.pt", "*.ckpt", "*.bin", "*.h5", "*.keras")


def read(
    paths: str | Path | Iterable[str | Path],
    arm: Where = None,
    seed: Where = None,
    *,
    run: str | None = None,
    step: str | None = None,
    seconds: str | None = None,
    task: Where = None,
    pattern: str | None = None,
    ends: Ends = "alike",
    falling: bool | None = None,
) -> Runs:
    """Read logs: CSV and JSON lines (long or wide), Lightning's and Keras's CSVLogger, Trainer's `trainer_state.json`,
    TensorBoard's event files, tables that W&B exports and its offline runs, MLflow's file store, trackio's SQLite, and
    text by a `pattern`.

    `paths`: a file, a folder, a pattern with `*` and `**`, or several. `arm` and `seed`: a column or a setting of the
    run's configuration; a template of the path, "{arm}/seed_{seed}/metrics.csv", of which one says all (other names in
    it, "{lr}", are settings); or a function of path and configuration. Left out, a seed is what is called so, and arms
    are told apart by the rest of the configuration, or by folder. `task`: likewise, where runs are of several tasks
    (`Runs.over_tasks`). `run`, `step`, `seconds`: columns, where their names do not say what they are. `pattern`: for
    logs in text, a regular expression with named groups. `ends="own"`: a rule of their own ended runs (early stopping),
    so that last values may be compared though they lie at different places. `falling`: whether the metric gets smaller
    with learning, where its name does not tell. Raises `InputError` in one line for what
    cannot be read; what was assumed is in `notes`.

    >>> import lopsided as lop, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for name, slope in (("old", 1.0), ("new", 0.5)):
    ...     for s in range(2):
    ...         _ = (folder / f"{name}-{s}.csv").write_text(f"step,loss\\n0,4\\n100,{4 - slope - s / 10}\\n")
    >>> print(lop.read(folder, arm="{arm}-{seed}.csv", seed="{arm}-{seed}.csv"))
    4 runs of 2 arms; metrics: loss
      new: 2 runs, seeds 0, 1
      old: 2 runs, seeds 0, 1
    note: arms by path, seeds by path
    note: 4 files: steps from 'step'
    """
    asked = ReadArguments(arm, seed, run, step, seconds, task, pattern)
    notes: list[str] = []
    files = tensorboard_files.together(_files(paths, pattern is not None))
    logs = [log for path, parts in files.items() for log in _read(path, parts, asked, notes)]
    if not logs:
        raise InputError(f"{paths}: holds no log that can be read")
    _require_one_unit(logs)
    logs = settings_alone(logs)
    runs, said, settings = _placed(logs, asked)
    return replace(named(runs, [*said, *_together(notes)], settings), ends=ends, falling=falling)


def _read(path: Path, parts: Sequence[Path], asked: ReadArguments, notes: list[str]) -> list[Log]:
    """The runs of a file; of event files, of all `parts` that lie in its folder."""
    if path.is_dir():
        return mlflow_files.read(path, asked, notes)
    if asked.pattern is not None:
        return text_files.read(path, asked, notes)
    reader = next((reader for name, reader in NAMES.items() if path.match(name)), None)
    if reader is None:
        raise InputError(f"{path}: valid are {', '.join(NAMES)}, a folder of MLflow's, or text with pattern=")
    try:
        return tensorboard_files.read(parts, notes) if len(parts) > 1 else reader(path, asked, notes)
    except (OSError, EOFError, zlib.error) as error:  # the last two: of a packed file that is cut off or damaged
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _files(paths: str | Path | Iterable[str | Path], text: bool) -> list[Path]:
    """Files, and folders of MLflow's runs. Raises `InputError` where there is nothing to read."""
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found: list[Path] = []
    for each in given:
        at = Path(each)
        if at.is_dir():
            inside = _texts(at) if text else _inside(at)
            if not inside and text:
                raise InputError(f"{at}: holds no {', '.join(TEXT)}; name its files by a pattern, {str(at / '*')!r}")
            if not inside:
                weights = [path for path in _below(at) if any(map(path.match, CHECKPOINTS))]
                what = f"holds checkpoints ({weights[0].name}), and no log" if weights else "holds no log"
                raise InputError(f"{at}: {what} that can be read; valid are {', '.join(NAMES)}")
            found += inside
        elif at.is_file():
            found.append(at)
        else:
            matched = sorted(map(Path, globbing.glob(str(each), recursive=True)))
            there = [path for path in matched if path.is_file() or mlflow_files.is_run(path)]
            if not there:
                raise InputError(f"{each}: no such file, and no file fits it as a pattern")
            found += there
    latest = _latest_states(found)
    return [path for path in dict.fromkeys(found) if path.name != "trainer_state.json" or path in latest]


TEXT = ("*.log", "*.txt", "*.out", "*.err")
"""Files of a folder that are read as text with `pattern=`."""


def _texts(folder: Path) -> list[Path]:
    return [path for path in _below(folder) if any(map(path.match, TEXT)) and path.is_file()]


def _inside(folder: Path) -> list[Path]:
    """What a folder holds that a reader takes; inside MLflow's runs nothing else is looked at."""
    every = _below(folder)
    runs = [path.parent for path in every if path.name == "meta.yaml" and mlflow_files.is_run(path.parent)]
    files = [path for kind in NAMES for path in every if fnmatch(path.name, kind) and path.is_file()]
    return [*runs, *(path for path in files if not any(path.is_relative_to(run) for run in runs))]


def _below(folder: Path) -> list[Path]:
    """All files of a folder, also behind links to other folders. Each folder comes once, under its own name if it has
    one here: links (`latest`) are followed last."""
    seen, found, roots = set[str](), list[Path](), [str(folder)]
    for root in roots:
        for at, folders, names in os.walk(root):
            real = os.path.realpath(at)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
            found += [Path(at, name) for name in names]
            roots += [link for name in folders if os.path.islink(link := os.path.join(at, name))]
    return sorted(found)


def _latest_states(paths: list[Path]) -> set[Path]:
    """The last `trainer_state.json` of each run, which has the whole history: there is one in every checkpoint."""
    best: dict[Path, tuple[int, Path]] = {}
    for path in paths:
        if path.name == "trainer_state.json":
            number = re.fullmatch(r"checkpoint-(\d+)", path.parent.name)
            run = path.parent.parent if number else path.parent
            rank = int(number[1]) if number else 2**62
            best[run] = max(best.get(run, (-1, path)), (rank, path))
    return {path for _, path in best.values()}


def _require_one_unit(logs: list[Log]) -> None:
    """Raise `InputError` where some logs count epochs and others steps: who has few of the larger ones looks faster."""
    epochs = [log for log in logs if "epoch" in log.counts.lower()]
    others = [log for log in logs if log.counts and "epoch" not in log.counts.lower()]
    if epochs and others:
        raise InputError(
            f"{epochs[0].path.name} counts {epochs[0].counts!r} and {others[0].path.name} {others[0].counts!r}: give "
            "all in one unit, or name a column that all have by step="
        )


def _unit(log: Log) -> str:
    """What a log's steps are, in words."""
    if "epoch" in log.counts.lower():
        return "epochs"
    return "steps" if log.counts in ("", *STEPS) else log.counts


def _placed(logs: list[Log], asked: ReadArguments) -> tuple[list[Run], list[str], list[str]]:
    """Runs with their arms and seeds, how those were found, and which settings the template of the path names."""
    for what, where in (("arm", asked.arm), ("seed", asked.seed), ("task", asked.task)):
        if isinstance(where, str) and "{" in where and f"{{{what}}}" not in where:
            raise InputError(f"{what} = {where!r}: a template that says where the {what} is has {{{what}}} in it")
    template = next((w for w in (asked.arm, asked.seed, asked.task) if isinstance(w, str) and "{" in w), None)
    by_config = _differing(logs, asked) if asked.arm is None and template is None else None
    named_so = all(_named(log.config, ARMS) is not None for log in logs)
    left = asked.arm is None and template is None and not named_so
    folders = folders_of(logs, bool(by_config)) if left else {}
    if folders and by_config:  # numbers that stay within each run are the weaker sign: `pooled` says so
        by_config = [key for key in by_config if not any(key in log.metrics for log in logs)]
    runs, how, many = [], "", Counter(log.path for log in logs)
    for log in logs:
        parts = _parts(log, template, many[log.path] > 1) if template else {}
        seed = place(asked.seed, log, parts, "seed")
        if seed is None and asked.seed is None:
            seed = _named(log.config, SEEDS)
        arm = place(asked.arm, log, parts, "arm")
        if arm is None and template is None and (said := _named(log.config, ARMS)) is not None:
            arm, how = said, "what is called so"
        elif arm is None and (by_config or folders):
            told = [f"{key} = {log.config.get(key, '–')}" for key in by_config or ()]
            arm = ", ".join([*([folders[log.path]] if folders else []), *told])
            how = " and ".join([*(["folder"] if folders else []), *(["configuration"] if by_config else [])])
        elif arm is None:
            arm, how = "all", "nothing: all runs are one arm (arm=...)"
        task = place(asked.task, log, parts, "task")
        task = None if task is None else str(task)
        config = {**log.config, **{name: part for name, part in parts.items() if name not in PLACES}}
        runs.append(Run(log.run, str(arm), log.metrics, _plain(seed), config, task, str(log.path), _unit(log)))
    way = "path" if template else "function" if callable(asked.arm) else repr(asked.arm) if asked.arm else how
    seeds = "path" if template and "{seed}" in template else "function" if callable(asked.seed) else asked.seed
    seeds = seeds or ("what is called so" if any(run.seed is not None for run in runs) else "nothing")
    settings = [name for name in re.findall(r"\{(\w+)\}", template or "") if name not in PLACES]
    return runs, [f"arms by {way}, seeds by {seeds}"], settings


def _parts(log: Log, template: str, many: bool) -> dict[str, str]:
    """The named parts of a log's path; where one file holds many runs, rather of the run's name."""
    name = next((str(log.config[key]) for key in RUNS if key in log.config), None)
    if many and name is not None:
        with suppress(InputError):  # a template that does not fit the name may be one of the path
            return parts_of(Path(name), template)
    return parts_of(log.path, template)


def _named(config: Mapping[str, Any], names: Iterable[str]) -> Any:
    """A setting by its name, also inside others (`config.seed`); None if there is none."""
    return next((value for name in names for key, value in config.items() if key.rpartition(".")[2] == name), None)


def _differing(logs: list[Log], asked: ReadArguments) -> list[str]:
    """Settings of the configuration that are not the same for all runs; seeds, tasks and names are none."""
    keys = list(dict.fromkeys(key for log in logs for key in log.config))
    names = {"run", "run_id", "run_name", "Name", "name", *SEEDS, asked.seed, asked.task}
    plain = [key for key in keys if key.rpartition(".")[2] not in names and not key.startswith(("mlflow.", "_"))]
    return [key for key in plain if len({str(log.config.get(key)) for log in logs}) > 1]


def _plain(seed: Any) -> str | int | None:
    text = None if seed is None else str(seed)
    return int(text) if text is not None and text.isascii() and text.isdigit() else text


def _together(notes: list[str]) -> list[str]:
    """Notes that say one thing of several files, said once."""
    groups: dict[str, list[str]] = {}
    for note in notes:
        file, _, said = note.partition(": ")
        groups.setdefault(said, []).append(file)
    found = []
    for said, files in groups.items():
        different = len(set(files))
        times = f" ({len(files)} runs)" if different == 1 and len(files) > 1 else ""
        found.append(f"{files[0] if different == 1 else f'{len(files)} files'}: {said}{times}")
    return found

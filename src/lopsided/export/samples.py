"""Samples of a task as a person reads them: text or numbers, answers, skills and their ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast, get_args

import jax
import jax.numpy as jnp
import numpy as np

from lopsided.core import registry
from lopsided.core.batch import Batch, target_weights
from lopsided.core.errors import InputError, unknown
from lopsided.core.keys import stream
from lopsided.core.skills import Skills
from lopsided.core.task import RankOrder, SampleContext, SkillLaw, Split, Task, WritesText, latent_of, n_skills
from lopsided.skills.ranks import skill_at_rank
from lopsided.study.overrides import value_of
from lopsided.study.targets import program
from lopsided.text.pieces import END

READABLE = "words"
"""How the text of samples is cut where the task would make one token of a whole phrase."""
STILL = ("uniform", "power-law:1.0", "binned-power-law:1.5:4")
"""Laws that stand still, as they are written."""
LEAST = 64
"""Samples that are drawn at least: some tasks leave some rows empty, as nothing there belongs to the split."""


@dataclass(frozen=True)
class SampleRange:
    """Which samples."""

    task: Task
    skills: Skills
    rank_order: RankOrder
    split: Split
    seed: int

    def draw(self, start: int, count: int) -> Batch:
        """Samples start, ..., start + count - 1 of the member's stream, as NumPy arrays."""
        index = (start + np.arange(count)).astype(np.uint32)
        return jax.tree.map(np.asarray, self._drawn(jnp.asarray(index)))

    @cached_property
    def order(self) -> np.ndarray | None:
        """The skill that holds each rank."""
        count = n_skills(self.task)
        return np.asarray(skill_at_rank(self.rank_order, count, self.seed)) if count else None

    @cached_property
    def rank_of(self) -> np.ndarray | None:
        """The rank of each skill, from 1."""
        return None if self.order is None else np.argsort(self.order) + 1

    @cached_property
    def _drawn(self) -> Any:
        task, key = self.task, stream(self.seed, self.split)
        latent = latent_of(task, stream(self.seed, "world"))
        law = None
        if self.order is not None:
            law = SkillLaw(self.skills.schedule(n_skills(task)).cumulative(0.0), jnp.asarray(self.order))
        context = SampleContext(latent, law, None, self.split)
        return jax.jit(jax.vmap(lambda i: task.sample(key, i, context)))

    def describe(self) -> dict[str, Any]:
        """What the samples are, for the file beside an export."""
        return {
            "task": self.task.model_dump(mode="json"),
            "skills": self.skills.model_dump(mode="json"),
            "rank_order": self.rank_order,
            "split": self.split,
            "seed": self.seed,
        }


def asked_for(
    task: str, overrides: Sequence[str], law: str | None, rank_order: str, split: str, seed: int
) -> SampleRange:
    """The request that these words make. `task` is a name, or a Python file that registers a task (see `task_named`).
    Raises `InputError` for any that is wrong."""
    task = task_named(task)
    data: dict[str, Any] = {"name": task}
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise InputError(f"--set {override!r}: valid is key=value, for example --set ops=2")
        data[key] = value_of(text)
    cls = registry.lookup("task", task)
    if "tokens" in cls.model_fields and "tokens" not in data:
        data["tokens"] = READABLE
    built = registry.build("task", data)
    for name, value, valid in (("rank-order", rank_order, get_args(RankOrder)), ("split", split, get_args(Split))):
        if value not in valid:
            raise unknown(name, value, valid)
    if not 0 <= seed < 2**63:
        raise InputError(f"--seed {seed}: from 0 to 2^63 - 1")
    count = n_skills(built)
    if law is not None and not count:
        raise InputError(f"--law {law!r}: task {task!r} has no skills to shape")
    shape = _law(law or "uniform", max(count, 1))
    return SampleRange(built, shape, cast(RankOrder, rank_order), cast(Split, split), seed)


def task_named(asked: str) -> str:
    """The name of the task that `asked` means: a name as it is, for `FILE.py` the one task that the file registers, for
    `FILE.py:NAME` that one of them. The file is executed."""
    if asked.endswith(".py"):
        file, name = asked, ""
    elif ".py:" in asked:
        file, _, name = asked.rpartition(":")
    else:
        return asked
    module = program(Path(file), "task file")
    own = sorted(n for n, cls in registry.registered("task").items() if cls.__module__ == module.__name__)
    if name and name not in own:
        raise unknown(f"task of {file}", name, own)
    if not name and len(own) != 1:
        several = f"registers {', '.join(own)}; name one, as {file}:{own[0]}" if own else ""
        raise InputError(f"task file {file!r}: {several or 'registers no task: @register above its class'}")
    return name or own[0]


def _law(text: str, count: int) -> Skills:
    """`power-law:1.0`, `binned-power-law:1.5:4`: a name, then the numbers of its fields in order."""
    name, *numbers = text.split(":")
    if name not in registry.registered("skills"):
        raise unknown("law", name, STILL)
    cls = registry.lookup("skills", name)
    fields = [field for field in cls.model_fields if field != "name"]
    if len(numbers) > len(fields):
        raise InputError(f"--law {text!r}: {name} takes {', '.join(fields) or 'no numbers'}")
    skills = registry.build("skills", {"name": name, **dict(zip(fields, map(value_of, numbers), strict=False))})
    if not skills.schedule(count).constant:
        raise InputError(
            f"--law {text!r}: moves during training; valid is one that stands still, such as power-law:1.0"
        )
    return skills


def records(asked: SampleRange, start: int, count: int) -> list[dict[str, Any]]:
    """`count` samples as dictionaries: `text` and `answer` (or `input` and `target`), `skills`, `ranks`. Raises
    `InputError` if the split is empty."""
    found: list[dict[str, Any]] = []
    rows = max(count, LEAST)
    while len(found) < count:
        more = _whole(asked, start, rows)
        if not more:
            raise InputError(f"task {asked.task.name!r}: all of {rows} rows of split {asked.split} are empty")
        found += more
        start += rows
    return found[:count]


def _whole(asked: SampleRange, start: int, count: int) -> list[dict[str, Any]]:
    batch = asked.draw(start, count)
    batch = batch._replace(weights=np.asarray(target_weights(batch)))
    if isinstance(asked.task, WritesText):
        segments = np.ones(batch.inputs.shape, int) if batch.segments is None else batch.segments
        answer = np.ones(batch.targets.shape, int) if batch.answer is None else batch.answer
        batch = batch._replace(segments=segments, answer=answer)
    found = []
    for i in range(count):
        one = jax.tree.map(lambda x, i=i: x[i], batch)
        if isinstance(asked.task, WritesText) and not np.any(one.weights):
            continue
        record = _as_text(asked.task, one) if isinstance(asked.task, WritesText) else _as_numbers(one)
        if asked.rank_of is not None:
            needed = one.skills[one.skills >= 0]
            record |= {"skills": needed.tolist(), "ranks": asked.rank_of[needed].tolist()}
        found.append(record)
    return found


def _as_text(task: WritesText, one: Batch) -> dict[str, Any]:
    """The text of a row, without padding, and of the answer that is asked for in it."""
    inputs, targets, weights = one.inputs, one.targets, one.weights
    row = np.append(inputs, 0)
    read = len(inputs) - len(targets)
    row[read + 1 :][weights > 0] = targets[weights > 0]  # the last token of a row is only a target
    real = np.append(one.segments > 0, False)
    real[read + 1 :] |= weights > 0
    answer = targets[(one.answer > 0) & (weights > 0)]
    return {"text": task.decode(row[real]).replace(END, "\n").strip(), "answer": _bare(task, answer)}


def _bare(task: WritesText, tokens: np.ndarray) -> str:
    return task.decode(tokens).replace(END, "").strip() if len(tokens) else ""


def _as_numbers(one: Batch) -> dict[str, Any]:
    rounded = lambda x: np.round(np.asarray(x, np.float64), 4).tolist() if x.dtype.kind == "f" else x.tolist()
    return {"input": rounded(one.inputs), "target": rounded(one.targets)}

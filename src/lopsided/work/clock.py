"""Where a job's time goes, part by part: written into each part's provenance, shown by `lopsided status --times`."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from lopsided.core.engine import Engine, Evaluated


class Taken(NamedTuple):
    """What a part took, and what was done in it."""

    seconds: dict[str, float]
    """By kind: compilation (with everything before the first step), steps, evaluations, waiting for commits, and the
    rest (leases, looks at the folder, progress)."""
    member_steps: int
    """Steps of single members."""
    evaluations: int
    """Evaluations of single members."""


class Clock:
    """Counts since the job began or its last part."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._compile = self._commits = self._computed = self._evaluating = 0.0
        self._step = self._steps_alone = self._evaluations = 0

    def compiled(self, engine: Engine) -> None:
        """The engine is ready to step."""
        self._compile = time.perf_counter() - self._last
        self._computed, self._evaluating, self._step = engine.seconds, engine.evaluating, engine.step

    def evaluated(self, engine: Engine, found: Evaluated) -> None:
        """The engine has yielded an evaluation. Members that come and go take their steps between two of them."""
        members = len(found.diverged) if found.who is None else len(np.unique(found.who))  # with rows that only end one
        self._evaluations += members
        if found.who is not None:
            self._steps_alone += members * engine.spec.evaluation.every

    def committed(self, began: float) -> None:
        """Training waited for a commit since `began`."""
        self._commits += time.perf_counter() - began

    def taken(self, engine: Engine) -> Taken:
        """Since the last time."""
        now = time.perf_counter()
        computed, evaluations = engine.seconds - self._computed, engine.evaluating - self._evaluating
        known = {
            "compile": self._compile,
            "steps": computed - evaluations,
            "evaluations": evaluations,
            "commits": self._commits,
        }
        rest = max(0.0, now - self._last - sum(known.values()))
        self._last, self._compile, self._commits = now, 0.0, 0.0
        self._computed, self._evaluating = engine.seconds, engine.evaluating
        steps = self._steps_alone or (engine.step - self._step) * len(engine.members)
        evaluations, self._step, self._steps_alone, self._evaluations = self._evaluations, engine.step, 0, 0
        seconds = {kind: round(spent, 4) for kind, spent in {**known, "rest": rest}.items()}
        return Taken(seconds, steps, evaluations)

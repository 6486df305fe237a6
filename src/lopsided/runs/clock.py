"""Where a job's time goes, part by part: written into each part's provenance, shown by `lopsided status --times`."""

from __future__ import annotations

import time

from lopsided.core.engine import Engine


class Clock:
    """Seconds since the job began or its last part: compilation (with everything before the first step), steps,
    evaluations, waiting for commits, and the rest (leases, looks at the folder, progress)."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._compile = self._commits = self._computed = self._evaluated = 0.0

    def compiled(self, engine: Engine) -> None:
        """The engine is ready to step."""
        self._compile = time.perf_counter() - self._last
        self._computed, self._evaluated = engine.seconds, engine.evaluating

    def committed(self, began: float) -> None:
        """Training waited for a commit since `began`."""
        self._commits += time.perf_counter() - began

    def taken(self, engine: Engine) -> dict[str, float]:
        """Seconds by kind since the last time."""
        now = time.perf_counter()
        computed, evaluations = engine.seconds - self._computed, engine.evaluating - self._evaluated
        known = {
            "compile": self._compile,
            "steps": computed - evaluations,
            "evaluations": evaluations,
            "commits": self._commits,
        }
        rest = max(0.0, now - self._last - sum(known.values()))
        self._last, self._compile, self._commits = now, 0.0, 0.0
        self._computed, self._evaluated = engine.seconds, engine.evaluating
        return {kind: round(seconds, 4) for kind, seconds in {**known, "rest": rest}.items()}

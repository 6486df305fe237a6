"""Which shape of the data is best, for any training function."""

from __future__ import annotations

import hashlib
import json
import time
import traceback as tracebacks
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.core.errors import InputError, StoreError, require_numbers
from lopsided.core.json_text import parsed
from lopsided.core.live_code import ADDRESS
from lopsided.report.advice import keeps, words
from lopsided.stats.race import SCREENING, Advice, RacePlan, planned, race

# A lock of the operating system: the leases of `lopsided.store` are part of the laboratory, and a race of somebody's
# own training works without it.
try:
    import fcntl
except ImportError:  # Windows has no such locks: two races into one file are then not told apart
    fcntl = None  # type: ignore[assignment]

FAILED = -float("inf")
"""The score of a run that diverged or raised an error."""


class Advised:
    """A finished race. Printed, it is a recommendation in plain words."""

    def __init__(self, advice: Advice, plan: RacePlan, scores: Mapping[str, Mapping[int, float]]):
        self.advice, self.plan = advice, plan
        self.scores = scores
        """By shape and seed."""

    @property
    def outcome(self) -> str:
        """ "use", "keep" or "undecided"."""
        return self.advice.outcome

    @property
    def shape(self) -> str:
        """Name of the shape to train with: the winner if it is recommended, otherwise a baseline that the winner does
        not certainly beat."""
        return self.advice.use

    def __str__(self) -> str:
        return "\n".join([*words(self.advice, self.plan.looks[-1]), f"It took {self.advice.runs} runs."])

    __repr__ = __str__


def advise(
    train: Callable[[Any, int], float],
    shapes: Mapping[str, Any],
    baselines: Sequence[str] | str = "uniform",
    *,
    budget: float | None = None,
    out: str | Path | None = None,
    told: Callable[[str], None] | None = print,
    traceback: bool = False,
) -> Advised:
    """Race `shapes`, and test the best one against the baselines on fresh seeds.

    `train(shape, seed)` trains to the end, in any framework, and returns a score of which more is better (for a cost,
    return minus the cost). A run whose score is not finite (it diverged), or that raises an error, counts as the worst;
    a second error before any run has given a score is raised. Runs of one seed should have as much in common as they
    can: the test compares within seeds.
    `shapes`: whatever `train` takes, by name, the baselines among them. `budget`: seconds that all runs together may
    take; it decides how many fresh seeds there are. `out`: a file of scores, one JSON object a line, from which a
    stopped race goes on, with the looks that it was planned with, whatever the budget is then; scores of another
    program (or what it imports), or of other shapes of these names, are refused, and so is a second process that races
    into it. `told`: hears each step; with `traceback` also the whole of an error that counts as the worst.

    Raises `InputError` if a baseline is no shape, if what `train` returns is no number, or if the budget is too small
    for a test.

    >>> import lopsided as lop
    >>> score = {"uniform": 0.0, "power law": 3.0}
    >>> def train(shape, seed):
    ...     return score[shape] + (seed * 37 % 11) / 11  # in place of a training
    >>> print(lop.advise(train, {"uniform": "uniform", "power law": "power law"}, told=None))
    Use power law.
      against uniform: better, 3 [3, 3] within-seed difference of score (16 members)
    It took 24 runs.
    """
    if budget is not None:
        require_numbers(budget=budget)
    require_names(shapes)
    base = (baselines,) if isinstance(baselines, str) else tuple(baselines or ())
    if len(shapes) < 2 or not base or any(name not in shapes for name in base):
        raise InputError(f"advise: baselines {', '.join(map(str, base))!r} have to be among two or more shapes")
    say = told or (lambda line: None)
    file = None if out is None else Path(out)
    if file is not None and not file.parent.is_dir():
        raise InputError(f"advise: out = {str(file)!r}: no folder {str(file.parent)!r}")
    with _alone(file):
        known = _Scores(train, shapes, file, say, traceback)
        known.measure(tuple(shapes), range(SCREENING[0]))
        if not known.any_score:
            raise InputError(
                f"advise: none of the first {len(shapes) * SCREENING[0]} runs gave a score that is a number"
            )
        each = known.seconds / (len(shapes) * SCREENING[0])
        plan = known.planned(base, each, budget)
        say(f"{len(shapes)} shapes, {plan.runs[0]} to {plan.runs[1]} runs, about {each:.2g} s each")
        return Advised(race(plan, known.measure, say), plan, known.scores)


def require_names(shapes: object) -> None:
    """Raise `InputError` unless shapes are given by name, and each name is a text: answers and files of scores have
    it."""
    if not isinstance(shapes, Mapping):
        raise InputError(f"advise: shapes is a {type(shapes).__name__}; valid are shapes by name, {{'uniform': ...}}")
    if strange := [name for name in shapes if not isinstance(name, str)]:
        raise InputError(f"advise: the name {strange[0]!r} of a shape is no text; write {str(strange[0])!r}")


@contextmanager
def _alone(file: Path | None) -> Iterator[None]:
    """Hold a file of scores: two processes would each train what the other has, and answer by different scores. Raises
    `InputError` if another one holds it."""
    if file is None or fcntl is None:
        yield
        return
    with file.open("a") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"advise: another process is racing into {str(file)!r}; it will have the answer") from None
        except OSError:  # nor have some file systems on a network
            pass
        yield


def _program(train: Callable[[Any, int], float], shapes: Mapping[str, Any]) -> str:
    """A digest of what is trained, and on what shapes: scores of others are not taken for these."""
    try:
        from lopsided.core.code import function_digest
    except ImportError:  # without the laboratory
        return ""
    said = {name: ADDRESS.sub("", repr(shape)) for name, shape in shapes.items()}
    return hashlib.sha256(repr((function_digest(train), said)).encode()).hexdigest()[:16]


class _Scores:
    """Scores of runs, remembered."""

    def __init__(
        self,
        train: Callable[[Any, int], float],
        shapes: Mapping[str, Any],
        file: Path | None,
        told: Callable[[str], None],
        traceback: bool,
    ):
        self.train, self.shapes, self.file, self.told, self.traceback = train, shapes, file, told, traceback
        self.scores: dict[str, dict[int, float]] = {name: {} for name in shapes}
        self.seconds = 0.0
        self._unsure: tuple[str, int, float] | None = None
        """Shape, seed and seconds of a run that raised an error before any gave a score: not written until one does, so
        that a program that is mended tries it again."""
        self.looks: tuple[int, ...] = ()
        """Planned before any fresh seed was seen; () if nothing is."""
        self.program = _program(train, shapes)
        if file is not None and file.is_file() and file.stat().st_size:
            self._read(file)
        else:
            self._write({"program": self.program})

    @property
    def any_score(self) -> bool:
        """Whether any run was good for a score."""
        return any(np.isfinite(score) for of in self.scores.values() for score in of.values())

    def measure(self, names: Sequence[str], seeds: Sequence[int]) -> dict[str, np.ndarray]:
        """Train what is not known yet."""
        for seed in seeds:
            for name in names:
                if seed not in self.scores[name]:
                    self._run(name, seed)
        return {name: np.array([self.scores[name][seed] for seed in seeds]) for name in names}

    def planned(self, baselines: tuple[str, ...], each: float, budget: float | None) -> RacePlan:
        """The plan that the file holds, or a new one, written before its test starts: whoever may choose the number of
        looks after a look has more than one chance."""
        if self.looks:
            if budget is not None:
                self.told(keeps(self.looks))
            return RacePlan(tuple(self.shapes), baselines, looks=self.looks)
        plan = planned(tuple(self.shapes), baselines, each, budget)
        self.looks = plan.looks
        self._write({"looks": list(plan.looks)})
        return plan

    def _write(self, row: Mapping[str, Any]) -> None:
        if self.file is not None:
            with self.file.open("a") as lines:
                lines.write(json.dumps(row) + "\n")

    def _run(self, name: str, seed: int) -> None:
        began, raised = time.perf_counter(), False
        try:
            score = self._score(name, seed)
        except Exception as error:
            if isinstance(error, InputError) or (self._unsure and not self.any_score):
                raise  # nothing shows that the program works at all
            then = "it counts as the worst" if self.any_score else "the next run shows whether the program works"
            self.told(f"shape {name!r}, seed {seed}: {type(error).__name__}: {error}; {then}")
            if self.traceback:
                self.told(tracebacks.format_exc())
            score, raised = FAILED, True
        took = time.perf_counter() - began
        self._keep(name, seed, score, took)
        if raised and not self.any_score:
            self._unsure = name, seed, took
            return
        if self._unsure and self.any_score:
            self._write_score(*self._unsure, FAILED)
            self._unsure = None
        self._write_score(name, seed, took, score)

    def _write_score(self, name: str, seed: int, took: float, score: float) -> None:
        self._write({"shape": name, "seed": seed, "score": score if np.isfinite(score) else None, "seconds": took})

    def _score(self, name: str, seed: int) -> float:
        """What a training returns; FAILED if that is not finite."""
        try:
            returned = self.train(self.shapes[name], seed)
        except SystemExit as error:  # it would end the race without an answer, and perhaps as a success
            raise InputError(f"advise: shape {name!r}, seed {seed}: train called exit({error.code})") from None
        try:
            score = float(returned)
        except (TypeError, ValueError):
            if not self.any_score:  # the program returns none at all
                raise InputError(
                    f"advise: shape {name!r}, seed {seed}: score {returned!r} is no number to compare"
                ) from None
            self.told(f"shape {name!r}, seed {seed}: score {returned!r} is no number; it counts as the worst")
            return FAILED
        if np.isfinite(score):
            return score
        self.told(f"shape {name!r}, seed {seed}: score {score}; it counts as the worst")
        return FAILED

    def _keep(self, name: str, seed: int, score: float, took: float) -> None:
        self.scores[name][seed] = score
        if seed < SCREENING[0]:
            self.seconds += took

    def _read(self, file: Path) -> None:
        text, made_by = file.read_text(), self.program
        lines = text.splitlines(keepends=True)
        if text and not text.endswith("\n"):  # the process died between a line and its end: the next score begins anew
            with file.open("a") as opened:
                opened.write("\n")
        for number, line in enumerate(lines):
            try:
                row = parsed(line)
                if "program" in row:
                    made_by = str(row["program"])
                    continue
                if "looks" in row:
                    self.looks = tuple(map(int, row["looks"]))
                    continue
                if row["shape"] in self.scores:
                    score = FAILED if row["score"] is None else float(row["score"])
                    self._keep(row["shape"], int(row["seed"]), score, float(row["seconds"]))
            except (ValueError, KeyError, TypeError):
                if number == len(lines) - 1:  # the process died while it wrote
                    file.write_text("".join(lines[:-1]))
                    break
                raise StoreError(f"{file}: line {number + 1} is no score") from None
        if made_by != self.program:
            raise InputError(
                f"advise: {str(file)!r} has scores of another program, or of other shapes of these names; give another "
                "file (out=)"
            )

"""Planned looks at one's own runs: the plan is written down before results, and each look spends its share of 5 %."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from lopsided.api.comparing import Comparison
from lopsided.api.curves import WHOLE, Ragged, direction_of
from lopsided.api.ends import uneven
from lopsided.api.runs import Runs
from lopsided.api.verdict import Verdict
from lopsided.core.errors import InputError
from lopsided.core.json_text import parsed
from lopsided.core.telling import counted
from lopsided.stats import sequential
from lopsided.stats.crossing import crossings
from lopsided.stats.verdict import DECIDED, NOT_RUN, Claim, Look

FORMAT = 1
"""Format of plan files; another one is refused, since its looks may mean something else."""
PLANNED = ("format", "baseline", "candidate", "metric", "at", "axis", "looks", "paired", "written")
"""Fields of the plan file that its digest covers."""


class Looks:
    """A plan to look at two arms when so many runs of each are there: `.judge(runs)`.

    >>> import lopsided as lop, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plan.json"
    >>> plan = lop.looks(file, baseline="adamw", candidate="muon", metric="val_loss", at=3.28, runs=(8, 16))
    >>> len(plan.digest)
    12
    """

    def __init__(self, path: Path, plan: dict[str, Any]):
        self.path, self.plan = path, plan

    @property
    def digest(self) -> str:
        """The plan's name: 12 hexadecimal digits, of everything that was planned and of when."""
        return _digest(self.plan)

    def judge(self, runs: Runs) -> Verdict:
        """The verdict of the look that so many runs allow, at its own level; the first runs of each arm count, by seed.
        A look is taken once: asked again, it says what it said. Raises `InputError` where runs of a look that was taken
        have changed since."""
        p = self.plan
        sides = [runs.observed(p[arm], p["metric"], p["axis"]) for arm in ("baseline", "candidate")]
        there, looks = min(len(side.tracks) for side in sides), p["looks"]
        taken = p["taken"]
        decided = next((look for look in taken if look["verdict"] in DECIDED), None)
        number = len([runs for runs in looks if runs <= there])
        self._unchanged(sides, taken)
        if decided is not None:
            return Verdict(Claim.of_json(decided["claim"]), (self._said(decided["look"]), *self._older(runs)))
        if number == 0:
            said = f"{p['candidate']} against {p['baseline']}, {p['metric']}"
            wait = f"the first look is at {looks[0]} runs of each arm; now {there}"
            return Verdict(Claim.of(said, NOT_RUN), (wait, f"plan {self.digest}"))
        before = next((look for look in taken if look["look"] == number), None)
        if before is not None:
            claim, notes = Claim.of_json(before["claim"]), before.get("notes", ())
        else:
            claim, notes = self._tested(sides, number)
            self._take(number, claim, notes, sides)
        left = looks[number:] if claim.verdict not in DECIDED else []
        wait = f"next look at {left[0]} runs of each arm" if left else ""
        gaps = _gaps(_first(sides[0], looks[number - 1])) or _gaps(_first(sides[1], looks[number - 1]))
        return Verdict(claim, tuple(filter(None, (self._said(number), wait, gaps, *notes, *self._older(runs)))))

    def _tested(self, sides: Sequence[Ragged], number: int) -> tuple[Claim, tuple[str, ...]]:
        p, looks = self.plan, tuple(self.plan["looks"])
        level = sequential.level(number - 1, looks)
        first = [_first(side, looks[number - 1]) for side in sides]
        compared = Comparison(first[0], first[1], p["metric"], None, p["paired"], small=False, level=level)
        found = compared.better() if p["at"] is None else compared.faster(p["at"])
        said = "; ".join(_unfinished(first, p["metric"], p["at"]))
        if said:  # the look is not taken: it would be spent on runs that are still going on
            raise InputError(f"{self.path}: look {number} takes whole runs; {said}")
        return replace(found.claim, look=Look(number, len(looks), looks[number - 1], level)), found.notes

    def _take(self, number: int, claim: Claim, notes: Sequence[str], sides: Sequence[Ragged]) -> None:
        """Write down that the look was taken, before anybody sees it."""
        entry = {
            "look": number,
            "when": _now(),
            "verdict": claim.verdict,
            "runs": _fingerprint(sides, self.plan["looks"][number - 1]),
            "claim": claim.as_json(),
            "notes": list(notes),
            **self._read_as(sides),
        }
        self.plan = {**self.plan, "taken": [*self.plan["taken"], entry]}
        _write(self.path, self.plan)

    def _read_as(self, sides: Sequence[Ragged]) -> dict[str, Any]:
        """What else a verdict rests on: every look of a plan has to be of the same."""
        return {"falling": direction_of(self.plan["metric"], sides, None).falling, "ends": sides[0].ends}

    def _unchanged(self, sides: Sequence[Ragged], taken: Sequence[dict[str, Any]]) -> None:
        now = self._read_as(sides)
        for look in taken:
            if other := [
                f"{name} {look[name]!r}, not {now[name]!r}" for name in now if look.get(name, now[name]) != now[name]
            ]:
                raise InputError(
                    f"{self.path}: look {look['look']} was taken with {', '.join(other)}; a plan keeps both"
                )
            runs = self.plan["looks"][look["look"] - 1]
            if min(len(side.tracks) for side in sides) < runs or _fingerprint(sides, runs) != look["runs"]:
                raise InputError(
                    f"{self.path}: look {look['look']} was taken of {runs} runs of each arm, which are other ones now; "
                    "valid are the same logs with runs added, or a plan of their own in another file"
                )

    def _said(self, number: int) -> str:
        return f"look {number} of {len(self.plan['looks'])}; plan {self.digest}, written {self.plan['written']}"

    def _older(self, runs: Runs) -> tuple[str, ...]:
        """Logs that are older than the plan: then it was not written before results."""
        written = datetime.fromisoformat(self.plan["written"]).timestamp()
        mine = [run for run in runs.all if run.arm in (self.plan["baseline"], self.plan["candidate"])]
        old = [run for run in mine if run.source and _changed(run.source) < written]
        return (f"{len(old)} of {len(mine)} logs are older than the plan",) if old else ()

    def __repr__(self) -> str:
        p = self.plan
        goal = "last values" if p["at"] is None else f"{p['axis']} to {p['at']:g}"
        looks = ", ".join(map(str, p["looks"]))
        head = f"{p['candidate']} against {p['baseline']} by {p['metric']} ({goal}), looks at {looks} runs of each arm"
        return f"{head}; plan {self.digest}, {len(p['taken'])} taken"


def looks(
    path: str | Path,
    *,
    baseline: str,
    candidate: str,
    metric: str,
    at: float | None = None,
    axis: str = "steps",
    runs: Sequence[int] | None = None,
    paired: bool | None = None,
) -> Looks:
    """Plan when to look at one's own runs, and write the plan to a file before there are results.

    `path`: the plan's file; if it is there, the same plan goes on, and another one is refused. `baseline`, `candidate`:
    names of arms. `at`: a goal of the metric, or None for last values. `runs`: of each arm at each look, rising; left
    out, those of the file, or 8, 16, 32 and 64. Over all looks, a wrong verdict has the chance of one test at 5 %
    (`lopsided.stats.sequential`). Raises `InputError` for looks that cannot be planned.

    >>> import lopsided as lop, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "plan.json"
    >>> lop.looks(file, baseline="adamw", candidate="muon", metric="val_loss", at=3.28, runs=(8, 16)).plan["looks"]
    [8, 16]
    """
    path = Path(path)
    found = _read(path) if path.exists() else None
    usual = sequential.LOOKS if found is None else found["looks"]
    counts = tuple(usual if runs is None else runs)
    sequential.valid_looks(counts)
    last, level = counts[-1], sequential.level(len(counts) - 1, counts)
    smallest = 2 / comb(2 * last, last) if paired is False else 0.5 ** (last - 1)
    if smallest > level:
        raise InputError(
            f"looks: {last} {'runs of each arm' if paired is False else 'pairs'} reject nothing at the last look, at "
            f"its level of {level:.3g}; plan more runs"
        )
    asked = {
        "format": FORMAT,
        "baseline": baseline,
        "candidate": candidate,
        "metric": metric,
        "at": None if at is None else float(at),
        "axis": axis,
        "looks": list(map(int, counts)),
        "paired": paired,
    }
    if found is not None:
        other = [name for name, value in asked.items() if found.get(name) != value]
        if other:
            pairs = ", ".join(f"{name} {found.get(name)!r}, not {asked[name]!r}" for name in other)
            raise InputError(f"{path}: holds another plan ({pairs}); a new plan takes a file of its own")
        return Looks(path, found)
    plan = {**asked, "written": _now(), "taken": []}
    plan["digest"] = _digest(plan)
    _write(path, plan)
    return Looks(path, plan)


def _unfinished(sides: Sequence[Ragged], metric: str, at: float | None) -> list[str]:
    """Which runs may yet change what a look finds: last values of runs of different length; of a goal, runs that have
    not reached it and end before the longest one."""
    if at is None:
        return list(uneven(sides))
    falling = direction_of(metric, sides, None).falling
    longest = max(float(track.axis[-1]) for side in sides for track in side.tracks)
    said = []
    for side in sides:
        waits = crossings(side.tracks, at, falling).censored
        short = [t for t, w in zip(side.tracks, waits, strict=True)
                 if w and not t.diverged and t.axis[-1] < WHOLE * longest]  # fmt: skip
        if short:
            said.append(
                f"{counted(len(short), 'run')} of {side.name} end before {longest:,g} {side.unit}, not there yet"
            )
    return said


def _gaps(side: Ragged) -> str:
    """Which seeds between the first and the last are not there: whoever chooses among runs that he has seen can make
    any verdict."""
    if side.seeds is None or not all(isinstance(seed, int) for seed in side.seeds):
        return ""
    missing = sorted(set(range(min(side.seeds), max(side.seeds) + 1)) - set(side.seeds))
    if not missing:
        return ""
    which = ", ".join(map(str, missing[:6])) + (", …" if len(missing) > 6 else "")
    return (
        f"{side.name} has no seeds {which}: a look is of the first runs by seed, and says nothing if some were left out"
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        plan = parsed(path.read_text(encoding="utf-8"))
        whole = isinstance(plan, dict) and {*PLANNED, "taken", "digest"} <= set(plan)
    except (OSError, ValueError):
        whole = False
    if not whole:
        raise InputError(f"{path}: is no plan of looks")
    if plan["digest"] != _digest(plan):
        raise InputError(f"{path}: the plan was changed after it was written (its digest was {plan['digest']})")
    return plan


def _digest(plan: dict[str, Any]) -> str:
    text = json.dumps({name: plan.get(name) for name in PLANNED}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _write(path: Path, plan: dict[str, Any]) -> None:
    """Write the file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")
    beside.replace(path)


def _first(side: Ragged, runs: int) -> Ragged:
    """An arm's first runs, by seed where each has one, else in the order in which they were read."""
    order = range(len(side.tracks))
    if side.seeds is not None:
        known = side.seeds
        order = sorted(order, key=lambda i: (0, known[i]) if isinstance(known[i], int) else (1, i))
    chosen = list(order)[:runs]
    seeds = None if side.seeds is None else tuple(side.seeds[i] for i in chosen)
    return side._replace(tracks=tuple(side.tracks[i] for i in chosen), seeds=seeds)


def _fingerprint(sides: Sequence[Ragged], runs: int) -> str:
    """A digest of the evaluations of the first runs of both arms."""
    found = hashlib.sha256()
    for side in sides:
        for track in _first(side, runs).tracks:
            found.update(np.ascontiguousarray(track.axis).tobytes() + np.ascontiguousarray(track.value).tobytes())
    return found.hexdigest()[:16]


def _changed(source: str) -> float:
    try:
        return os.stat(source).st_mtime
    except OSError:
        return float("inf")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

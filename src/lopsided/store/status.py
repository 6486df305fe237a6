"""What a folder is doing: done, running, stale, failed, with the time left as its processes see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lopsided.store.leases import Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId

TIMES = ("compile", "steps", "evaluations", "commits", "rest")
"""What the seconds of a part went into, as `lopsided.work.clock` measures them."""


def times(store: Store, runs: Mapping[str, Sequence[MemberId]]) -> list[dict[str, Any]]:
    """Seconds by kind that the parts of each run took, as they say themselves (parts written before 2026-11-22 do not);
    a part of several runs counts in each. `rate`: floating-point operations a second of steps and evaluations, over the
    parts whose operations were counted; None if there is none."""
    parts, found = store.parts(), []
    for label, members in runs.items():
        asked: dict[str, set[int]] = {}
        for spec, seed in members:
            asked.setdefault(spec, set()).add(seed)
        made = [
            each
            for part in parts
            if any(spec in asked and not asked[spec].isdisjoint(seeds) for spec, seeds in part.seeds.items())
            for each in store.provenance(part, set(asked))
        ]
        found.append({"run": label, **time_of(made)})
    return found


def time_of(made: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums over parts that have this provenance: seconds by kind; `rate`, floating-point operations a second; `place`,
    the kind of machine that computed them, None if there were several."""
    sums, operations, computing, places = dict.fromkeys(TIMES, 0.0), 0.0, 0.0, set[str]()
    for each in made:
        seconds = each.get("seconds", {})
        for kind in TIMES:
            sums[kind] += seconds.get(kind, 0.0)
        if each.get("operations"):
            operations += each["operations"]
            computing += seconds["steps"] + seconds["evaluations"]
            places.add(place_of(each["machine"], each["device"]))
    rate = operations / computing if computing else None
    return {**sums, "rate": rate, "place": places.pop() if len(places) == 1 else None}


def place_of(machine: str, device: str) -> str:
    """What decides how fast a part can compute, however many devices it had: `Linux x86_64, AMD EPYC, cpu`."""
    return f"{machine}, {device.rpartition(' x ')[2]}"


def folder_status(store: Store, runs: Mapping[str, Sequence[MemberId]]) -> dict[str, Any]:
    """Counts of members per run (`runs`: label -> wanted members), leases, failures and damaged parts."""
    survey = store.survey()
    complete = survey.complete
    leases = Leases(store.root)
    live, stale = [], []
    for lease in leases.all():
        if not lease.members:  # of a compaction
            continue
        entry = {
            "job": lease.job,
            "members": len(lease.members),
            "step": lease.step,
            "steps": lease.steps,
            "seconds_left": lease.seconds_left,
            "pid": lease.owner.pid,
            "host": lease.host,
            "specs": sorted({spec for spec, _ in lease.members}),
        }
        (live if lease.alive else stale).append((entry, set(lease.members)))
    failures = leases.failures()
    half = survey.half_done
    rows = []
    for label, members in runs.items():
        wanted = set(members)
        done = {m for m in wanted if m in complete}
        running = {m for _, held in live for m in held} & wanted - done
        dead = {m for _, held in stale for m in held} & wanted - done - running
        failed = {member for failure in failures for member in failure.members} & wanted - done - running - dead
        left = [e["seconds_left"] for e, held in live if held & wanted and e["seconds_left"] is not None]
        rows.append(
            {
                "run": label,
                "members": len(wanted),
                "done": len(done),
                "running": len(running),
                "stale": len(dead),
                "failed": len(failed),
                "waiting": len(wanted) - len(done) - len(running) - len(dead) - len(failed),
                "begun": len((wanted & set(half)) - done),
                "step": min((half[m] for m in (wanted & set(half)) - done), default=None),
                "furthest": max((half[m] for m in (wanted & set(half)) - done), default=None),
                "seconds_left": max(left) if left else None,
            }
        )
    return {
        "runs": rows,
        "running": [e for e, _ in live],
        "stale": [e for e, _ in stale],
        "workers": [
            {
                "worker": w.job,
                "pid": w.owner.pid,
                "host": w.host,
                "idle": (w.owner.pid, w.host) not in {(e["pid"], e["host"]) for e, _ in live},
            }
            for w in Leases(store.root / "workers").all()
            if w.alive
        ],
        "failed": [{"job": f.job, "members": len(f.members), "message": f.message} for f in failures],
        "damaged": [{"part": str(d.folder), "reason": d.reason} for d in survey.damaged],
        "unreadable": [{"part": str(d.folder), "reason": d.reason} for d in survey.unreadable],
        "foreign": survey.foreign,
    }

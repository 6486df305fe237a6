"""What a folder is doing: done, running, stale, failed, with the time left as its processes see it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lopsided.core.json_text import parsed
from lopsided.store.leases import FailureRecord, Leases
from lopsided.store.parts import Store
from lopsided.store.survey import MemberId, Survey

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


Held = list[tuple[dict[str, Any], set[MemberId]]]
"""Leases as `status` says them, each with its members."""


def folder_status(store: Store, runs: Mapping[str, Sequence[MemberId]]) -> dict[str, Any]:
    """Counts of members per run (`runs`: label -> wanted members), leases, failures and damaged parts."""
    survey, leases = store.survey(), Leases(store.root)
    live, stale = _held(leases)
    failures = [each for each in leases.failures() if not _came_further(each, survey)]
    failed = {member for failure in failures for member in failure.members}
    specs = {spec: parsed(store.index.specs[spec]) for spec in {spec for spec, _ in survey.half_done}}
    return {
        "runs": [_row(label, set(members), survey, live, stale, failed, specs) for label, members in runs.items()],
        "running": [lease for lease, _ in live],
        "stale": [lease for lease, _ in stale],
        "workers": _workers(store, live),
        "failed": [_failure(failure, live) for failure in failures],
        "damaged": [{"part": str(d.folder), "reason": d.reason} for d in survey.damaged],
        "unreadable": [{"part": str(d.folder), "reason": d.reason} for d in survey.unreadable],
        "foreign": survey.foreign,
    }


def _held(leases: Leases) -> tuple[Held, Held]:
    """The leases of processes that live, and of those that are gone; compactions left out."""
    live: Held = []
    stale: Held = []
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
    return live, stale


def _row(
    label: str,
    wanted: set[MemberId],
    survey: Survey,
    live: Held,
    stale: Held,
    failures: set[MemberId],
    specs: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """One run: each of its members counts once. `specs`: those of which members are half done.

    Where members leave (`until`), others take their places: a job's steps are none of a member's then, and some of its
    members have not begun. No step is said of such a run.
    """
    done = {m for m in wanted if m in survey.complete}
    running = {m for _, held in live for m in held} & wanted - done
    dead = {m for _, held in stale for m in held} & wanted - done - running
    failed = failures & wanted - done - running - dead
    left = [e["seconds_left"] for e, held in live if held & wanted and e["seconds_left"] is not None]
    half = (wanted & set(survey.half_done)) - done
    begun = [] if any(specs[spec].get("until") for spec, _ in half) else [survey.half_done[member] for member in half]
    return {
        "run": label,
        "members": len(wanted),
        "done": len(done),
        "running": len(running),
        "stale": len(dead),
        "failed": len(failed),
        "waiting": len(wanted) - len(done) - len(running) - len(dead) - len(failed),
        "begun": len(half),
        "step": min(begun, default=None),
        "furthest": max(begun, default=None),
        "of": max((specs[spec]["steps"] for spec, _ in half), default=None),
        "seconds_left": max(left) if left else None,
    }


def _came_further(failure: FailureRecord, survey: Survey) -> bool:
    """Whether a later attempt has committed more than the one that failed: its count starts anew (`record_failure`)."""
    left = [member for member in failure.members if member not in survey.complete]
    return all(survey.half_done.get(member, 0) > failure.step for member in left)


def _failure(failure: FailureRecord, live: Held) -> dict[str, Any]:
    """A job whose last attempt failed; `again`: whether somebody trains it at this moment."""
    members = set(failure.members)
    return {
        "job": failure.job,
        "members": len(members),
        "message": failure.message,
        "attempts": failure.attempts,
        "again": any(members & held for _, held in live),
    }


def _workers(store: Store, live: Held) -> list[dict[str, Any]]:
    """Workers that are alive; one that holds nothing is idle."""
    busy = {(lease["pid"], lease["host"]) for lease, _ in live}
    workers = [each for each in Leases(store.root / "workers").all() if each.alive]
    return [
        {"worker": w.job, "pid": w.owner.pid, "host": w.host, "idle": (w.owner.pid, w.host) not in busy}
        for w in workers
    ]

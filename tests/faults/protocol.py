"""Every interleaving of a few processes that share one job, on the real store, leases and worker.

A process is cut into the moments between which another may act: look for work, find where to go on, check the lease,
commit, release. Faults happen between any two of them. A state is the folder's files and where each process stands;
`explore` visits every state that can be reached.
"""

from __future__ import annotations

import itertools
import os
import shutil
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lopsided.core.execution import DEFAULT
from lopsided.store import index, leases, parts
from lopsided.store.leases import Holder, Lease, LeaseLost, Owner
from lopsided.store.parts import Store
from lopsided.work import commits, worker
from lopsided.work.clock import Taken
from lopsided.work.jobs import cut, wanted_members

STEPS = 2
"""Stretches of the job; a process commits after each."""
CODE = "code"


@dataclass(frozen=True)
class Process:
    """Where one process stands."""

    name: str
    phase: str = "new"
    lease: Lease | None = field(default=None, compare=False)
    """Decided by `phase` and `leased`."""
    step: int = 0
    parent: str = ""
    stopped: bool = False
    leased: int = 0
    """Leases that it has taken; numbers their tokens."""


@dataclass(frozen=True)
class State:
    """The folder and its processes. `old`: leases that were not rewritten for a minute."""

    files: tuple[tuple[str, bytes], ...]
    old: frozenset[str]
    processes: tuple[Process, ...]
    faults: int
    completed: bool = False
    harmed: bool = False


class World:
    """A folder on disk into which states are put, one after the other."""

    def __init__(self, root: Path, spec: Any, patch: Any, one_host: bool):
        self.root, self.one_host = root, one_host
        self.members = wanted_members([spec], 1)
        self.jobs = cut(self.members)
        self.now: Process = Process("")
        self.alive: set[str] = set()
        patch.setattr(leases, "owner", self._owner)
        patch.setattr(leases, "_host", lambda: self._owner().host)
        patch.setattr(leases, "_start_of", lambda pid: str(pid) if str(pid) in self.alive else None)
        patch.setattr(leases.uuid, "uuid4", lambda: SimpleNamespace(hex=f"{self.now.name}x{self.now.leased}" + "0" * 8))
        patch.setattr(parts, "sync", lambda path: None)
        patch.setattr(parts, "sync_tree", lambda path: None)
        patch.setattr(parts, "write_rows", lambda file, rows: file.write_text("rows"))
        patch.setattr(commits, "provenance", lambda *_: {"finished": "", "device": "", "software": {}})
        patch.setattr(worker, "code_digests", lambda specs: {s.content_hash(): CODE for s in specs})
        patch.setattr(commits.checkpoints, "save", lambda folder, state: _write(folder / "state", b"state"))
        patch.setattr(parts.Index, "_save", lambda self: None)
        patch.setattr(index, "not_of_their_members", lambda files: {})
        patch.setattr(leases.Leases, "_age", lambda self, file: 3600.0 if _age_of(file) else 0.0)

    def _owner(self, folder: Any = None) -> Owner:
        pid = int(self.now.name)
        return Owner(host="one" if self.one_host else f"host{pid}", pid=pid, started=str(pid))

    def put(self, state: State) -> Store:
        """The state's files on disk; a store that has read nothing yet."""
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "parts").mkdir(parents=True)
        for name, data in state.files:
            _write(self.root / name, data)
        for name in state.old:
            os.utime(self.root / "leases" / name, (0, 0))
        self.alive = {p.name for p in state.processes if p.phase != "dead"}
        return Store(self.root)

    def take(self, state: State, process: Process, **changes: Any) -> State:
        """The state after an action of `process`, from what lies on disk."""
        files, old = {}, set()
        for file in sorted(self.root.rglob("*")):
            if file.is_file() and not file.name.startswith("."):
                files[str(file.relative_to(self.root))] = file.read_bytes()
                if file.parent.name == "leases" and _age_of(file):
                    old.add(file.name)
        processes = tuple(process if p.name == process.name else p for p in state.processes)
        found = replace(state, files=tuple(files.items()), old=frozenset(old), processes=processes, **changes)
        return replace(found, completed=bool(Store(self.root).complete()))

    def act(self, state: State, process: Process) -> State:
        """The next moment of a process's life."""
        store, self.now = self.put(state), process
        work = worker._Work(store, self.members, DEFAULT)
        return self.take(state, getattr(self, f"_{process.phase}")(work, store, process))

    def _new(self, work: Any, store: Store, process: Process) -> Process:
        store.require_writable()
        work._clean()
        return replace(process, phase="looking")

    def _looking(self, work: Any, store: Store, process: Process) -> Process:
        _, lease, missing = work._lease(self.jobs)
        if lease:
            return replace(process, phase="leased", lease=lease, leased=process.leased + 1)
        return process if missing else replace(process, phase="done")

    def _leased(self, work: Any, store: Store, process: Process) -> Process:
        assert process.lease
        found = store.resume_point(process.lease.job, {spec: CODE for spec, _ in process.lease.members})
        if found.finished:
            return replace(process, phase="ending")
        step, parent = (found.part.step, found.part.folder) if found.part else (0, "")
        return replace(process, phase="training", step=step, parent=parent)

    def _training(self, work: Any, store: Store, process: Process) -> Process:
        try:
            Holder(work.leases, process.lease).require(lambda: store.finished(process.lease.job))
        except LeaseLost:
            return replace(process, phase="looking", lease=None, step=0, parent="")
        return replace(process, phase="checked")

    def _checked(self, work: Any, store: Store, process: Process) -> Process:
        """The commit; whatever happened since the check, it goes on."""
        step = process.step + 1
        engine = SimpleNamespace(step=step, seconds=0.0, device_kind="", spec=None, saved=lambda: None)
        holder = SimpleNamespace(lease=process.lease, require=lambda finished: None)
        codes = {member.spec.content_hash(): CODE for member in self.members}
        with commits.Commits(store, self.members, DEFAULT, holder, codes) as writing:
            parent = writing.commit(engine, process.step, process.parent, [], step == STEPS, Taken({}, 0, 0))
            writing.wait()
        return replace(process, phase="ending" if step == STEPS else "training", step=step, parent=parent)

    def _ending(self, work: Any, store: Store, process: Process) -> Process:
        assert process.lease
        if work.leases.holds(process.lease):
            work.leases.release(process.lease.job)
        return replace(process, phase="looking", lease=None, step=0, parent="")

    def minute(self, state: State, everyone: bool) -> State:
        """A minute passes: leases of processes that are stopped or dead grow old; `everyone`: all do, as where the
        clock of the file server jumps."""
        self.put(state)
        silent = {p.name for p in state.processes if p.stopped or p.phase == "dead" or everyone}
        held = {f"{p.lease.job}.json" for p in state.processes if p.lease and p.name not in silent}
        names = {Path(name).name for name, _ in state.files if name.startswith("leases/")}
        return replace(state, old=state.old | frozenset(names - held))

    def beat(self, state: State, process: Process) -> State:
        """A running process rewrites its lease, if it still is its own."""
        store, self.now = self.put(state), process
        found = leases.Leases(store.root)
        if process.lease and found.holds(process.lease):
            found.write(process.lease)
        return self.take(state, process)

    def harms(self, state: State) -> list[State]:
        """Bytes of one part are overwritten."""
        names = [name for name, _ in state.files if name.startswith("parts/") and name.endswith("rows.parquet")]
        return [
            replace(state, files=tuple((n, b"harm" if n == name else data) for n, data in state.files), harmed=True)
            for name in names
        ]


def steps(world: World, state: State) -> list[tuple[str, State]]:
    """What may happen next without any fault."""
    found = []
    for p in state.processes:
        if p.phase not in ("done", "dead") and not p.stopped:
            found.append((f"{p.name} {p.phase}", world.act(state, p)))
        if p.lease and not p.stopped and f"{p.lease.job}.json" in state.old:
            found.append((f"{p.name} beats", world.beat(state, p)))
        if p.stopped:
            going = tuple(replace(q, stopped=False) if q is p else q for q in state.processes)
            found.append((f"{p.name} continues", replace(state, processes=going)))
    found.append(("a minute", world.minute(state, everyone=False)))
    return [(name, after) for name, after in found if after != state]


def faults(world: World, state: State) -> list[tuple[str, State]]:
    """What may go wrong next."""
    found = []
    for p in state.processes:
        if p.phase in ("new", "done", "dead"):
            continue
        others = {"killed": replace(p, phase="dead", lease=None), "stopped": replace(p, stopped=True)}
        for what, after in others.items():
            processes = tuple(after if q is p else q for q in state.processes)
            found.append((f"{p.name} {what}", replace(state, processes=processes)))
    found.append(("the clock jumps", world.minute(state, everyone=True)))
    if not state.harmed:
        found += [("damage", after) for after in world.harms(state)]
    return [(name, replace(after, faults=state.faults + 1)) for name, after in found if after != state]


def explore(world: World, start: State, most_faults: int, seconds: float) -> dict[State, list[State]]:
    """Every state that can be reached with so many faults, with what follows it without another one. Raises
    `AssertionError` with the way there if rows that were complete are no longer, though nothing was damaged."""
    graph: dict[State, list[State]] = {}
    came: dict[State, tuple[State, str] | None] = {start: None}
    ahead, until = [start], time.monotonic() + seconds
    while ahead:
        state = ahead.pop()
        assert time.monotonic() < until, f"{len(graph)} states, and no end"
        forward = steps(world, state)
        graph[state] = [after for _, after in forward]
        wrong = faults(world, state) if state.faults < most_faults else []
        for name, after in itertools.chain(forward, wrong):
            if state.completed and not after.completed and not after.harmed:
                raise AssertionError([*way(came, state), name])
            if after not in came:
                came[after] = state, name
                ahead.append(after)
    return graph


def way(came: dict[State, tuple[State, str] | None], state: State) -> list[str]:
    """What happened from the start to a state."""
    names: list[str] = []
    before = came[state]
    while before is not None:
        names.insert(0, before[1])
        before = came[before[0]]
    return names


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def _age_of(file: Path) -> bool:
    return file.stat().st_mtime < 1000

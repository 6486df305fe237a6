"""The one place that joins the parts: specs -> ensembles -> rows -> store."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NamedTuple

import numpy as np

from lopsided.core.provenance import provenance
from lopsided.core.spec import Spec
from lopsided.engines import checkpoints, devices
from lopsided.engines.ensemble import Ensemble, Stretch, members_per_job
from lopsided.engines.idealised import Idealised
from lopsided.engines.members import Member, group_key
from lopsided.engines.pool import Pool
from lopsided.member_rows import member_id, rows_of
from lopsided.store.claims import Claims, Holder
from lopsided.store.parts import Damage, Part, Store, job_name
from lopsided.store.rows import no_rows

COMMIT_SECONDS = 60.0
"""Wall time between commits of an unfinished job."""
SLICE_SECONDS = 1.0
"""How long a stop request or a due commit waits at most for a stretch of training (one step, if that takes longer)."""
WAIT_SECONDS = 0.5
"""Pause between looks at work that other processes hold."""


class Progress(NamedTuple):
    """What a caller may show after every evaluation."""

    step: int
    steps: int
    members: Sequence[Member]
    stretch: Stretch | None
    """None when a job starts (it is being compiled), or while others hold all that is left (no members then)."""
    seconds: float
    """Wall time since this run began."""
    done: float
    """Share of the wanted samples that were seen, by this process or before it, in [0, 1]."""
    left: float | None
    """Estimated seconds left, from this process's own pace."""


class Done(NamedTuple):
    """What a run did."""

    trained: int
    already: int
    """Members found complete, or completed by other processes meanwhile."""
    seconds: float
    diverged: int


class Stopped(Exception):
    """A requested stop: everything computed is committed."""


def run(
    specs: Sequence[Spec],
    seeds: int | Sequence[int],
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    commit_seconds: float = COMMIT_SECONDS,
    stop: threading.Event | None = None,
) -> Done:
    """Train every (spec, seed) that the store does not hold yet; returns when all of them are complete.

    Members whose specs differ only in dials and skill distributions train as one ensemble, split only where memory or
    sharing asks for it. Several processes may run the same on one folder: each claims the jobs that it trains and takes
    over those of a process that died. An interrupted job goes on from its last commit. Setting `stop` commits and
    raises `Stopped`.
    """
    wanted = [Member(spec, s) for spec in specs for s in (range(seeds) if isinstance(seeds, int) else seeds)]
    wanted = list({member_id(m): m for m in wanted}.values())
    store.require_writable()
    work = _Work(store, wanted, progress, commit_seconds, stop or threading.Event())
    if not work.missing():
        return Done(0, len(wanted), 0.0, 0)
    devices.setup(len(work.missing()))
    return work.finish()


def _samples(members: Sequence[Member], steps: int | None = None) -> int:
    """Samples that members see, or steps where a plan draws none (theory: nothing): what the time left is judged by."""
    trained = [m.spec for m in members if m.spec.plan.engine != "idealised"]
    by_spec = Counter(map(id, trained))
    specs = {id(spec): spec for spec in trained}
    counts = {
        i: spec.plan.seen(at) or at for i, spec in specs.items() for at in [spec.steps if steps is None else steps]
    }
    return sum(n * counts[i] for i, n in by_spec.items())


def _pieces(members: Sequence[Member]) -> list[list[Member]]:
    """Members grouped by compiled program and cut into jobs; the same in every process with the same devices."""
    groups: dict[str, list[Member]] = {}
    for member in members:
        groups.setdefault(group_key(member.spec), []).append(member)
    pieces = []
    for group in groups.values():
        predicted = group[0].spec.plan.engine == "idealised"
        cuts = 1 if predicted else -(-len(group) // members_per_job(group[0].spec))
        size = -(-len(group) // cuts)
        pieces += [group[i : i + size] for i in range(0, len(group), size)]
    return pieces


Engine = Ensemble | Pool | Idealised


def _engine(members: Sequence[Member]) -> Engine:
    """The engine that the members' spec asks for; theory is found by the task's name."""
    if members[0].spec.plan.engine != "idealised":
        return Ensemble(members) if members[0].spec.until is None else Pool(members)
    name = members[0].spec.task.name  # type: ignore[attr-defined]
    theory = import_module(f"lopsided.theory.{name.replace('-', '_')}")
    return Idealised(members, theory.idealised)


class _Work:
    """One `run` call: what is wanted, and what this process has done of it."""

    def __init__(
        self,
        store: Store,
        wanted: Sequence[Member],
        progress: Callable[[Progress], None] | None,
        commit_seconds: float,
        stop: threading.Event,
    ):
        self.store, self.wanted, self.progress = store, wanted, progress
        self.commit_seconds, self.stop = commit_seconds, stop
        self.began = time.perf_counter()
        self.claims = Claims(store.root)
        self.own_samples = 0
        self.backlog = 0
        """Samples missing outside the job in hand."""

    def missing(self) -> list[Member]:
        """Wanted members that no sound part completes."""
        complete = self.store.complete()
        return [m for m in self.wanted if member_id(m) not in complete]

    def finish(self) -> Done:
        """Claim and train job after job until nothing is missing."""
        trained = diverged = 0
        pieces = _pieces(self.wanted)
        self._clean()
        while True:
            job, missing = self._claim(pieces)
            if job:
                diverged += self._train(job)
                trained += len(job)
            elif not missing:
                seconds = time.perf_counter() - self.began
                return Done(trained, len(self.wanted) - trained, seconds, diverged)
            else:
                self._show((), 0, 0, None)
                if self.stop.wait(WAIT_SECONDS):
                    raise Stopped

    def _clean(self) -> None:
        """Set damaged parts aside and remove what killed processes left, unless somebody is working right now."""
        with self.claims.lock():
            if not any(c.alive for c in self.claims.all()):
                self.store.sweep()
                self._set_aside(self.store.survey()[1])

    def _set_aside(self, damages: Sequence[Damage]) -> None:
        for damage in damages:
            print(f"lopsided: {damage.folder}: {damage.reason}; set aside, computed anew", file=sys.stderr)
        self.store.set_aside(damages)

    def _claim(self, pieces: Sequence[Sequence[Member]]) -> tuple[list[Member], int]:
        """The next job that nobody else works on (claimed now), and how many members are missing altogether."""
        with self.claims.lock():
            missing = {member_id(m) for m in self.missing()}
            taken = {member for c in self.claims.all() if c.alive for member in c.members}
            for piece in pieces:
                if job := [m for m in piece if member_id(m) in missing and member_id(m) not in taken]:
                    ids = [member_id(m) for m in job]
                    self.claims.take(job_name(ids), ids, job[0].spec.steps)
                    self.backlog = _samples([m for m in self.wanted if member_id(m) in missing]) - _samples(job)
                    return job, len(missing)
            self.backlog = _samples([m for m in self.wanted if member_id(m) in missing])
            return [], len(missing)

    def _train(self, members: Sequence[Member]) -> int:
        """Train a claimed job to its end, committing on the way. Returns the number of diverged members."""
        ids = [member_id(m) for m in members]
        name = job_name(ids)
        with self.claims.hold(name, ids, members[0].spec.steps) as holder:
            try:
                diverged = self._train_held(name, members, holder)
            except (Stopped, KeyboardInterrupt):
                raise
            except Exception as error:
                with suppress(OSError):  # the folder may be what failed
                    self.claims.record_failure(name, ids, f"{type(error).__name__}: {error}")
                raise
            self.claims.forget_failure(name)
            return diverged

    def _train_held(self, name: str, members: Sequence[Member], holder: Holder) -> int:
        self._show(members, 0, 0, None)
        ensemble = _engine(members)
        resumed, damages = self.store.resume_point(name)
        self._set_aside(damages)
        committed = 0
        if resumed is not None:
            state = checkpoints.restore(self.store.path(resumed) / "state", ensemble.state)
            ensemble.restore(resumed.step, resumed.seconds, state)
            committed = resumed.step
        first = ensemble.position
        ensemble.compile()
        pending: list[dict[str, np.ndarray]] = []
        last_commit = time.perf_counter()
        diverged = 0
        for stretch in ensemble.run(SLICE_SECONDS):
            if stretch is not None:
                pending.append(rows_of(members, stretch))
                gone = int((stretch.diverged >= 0).sum())
                diverged = gone if stretch.who is None else diverged + gone
            final = ensemble.finished
            due = time.perf_counter() - last_commit > self.commit_seconds
            stopping = self.stop.is_set()  # looked at once: a signal between commit and raise must not lose steps
            if final or due or stopping:
                self._commit(name, members, ensemble, committed, pending, final)
                pending, last_commit, committed = [], time.perf_counter(), ensemble.step
            left = self._show(members, ensemble.position, first, stretch)
            holder.report(ensemble.position, left)
            if stopping and not final:
                raise Stopped
        self.own_samples += _samples(members, ensemble.spec.steps - first)
        if self.stop.is_set():
            raise Stopped
        return diverged

    def _commit(
        self,
        name: str,
        members: Sequence[Member],
        ensemble: Engine,
        start: int,
        pending: Sequence[Mapping[str, np.ndarray]],
        final: bool,
    ) -> None:
        """Rows since the last commit and the state to go on from, in one part."""
        if ensemble.step == start:
            return
        specs = {member_id(m)[0]: m.spec for m in members}
        rows = {key: np.concatenate([p[key] for p in pending]) for key in pending[0]} if pending else no_rows()
        ids = tuple(map(member_id, members))
        made_by = provenance(ensemble.device_kind)
        settings = {digest: spec.model_dump(mode="json") for digest, spec in specs.items()}
        part = Part(name, start, ensemble.step, final, ensemble.seconds, ids, settings, made_by)
        self.store.commit(part, rows, None if final else lambda folder: checkpoints.save(folder, ensemble.state))
        self.store.drop_states(name, keep=0 if final else 2)

    def _show(self, members: Sequence[Member], step: int, first: int, stretch: Stretch | None) -> float | None:
        """Tell the caller how far `members` are, having begun at `first`; returns the estimated seconds left."""
        own = self.own_samples + _samples(members, step - first)
        rest = self.backlog + _samples(members) - _samples(members, step)
        seconds = time.perf_counter() - self.began
        left = rest * seconds / own if own else None
        if self.progress is not None and (stretch is not None or step == first):
            steps = members[0].spec.steps if members else 0
            done = 1 - rest / max(_samples(self.wanted), 1)
            self.progress(Progress(step, steps, members, stretch, seconds, done, left))
        return left

"""The one place that joins the parts: specs -> jobs -> engines -> rows -> store."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from lopsided.core.code import code_digests, look_again
from lopsided.core.engine import Engine, Evaluated, Member
from lopsided.core.errors import Stopped
from lopsided.core.execution import DEFAULT, Execution
from lopsided.core.progress import Progress
from lopsided.core.spec import Spec
from lopsided.core.telling import tell
from lopsided.engines import checkpoints, devices
from lopsided.engines.choosing import engine_for, require_engines
from lopsided.store.index import Summary
from lopsided.store.leases import MOST_FAILURES, Holder, Lease, LeaseLost, Leases
from lopsided.store.parts import Store, job_name
from lopsided.store.survey import MemberId
from lopsided.work.clock import Clock
from lopsided.work.commits import Commits
from lopsided.work.done import Done, Request
from lopsided.work.jobs import cut, effort, wanted_members
from lopsided.work.rows import member_id, rows_of
from lopsided.work.time_left import TimeLeft

SLICE_SECONDS = 1.0
"""How long a stop request or a due commit waits at most for a stretch of training (one step, if that takes longer)."""
WAIT_SECONDS = 0.5  # between looks at work that other processes hold


def run(
    specs: Sequence[Spec],
    seeds: int | Sequence[int],
    store: Store,
    progress: Callable[[Progress], None] | None = None,
    execution: Execution = DEFAULT,
    stop: threading.Event | None = None,
    job_size: int | None = None,
    keep_going: bool = False,
) -> Done:
    """Train every (spec, seed) that the store does not hold yet; returns when all of them are complete.

    Members whose specs differ only in traced fields and skill distributions train as one ensemble, cut into jobs of at
    most `job_size` members (see `work.jobs`). Several processes may run the same on one folder: each takes leases on
    the jobs that it trains, and takes over those of a process that died. An interrupted job goes on from its last
    commit. Setting `stop` commits and raises `Stopped`. With `keep_going` a job that fails is tried again, here or
    elsewhere, and left alone after MOST_FAILURES attempts (`lopsided.store.leases`); the rest is trained all the same.
    """
    request = Request(specs, seeds, store, progress, execution, stop or threading.Event(), job_size)
    return train(request, keep_going)


def train(request: Request, keep_going: bool = False) -> Done:
    """Carry out a request in this process; see `run`."""
    r = request
    wanted = wanted_members(r.specs, r.seeds)
    return _Work(r.store, wanted, r.execution, r.progress, r.stop, r.job_size, keep_going).done()


def run_members(wanted: Sequence[Member], store: Store, execution: Execution) -> Done:
    """`run` for members whose specs need not all have the same seeds."""
    return _Work(store, wanted, execution).done()


@dataclass
class _Work:
    """One `run` call: what is wanted, and what this process has done of it."""

    store: Store
    wanted: Sequence[Member]
    execution: Execution
    progress: Callable[[Progress], None] | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    job_size: int | None = None
    keep_going: bool = False

    def __post_init__(self) -> None:
        look_again()
        self.leases = Leases(self.store.root)
        self.failed_in_a_row = 0
        self.time = TimeLeft(self.wanted)

    def done(self) -> Done:
        """Train what is missing: lease and train job after job until nothing is."""
        self.store.require_writable()
        self.store.require_readable()
        missing = self.missing()
        if not missing:
            return Done(0, len(self.wanted), 0.0, 0)
        devices.setup(len(missing), self.execution.batch_devices)
        require_engines({id(m.spec): m.spec for m in missing}.values(), self.execution)
        trained = diverged = 0
        jobs = cut(self.wanted, self.job_size)
        self._clean()
        while True:
            job, lease, left = self._lease(jobs)
            if lease:
                found = self._train(job, lease)
                if found is not None:
                    diverged += found
                    trained += len(job)
            elif not left:
                seconds = time.perf_counter() - self.time.began
                return Done(trained, len(self.wanted) - trained, seconds, diverged)
            else:
                self._show((), 0, 0, None)
                if self.stop.wait(WAIT_SECONDS):
                    raise Stopped

    def missing(self, only_new: bool = False) -> list[Member]:
        """Wanted members that no sound part completes. `only_new`: see `Store.survey_new`."""
        complete = (self.store.survey_new() if only_new else self.store.survey()).complete
        return [m for m in self.wanted if member_id(m) not in complete]

    def _clean(self) -> None:
        """Remove what killed processes left, unless somebody is working right now, and set damaged parts aside: nobody
        reads or overwrites those, whoever works."""
        with self.leases.lock():
            if not any(lease.alive for lease in self.leases.all()):
                self.store.sweep()
        damages = self.store.survey().damaged
        for damage in damages:
            tell(f"{damage.folder}: {damage.reason}; set aside, computed anew")
        self.store.set_aside(damages)

    def _lease(self, jobs: Sequence[Sequence[Member]]) -> tuple[list[Member], Lease | None, int]:
        """The next job that nobody else works on, its lease, and how many members are missing altogether.

        The folder is looked through before the lock, which is then held for a look at its names alone: 10,000 parts on
        a slow disk take seconds, and with those under the lock half of 20 processes gave up waiting for it.
        """
        self.missing()
        with self.leases.lock():
            missing = {member_id(m) for m in self.missing(only_new=True)} - self._given_up()
            leases = self.leases.all()
            for lease in leases:
                if not lease.alive and not missing & set(lease.members):
                    self.leases.release(lease.job)  # its process died between its last commit and its release
            taken = {member: lease for lease in leases if lease.alive for member in lease.members}
            undone = [members for job in jobs if (members := [m for m in job if member_id(m) in missing])]
            backlog = self._backlog(undone, taken)
            others = len({taken[name].owner.model_dump_json() for name in missing if name in taken})
            for whole in self._unlucky_last(jobs):
                if job := [m for m in whole if member_id(m) in missing and member_id(m) not in taken]:
                    ids = [member_id(m) for m in job]
                    if self._died(job_name(ids), leases):
                        continue
                    self.time.look(backlog - effort(job), len(undone) - 1, others + 1)
                    return job, self.leases.take(job_name(ids), ids, job[0].spec.steps), len(missing)
            self.time.look(backlog, len(undone), max(others, 1))
            return [], None, len(missing)

    def _backlog(self, undone: Sequence[Sequence[Member]], taken: Mapping[MemberId, Lease]) -> float:
        """Effort of the members that are not complete; of one that another process trains, of the steps to come."""
        backlog = 0.0
        for job in undone:
            lease = next((taken[member_id(m)] for m in job if member_id(m) in taken), None)
            backlog += effort(job) - (effort(job, lease.step) if lease else 0.0)
        return backlog

    def _given_up(self) -> set[MemberId]:
        return set(self.leases.given_up()) if self.keep_going else set()

    def _unlucky_last(self, jobs: Sequence[Sequence[Member]]) -> Sequence[Sequence[Member]]:
        """Jobs that failed come after the others: one that kills its worker must not stop the rest."""
        if not self.keep_going:
            return jobs
        failed = {member for failure in self.leases.failures() for member in failure.members}
        return sorted(jobs, key=lambda job: member_id(job[0]) in failed) if failed else jobs

    def _died(self, job: str, leases: Sequence[Lease]) -> bool:
        """Count the death of the process that worked on a job; whether that was once too often."""
        dead = next((lease for lease in leases if lease.job == job and not lease.alive), None)
        if dead is None or not self.keep_going:
            return False
        who = f"its process died (pid {dead.owner.pid}, {dead.host})"
        self.leases.release(job)
        return self.leases.record_failure(job, dead.members, who, dead.step) >= MOST_FAILURES

    def _train(self, members: Sequence[Member], lease: Lease) -> int | None:
        """Train a leased job to its end, committing on the way. Returns the number of diverged members, or None if
        another process took the job over."""
        with self.leases.hold(lease) as holder:
            try:
                diverged = self._train_held(members, holder)
            except LeaseLost:
                tell(f"job {lease.job}: another process works on it or finished it; left to that one")
                return None
            except (Stopped, KeyboardInterrupt):
                raise
            except Exception as error:
                with suppress(OSError):  # the folder may be what failed
                    message = f"{type(error).__name__}: {error}"
                    self.leases.record_failure(lease.job, lease.members, message, holder.lease.step)
                self.failed_in_a_row += 1
                if not self.keep_going or self.failed_in_a_row == MOST_FAILURES:  # it may be this machine's fault
                    raise
                traceback.print_exc()
                return None
            self.failed_in_a_row = 0
            self.leases.forget_failure(lease.job)
            return diverged

    def _train_held(self, members: Sequence[Member], holder: Holder) -> int:
        clock, job = Clock(), holder.lease.job
        engine = engine_for(members[0].spec, self.execution)(members, self.execution)
        codes = code_digests({id(member.spec): member.spec for member in members}.values())
        found = self.store.resume_point(job, codes)
        if found.finished:
            raise LeaseLost(job)
        for reason in found.passed:
            tell(reason)
        committed, parent = 0, ""
        if found.part is not None:
            committed, parent = self._restore(engine, found.part)
        first = engine.position
        holder.begin(first)
        self._show(members, first, first, None)
        began = time.perf_counter()
        engine.compile()
        clock.compiled(engine)
        self.time.begin(engine, time.perf_counter() - began)
        with Commits(self.store, members, self.execution, holder, codes) as commits:
            diverged = self._to_the_end(members, engine, commits, clock, committed, parent)
        self.time.end(effort(members, engine.spec.steps) - effort(members, first))
        if self.stop.is_set():
            raise Stopped
        return diverged

    def _to_the_end(
        self, members: Sequence[Member], engine: Engine, commits: Commits, clock: Clock, committed: int, parent: str
    ) -> int:
        """Train, commit and report; returns how many members diverged."""
        first, diverged = engine.position, 0
        pending: list[dict[str, np.ndarray]] = []
        last_commit = time.perf_counter()
        for evaluated in engine.run(SLICE_SECONDS):
            if evaluated is not None:
                pending.append(rows_of(members, evaluated))
                clock.evaluated(engine, evaluated)
                gone = int((evaluated.diverged >= 0).sum())
                diverged = gone if evaluated.who is None else diverged + gone
            final = engine.finished
            due = time.perf_counter() - last_commit > self.execution.commit_seconds
            stopping = self.stop.is_set()  # looked at once: a signal between commit and raise must not lose steps
            if (final or due or stopping) and engine.step > committed:
                taken, began = clock.taken(engine), time.perf_counter()
                parent = commits.commit(engine, committed, parent, pending, final, taken)
                clock.committed(began)
                pending, last_commit, committed = [], time.perf_counter(), engine.step
            left = self._show(members, engine.position, first, evaluated)
            commits.holder.report(engine.position, left)
            if stopping and not final:
                commits.wait()
                raise Stopped
        return diverged

    def _restore(self, engine: Engine, part: Summary) -> tuple[int, str]:
        """Put the engine where a part ended; its step and its name."""
        folder = self.store.path(part) / "state"
        try:
            state = checkpoints.restore(folder, engine.state)
        except Exception:
            if folder.is_dir():
                raise
            raise LeaseLost(part.job) from None  # the process that we took for dead has gone on, and dropped it
        engine.restore(part.step, part.seconds, state)
        return part.step, part.folder

    def _show(self, members: Sequence[Member], step: int, first: int, evaluated: Evaluated | None) -> float | None:
        """Tell the caller how far `members` are, having begun at `first`; returns the estimated seconds left."""
        left = self.time.after(members, step, first)
        if self.progress is not None and (evaluated is not None or step == first):
            steps = members[0].spec.steps if members else 0
            seconds = time.perf_counter() - self.time.began
            self.progress(Progress(step, steps, members, evaluated, seconds, left.done, left.seconds))
        return left.seconds
